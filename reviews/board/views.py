"""/board: where every task of the person's pools stands. One selector and one template for page and fragment."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from claims.selectors import board
from claims.vocabulary import Right
from reviews.board.cards import card_of
from reviews.board.filters import Wanted, canonical, wanted
from reviews.shell import counts
from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import signed_in
from reviews.shell.words import SIGNS

CARDS_A_COLUMN = 25
ROWS_A_PAGE = 50
SHORT = {
    "OPEN": "Open",
    "CLAIMED": "Claimed",
    "DELIVERED": "Delivered",
    "CHANGES": "Changes",
    "DONE": "Done",
    "BLOCKED": "Blocked",
}


@signed_in
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The board in columns, or as a table with ``view=table``."""
    better = canonical(request.GET)
    if better is not None:
        return HttpResponseRedirect(request.path + better)
    if request.GET.get("view") == "table":
        return table(request)
    return columns(request)


@signed_in
@require_safe
def columns(request: HttpRequest) -> HttpResponse:
    """Six columns; asked for as a fragment it answers the columns alone."""
    seen = wanted(request)
    had = board.labels_had(seen.filter.pool_ids)
    now, viewer = timezone.now(), person_of(request).pk
    drawn = [
        {
            "name": column.name,
            "slug": column.name.lower(),
            "short": SHORT[column.name],
            "sign": SIGNS[column.name],
            "count": column.count,
            "more": column.more,
            "cards": [card_of(task, now, viewer, had) for task in column.cards],
        }
        for column in board.columns(seen.filter, CARDS_A_COLUMN)
    ]
    context = {
        **_frame(request, seen),
        "columns": drawn,
        "current": _current(request, drawn),
        "view": "columns",
    }
    return draw(request, "board.html", context, partial="columns", pool=seen.pool)


@signed_in
@require_safe
def table(request: HttpRequest) -> HttpResponse:
    """One page of the table, by keyset: ``before`` is a task id."""
    seen = wanted(request)
    found = board.table(seen.filter, _before(request), ROWS_A_PAGE)
    had = board.labels_had(seen.filter.pool_ids)
    now, viewer = timezone.now(), person_of(request).pk
    context = {
        **_frame(request, seen),
        "rows": [card_of(task, now, viewer, had) for task in found.rows],
        "next_before": found.next_before,
        "view": "table",
    }
    return draw(request, "board.html", context, partial="table", pool=seen.pool)


def _before(request: HttpRequest) -> UUID | None:
    """The key in the address; the newest page where it is none."""
    try:
        return UUID(request.GET["before"])
    except (KeyError, ValueError):
        return None


def _current(request: HttpRequest, drawn: list[dict[str, Any]]) -> str:
    """The column a small screen shows: the asked one, else the first that has cards."""
    asked = request.GET.get("col", "")
    if asked in {column["slug"] for column in drawn}:
        return asked
    return next((column["slug"] for column in drawn if column["count"]), "open")


def _frame(request: HttpRequest, seen: Wanted) -> dict[str, Any]:
    """What stands above the tasks, on the whole page only."""
    ids = seen.filter.pool_ids
    return {
        "wanted": seen.filter,
        "pool": seen.pool,
        "pools": seen.pools,
        "chips": seen.chips,
        "not_done": board.not_done_count(ids),
        "quiet": counts.quiet(request, ids),
        "topics": " ".join(f"pool:{pool.name}" for pool in ([seen.pool] if seen.pool else seen.pools)),
        "query": request.GET.urlencode(),
        "may_prepare": any(pool.allows(Right.PREPARER) for pool in seen.pools),
    }
