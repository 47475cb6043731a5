"""Locks and reads along the edges of a graph (claim.v1 section 6).

Promises: predecessors and successors are locked in taskId order. What is locked is the newest
revision of each lineage: only its holder can make a newer one, so after ``lock_predecessors``
none of them can move before the transaction ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString
from uuid import UUID

from django.db import connection

from claims.decide.rows import Predecessor
from claims.vocabulary import State

TRIES = 8

_NEWEST: LiteralString = """SELECT DISTINCT ON (t.lineage_id) t.lineage_id, t.id, t.number, t.state, c.result_digest
 FROM claims_taskinput i JOIN claims_task t ON t.id = i.task_id LEFT JOIN claims_canonicalcommit c ON c.task_id = t.id
 WHERE i.lineage_id = ANY(%s::uuid[]) ORDER BY t.lineage_id, i.revision DESC"""

_PREDECESSORS: LiteralString = """SELECT d.predecessor_lineage, d.node_id FROM claims_dependency d
 WHERE d.successor_lineage = %s::uuid ORDER BY d.node_id"""

_SUCCESSORS: LiteralString = """SELECT DISTINCT ON (t.lineage_id) t.id FROM claims_dependency d
 JOIN claims_taskinput i ON i.lineage_id = d.successor_lineage JOIN claims_task t ON t.id = i.task_id
 WHERE d.predecessor_lineage = %s::uuid ORDER BY t.lineage_id, i.revision DESC"""

_LOCK: LiteralString = (
    "SELECT t.id FROM claims_task t WHERE t.id = ANY(%s::uuid[]) ORDER BY t.id FOR NO KEY UPDATE"
)


class Contended(Exception):
    """Predecessors were revised again and again while they were being locked."""


def edges_of(lineage_id: UUID) -> dict[UUID, str]:
    """The predecessors' lineages of a lineage, each with the name it is pinned under."""
    return {row[0]: row[1] for row in _rows(_PREDECESSORS, [lineage_id])}


def newest(edges: dict[UUID, str]) -> tuple[Predecessor, ...]:
    """The newest revision of each lineage, read now and not locked."""
    rows = _rows(_NEWEST, [list(edges)]) if edges else []
    found = (Predecessor(row[0], edges[row[0]], row[1], row[2], State(row[3]), row[4]) for row in rows)
    return tuple(sorted(found, key=lambda one: one.node_id))


def lock_predecessors(edges: dict[UUID, str]) -> tuple[Predecessor, ...]:
    """The newest revision of each lineage, locked, and read afresh after the locks were had.

    Raises ``Contended`` when they kept moving.
    """
    for _ in range(TRIES):
        before = newest(edges)
        lock([one.task_id for one in before])
        after = newest(edges)
        if [one.task_id for one in after] == [one.task_id for one in before]:
            return after
    raise Contended(f"{len(edges)} predecessors kept moving")


def lock_successors(lineage_id: UUID) -> list[UUID]:
    """The newest revision of every lineage that depends on this one, locked in taskId order."""
    found = sorted(row[0] for row in _rows(_SUCCESSORS, [lineage_id]))
    lock(found)
    return found


def lock(task_ids: Sequence[UUID]) -> None:
    """Lock these task rows in taskId order."""
    if task_ids:
        _rows(_LOCK, [sorted(task_ids)])


def _rows(statement: LiteralString, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
