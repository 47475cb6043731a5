"""The header's links and their badges.

Promises: each badge is the length of the list it points at, from the same query function
(tests/unit/reviews/test_inbox.py and effects/ compare them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.http import HttpRequest
from django.urls import reverse

from claims.selectors import badges
from claims.selectors.seen import SeenPool
from claims.vocabulary import Right
from reviews.inbox import marks
from reviews.shell import counts
from reviews.shell.requests import person_of


@dataclass(frozen=True, slots=True)
class NavItem:
    """One link of the header; ``key`` follows ``g``."""

    name: str
    url: str
    key: str
    count: int
    is_current: bool
    in_bar: bool = True

    @property
    def in_more(self) -> bool:
        """On a small screen: behind "More" instead of in the bottom bar."""
        return not self.in_bar


def nav_of(request: HttpRequest, pools: Sequence[SeenPool], at: str = "") -> tuple[NavItem, ...]:
    """The links this person can use: reviews, board, and operations for operators. ``at`` is where they are shown."""
    person = person_of(request)
    path = at or request.path

    def item(name: str, url: str, key: str, count: int = 0, in_bar: bool = True) -> NavItem:
        return NavItem(name, url, key, count, path == url or path.startswith(f"{url}/"), in_bar)

    items = []
    if any(pool.allows(Right.REVIEWER) for pool in pools):
        items.append(
            item(
                "Reviews",
                reverse("reviews"),
                "r",
                badges.reviews_waiting(marks.seat_of(person.pk, pools), partial(counts.deliveries, request)),
            )
        )
    items.append(item("Board", reverse("board"), "b"))
    if any(pool.allows(Right.OPERATOR) for pool in pools):
        items.append(
            item(
                "Operations",
                reverse("operations"),
                "o",
                badges.operations_waiting(pools, partial(counts.quiet, request)),
            )
        )
    return tuple(items)


def operations_url(pool: SeenPool | None) -> str:
    """Where a pool is operated, for those who may; else nothing."""
    if pool is None or not pool.allows(Right.OPERATOR):
        return ""
    return f"{reverse('operations')}?pool={pool.name}"


def topics_of(pools: Sequence[SeenPool]) -> str:
    """The pools whose changes move a badge, as ``data-live-topics`` names them."""
    return " ".join(f"pool:{pool.name}" for pool in pools)
