"""/reviews/preview/<delivery>: what one row is about, beside the list and as a page. Nothing is judged here."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from claims.selectors import inbox
from reviews.desk import criteria
from reviews.inbox import acting, marks
from reviews.inbox.rows import row_of
from reviews.shell.draw import draw, is_fragment
from reviews.shell.requests import person_of
from reviews.shell.rights import pools_of_request, signed_in


@signed_in
@require_safe
def preview(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Needs, criteria with what the agent says and what was judged so far, and the ways on."""
    one = acting.opened(request, str(delivery))
    found = inbox.row(marks.seat_of(person_of(request).pk, pools_of_request(request)), delivery)
    if found is None:
        raise Http404(acting.GONE)
    rows = [
        {
            "number": number,
            "text": str(each.get("text", "")),
            "claim": str((one.delivery.claims or {}).get(str(number), "")),
            "given": criteria.SAID.get(one.typed.given(number).word, ""),
            "code": criteria.CODES.get(one.typed.given(number).word, ""),
        }
        for number, each in enumerate(one.acceptance, 1)
    ]
    context: dict[str, Any] = {
        "one": one,
        "level": 2 if is_fragment(request) else 1,
        "row": row_of(found, one.person.pk),
        "delivery": one.delivery,
        "task": one.delivery.task,
        "rows": rows,
        "standing": one.standing,
        "is_judged": all(row["given"] for row in rows),
        "is_met": all(row["given"] == "met" for row in rows),
    }
    return draw(request, "inbox_preview.html", context, partial="pane", pool=one.pool)
