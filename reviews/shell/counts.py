"""Counts that the frame and a page both say: asked for once a request, so that they agree.

A page that has read a whole list tells its length here, before its frame is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest

from claims.selectors import badges, inbox
from claims.selectors.inbox import Seat


def quiet(request: HttpRequest, pool_ids: Sequence[int]) -> int:
    """How many claims of these pools are quiet, bounded. One query, none the second time."""
    known = _known(request)
    key = _key("quiet", pool_ids)
    if key not in known:
        known[key] = badges.quiet_count(pool_ids)
    return known[key]


def tell_quiet(request: HttpRequest, pool_ids: Sequence[int], count: int) -> None:
    """What ``quiet`` is to answer."""
    _known(request)[_key("quiet", pool_ids)] = count


def deliveries(request: HttpRequest, seat: Seat) -> int:
    """How many deliveries wait for this person, bounded. One query, none the second time."""
    known = _known(request)
    key = _key("deliveries", _ids(seat))
    if key not in known:
        known[key] = inbox.count(seat)
    return known[key]


def tell_deliveries(request: HttpRequest, seat: Seat, count: int) -> None:
    """What ``deliveries`` is to answer."""
    _known(request)[_key("deliveries", _ids(seat))] = count


def _ids(seat: Seat) -> list[int]:
    return [pool.id for pool in seat.pools]


def _key(name: str, pool_ids: Sequence[int]) -> tuple[str, ...]:
    return (name, *map(str, sorted(pool_ids)))


def _known(request: HttpRequest) -> dict[tuple[str, ...], int]:
    known: dict[tuple[str, ...], int] = vars(request).setdefault("known_counts", {})
    return known
