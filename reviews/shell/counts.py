"""Counts that the frame and a page both say: asked for once a request, so that they agree."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest

from claims.selectors import badges


def quiet(request: HttpRequest, pool_ids: Sequence[int]) -> int:
    """How many claims of these pools are quiet, bounded. One query, none the second time."""
    known: dict[tuple[int, ...], int] = vars(request).setdefault("quiet_counts", {})
    key = tuple(sorted(pool_ids))
    if key not in known:
        known[key] = badges.quiet_count(pool_ids)
    return known[key]
