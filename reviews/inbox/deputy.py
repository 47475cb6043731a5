"""/account/deputy: who decides in one's place while one is away, pool by pool."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from claims import deputies as naming
from claims.models import Pool
from claims.selectors import deputies
from claims.vocabulary import Right
from reviews.inbox.rows import day_words, name_of
from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import pool_named, pools_of_request, signed_in

NO_DAY = "Write each day as a date, like 2026-12-04."


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def deputy(request: HttpRequest) -> HttpResponse:
    """The page, and its forms: name a deputy in a pool, or have none any more."""
    if request.method != "POST":
        return _page(request)
    person = person_of(request)
    seen = pool_named(request, request.POST.get("pool", ""), Right.REVIEWER)
    if request.POST.get("do") == "end":
        if naming.end(person.pk, seen.id):
            messages.success(request, f"You have no deputy in {seen.name} any more.")
        return HttpResponseRedirect(reverse("deputy"))
    typed = {name: request.POST.get(name, "")[:20] for name in ("deputy", "from", "until")}
    first, last = _day(typed["from"]), _day(typed["until"])
    number = int(typed["deputy"]) if typed["deputy"].isascii() and typed["deputy"].isdigit() else 0
    if first is None or last is None:
        return _page(request, seen.name, typed, NO_DAY)
    flaw = naming.name(person.pk, Pool.objects.get(pk=seen.id), number, first, last)
    if flaw:
        return _page(request, seen.name, typed, flaw)
    messages.success(
        request,
        f"Named. What waits for you in {seen.name} stands under Must decide for them too,"
        f" from {day_words(first)} to {day_words(last)}.",
    )
    return HttpResponseRedirect(reverse("deputy"))


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _page(
    request: HttpRequest, pool: str = "", typed: Mapping[str, str] | None = None, error: str = ""
) -> HttpResponse:
    person = person_of(request)
    pools = [one for one in pools_of_request(request) if one.allows(Right.REVIEWER)]
    others = deputies.reviewers([one.id for one in pools], [person.pk]) if pools else {}
    named = {row.pool_id: row for row in deputies.named_by(person.pk)}
    rows: list[dict[str, Any]] = [
        {
            "pool": one,
            "named": named.get(one.id),
            "choices": [(each.pk, name_of(each)) for each in others[one.id]],
            "typed": typed if one.name == pool else {},
            "error": error if one.name == pool else "",
        }
        for one in pools
    ]
    context = {"rows": rows, "mine": deputies.named_for(person.pk), "today": timezone.now().date()}
    return draw(request, "inbox_deputy.html", context, status=422 if error else 200)
