"""Held tasks, what keeps a pool from being drained, and how the database is doing.

Promises: the drain conditions are the contract's three (claim.v1 section 7, invariant 16), counted
from rows at the moment of asking; every list is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Q

from claims.models import Task
from claims.selectors.board import COUNT_LIMIT, quiet
from claims.vocabulary import State

HELD_LIMIT = 50


def held(pool_ids: Sequence[int]) -> list[Task]:
    """Held tasks, longest held first. One query."""
    rows = Task.objects.filter(pool_id__in=pool_ids, state=State.HELD).select_related("pool")
    return list(rows.order_by("state_since", "id")[:HELD_LIMIT])


def held_count(pool_ids: Sequence[int]) -> int:
    """How many there are, at most ``COUNT_LIMIT`` + 1."""
    return Task.objects.filter(pool_id__in=pool_ids, state=State.HELD).order_by()[: COUNT_LIMIT + 1].count()


@dataclass(frozen=True, slots=True)
class Drain:
    """What still keeps a pool from being drained."""

    claims: int
    quiet: int
    deliveries: int

    @property
    def is_drained(self) -> bool:
        """Nothing can write, and nothing waits for its commit."""
        return self.claims == 0 and self.deliveries == 0


def drains(pool_ids: Sequence[int]) -> dict[int, Drain]:
    """The conditions by pool. One query."""
    rows = (
        Task.objects.filter(pool_id__in=pool_ids, state__in=[State.CLAIMED, State.DELIVERED])
        .order_by()
        .values("pool_id")
        .annotate(
            claims=Count("pk", filter=Q(state=State.CLAIMED)),
            quiet=Count("pk", filter=quiet()),
            deliveries=Count("pk", filter=Q(state=State.DELIVERED)),
        )
    )
    found = {row["pool_id"]: Drain(row["claims"], row["quiet"], row["deliveries"]) for row in rows}
    return {pool_id: found.get(pool_id, Drain(0, 0, 0)) for pool_id in pool_ids}


@dataclass(frozen=True, slots=True)
class Database:
    """Seconds: the age of the oldest open transaction, and of the oldest history row that no reader may see yet."""

    oldest_transaction: float
    outbox_lag: float


_ASK = """SELECT
 coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start)) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL), 0)::float8,
 coalesce((SELECT extract(epoch FROM clock_timestamp() - min(at)) FROM
  (SELECT at, transaction_id FROM claims_history ORDER BY id DESC LIMIT 1000) newest
  WHERE transaction_id >= pg_snapshot_xmin(pg_current_snapshot())), 0)::float8"""


def database() -> Database:
    """How the database is doing. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_ASK)
        row = cursor.fetchone()
    return Database(float(row[0]), float(row[1]))
