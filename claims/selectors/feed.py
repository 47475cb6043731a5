"""History as an outbox: read in the order of transactions, never past one that is still running.

Promises: a reader that starts at a cursor sees every row that commits after it, once. A row is read
only when its transaction is older than every running one, and rows go by (transaction, id): an id is
drawn before its transaction's, so by id alone a late committer would be skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import OuterRef, Subquery

from claims.models import History, Pool

WINDOW = 10_000
"""Ids that may be drawn by transactions that commit later than younger ones; bounds the scan of a read."""

_READ = """SELECT h.id, h.transaction_id::text, h.pool_id, p.name, h.task_id, h.verb
 FROM claims_history h JOIN claims_pool p ON p.id = h.pool_id
 WHERE h.id > %s AND (h.transaction_id, h.id) > (%s::text::xid8, %s)
 AND h.transaction_id < pg_snapshot_xmin(pg_current_snapshot())
 ORDER BY h.transaction_id, h.id LIMIT %s"""

_PEEK = """SELECT h.id, h.pool_id, p.name, h.task_id, h.verb
 FROM claims_history h JOIN claims_pool p ON p.id = h.pool_id WHERE h.id > %s ORDER BY h.id LIMIT %s"""

_START = """SELECT coalesce(max(id), 0), pg_snapshot_xmin(pg_current_snapshot())::text FROM claims_history"""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a reader has read. ``highest_id`` is the highest id seen, for the window."""

    transaction: str
    id: int
    highest_id: int


@dataclass(frozen=True, slots=True)
class Told:
    """One row of history, as much of it as a hint needs."""

    id: int
    pool_id: int
    pool: str
    task_id: UUID
    verb: str


def start() -> Cursor:
    """A cursor at which only what commits from now on is read."""
    with connection.cursor() as cursor:
        cursor.execute(_START)
        highest, oldest_running = cursor.fetchone()
    return Cursor(oldest_running, 0, highest)


def read(after: Cursor, limit: int = 1_000) -> tuple[list[Told], Cursor]:
    """The next rows, and the cursor behind them; no row when nothing new is certain yet."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, [after.highest_id - WINDOW, after.transaction, after.id, limit])
        rows = cursor.fetchall()
    if not rows:
        return [], after
    found = [Told(row[0], row[2], row[3], row[4], row[5]) for row in rows]
    return found, Cursor(rows[-1][1], rows[-1][0], max(after.highest_id, *(row.id for row in found)))


def peek(after_id: int, limit: int = 1_000) -> list[Told]:
    """Rows above an id that are committed now, however many older transactions still run.

    Early but not whole: a row with a lower id may commit later, and only ``read`` tells of that.
    """
    with connection.cursor() as cursor:
        cursor.execute(_PEEK, [after_id, limit])
        return [Told(*row) for row in cursor.fetchall()]


def newest(pool_ids: Iterable[int] | None = None) -> dict[str, int]:
    """The highest history id of each pool by its name, 0 where there is none. One query, two index reads a pool."""
    last = History.objects.filter(pool_id=OuterRef("pk")).order_by("-id").values("id")[:1]
    pools = Pool.objects.all() if pool_ids is None else Pool.objects.filter(pk__in=list(pool_ids))
    return {
        name: found or 0
        for name, found in pools.annotate(newest=Subquery(last)).values_list("name", "newest")
    }
