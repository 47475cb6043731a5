"""Held tasks, and how the database is doing. Every list is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from claims.models import Task
from claims.selectors.board import COUNT_LIMIT
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
