"""Who raised an epoch or moved a gate last, when, and why."""

from __future__ import annotations

from collections.abc import Sequence

from claims.models import PoolEvent


def last(pool_ids: Sequence[int]) -> dict[tuple[int, str], PoolEvent]:
    """The newest event of each pool and verb. One query."""
    rows = PoolEvent.objects.filter(pool_id__in=list(pool_ids))
    newest = rows.order_by("pool_id", "verb", "-id").distinct("pool_id", "verb")
    return {(row.pool_id, row.verb): row for row in newest}
