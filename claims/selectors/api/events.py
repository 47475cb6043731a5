"""History as a cursor feed for agents and integrations.

Promises: a reader that follows ``next`` sees every row of its pools once. Only rows older than
every running transaction are read, in the order of (transaction, id): an id is drawn before its
transaction ends, so by id alone a late committer would be skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from claims.selectors.api.rows import Row, named, raw_json, rows

WINDOW = 10_000
"""How far an id may lie behind the highest one read and still commit later."""


@dataclass(frozen=True, slots=True)
class EventCursor:
    """How far a reader has read: the last row's transaction and id, and the highest id seen."""

    transaction: int = 0
    id: int = 0
    highest: int = 0

    def __str__(self) -> str:
        return f"{self.transaction}.{self.id}.{self.highest}"

    @classmethod
    def parse(cls, text: str) -> EventCursor:
        """The cursor that ``str`` wrote. Raises ``ValueError`` for anything else."""
        parts = text.split(".")
        if len(parts) != 3 or not all(
            part.isascii() and part.isdigit() and len(part) <= 18 for part in parts
        ):
            raise ValueError("not a cursor of this feed")
        return cls(*(int(part) for part in parts))


def events(pool_ids: Sequence[int], after: EventCursor, limit: int) -> tuple[list[Row], EventCursor]:
    """The next rows, oldest first, and the cursor behind them."""
    found = named(
        'SELECT h.id, h.transaction_id::text AS transaction, p.name AS pool, h.task_id AS "taskId", t.number, h.state_version AS "stateVersion",'
        ' h.verb, h.from_state AS "from", h.to_state AS "to", h.claim_generation AS "claimGeneration", h.attempt_id AS "attemptId",'
        ' h.actor_kind AS "actorKind", h.actor_name AS actor, h.source, h.at, h.body'
        " FROM claims_history h JOIN claims_pool p ON p.id = h.pool_id JOIN claims_task t ON t.id = h.task_id"
        " WHERE h.pool_id = ANY(%s::bigint[]) AND h.id > %s::bigint AND (h.transaction_id, h.id) > (%s::text::xid8, %s::bigint)"
        " AND h.transaction_id < pg_snapshot_xmin(pg_current_snapshot())"
        " ORDER BY h.transaction_id, h.id LIMIT %s::int",
        [list(pool_ids), max(0, after.highest - WINDOW), str(after.transaction), after.id, limit],
    )
    if not found:
        return [], after
    last = found[-1]
    cursor = EventCursor(
        int(last["transaction"]), last["id"], max(after.highest, *(row["id"] for row in found))
    )
    for row in found:
        row["body"] = raw_json(row["body"])
        del row["transaction"]
    return found, cursor


def end_of_feed() -> EventCursor:
    """A cursor behind which only what commits from now on is read."""
    highest, oldest = rows(
        "SELECT coalesce(max(id), 0), pg_snapshot_xmin(pg_current_snapshot())::text FROM claims_history", []
    )[0]
    return EventCursor(int(oldest), 0, highest)
