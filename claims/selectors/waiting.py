"""The tasks that one waits for, transitively, and those that wait for it: the nearest ones, and how many more.

Promises: two queries, whatever the graph; at most ``DRAWN`` tasks are answered and at most ``COUNTED`` of
a side are counted; of each lineage the newest revision is told, and only of the pool that was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from django.db import connection

DRAWN = 40
COUNTED = 500

# Each step asks for the neighbours of one lineage by index, and the outer LIMIT ends the recursion, nearest first.
_REACHED: LiteralString = """
WITH RECURSIVE before(lineage) AS (
  SELECT %(lineage)s::uuid UNION SELECT d.predecessor_lineage FROM before b CROSS JOIN LATERAL (
    SELECT predecessor_lineage FROM claims_dependency WHERE successor_lineage = b.lineage LIMIT %(most)s::int) d),
after(lineage) AS (
  SELECT %(lineage)s::uuid UNION SELECT d.successor_lineage FROM after a CROSS JOIN LATERAL (
    SELECT successor_lineage FROM claims_dependency WHERE predecessor_lineage = a.lineage LIMIT %(most)s::int) d)
(SELECT true, lineage FROM before LIMIT %(most)s::int) UNION ALL (SELECT false, lineage FROM after LIMIT %(most)s::int)"""

_NODES: LiteralString = """
SELECT DISTINCT ON (i.lineage_id) i.lineage_id, t.number, t.title, t.state,
  t.state = 'CLAIMED' AND (l.expires_at <= now() OR a.scheduler_epoch <> p.scheduler_epoch),
  ARRAY(SELECT d.predecessor_lineage FROM claims_dependency d
   WHERE d.successor_lineage = i.lineage_id AND d.predecessor_lineage = ANY(%(drawn)s::uuid[]))
FROM claims_taskinput i JOIN claims_task t ON t.id = i.task_id JOIN claims_pool p ON p.id = t.pool_id
LEFT JOIN claims_lease l ON l.task_id = t.id LEFT JOIN claims_attempt a ON a.id = t.attempt_id
WHERE i.lineage_id = ANY(%(drawn)s::uuid[]) AND t.pool_id = %(pool)s::int
ORDER BY i.lineage_id, i.revision DESC"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One task of the graph. ``after`` are the lineages it waits for itself, as far as they are answered."""

    lineage_id: UUID
    number: int
    title: str
    state: str
    is_quiet: bool
    after: tuple[UUID, ...]

    def __str__(self) -> str:
        return f"T-{self.number}"


@dataclass(frozen=True, slots=True)
class Graph:
    """The nearest tasks on both sides of one. ``more_before`` and ``more_after`` count those left out.

    ``is_cut``: there may be more than was counted.
    """

    nodes: tuple[Waiting, ...]
    more_before: int
    more_after: int
    is_cut: bool


def graph(pool_id: int, lineage_id: UUID) -> Graph:
    """The graph around a task, itself included; the nearest of both sides, by turns. Two queries."""
    with connection.cursor() as cursor:
        cursor.execute(_REACHED, {"lineage": lineage_id, "most": COUNTED + 2})
        reached: list[tuple[bool, UUID]] = cursor.fetchall()
        sides = [[one for is_before, one in reached if is_before is side][1:] for side in (True, False)]
        before, after = _nearest(len(sides[0]), len(sides[1]))
        drawn = [lineage_id, *sides[0][:before], *sides[1][:after]]
        cursor.execute(_NODES, {"drawn": drawn, "pool": pool_id})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    found = [
        Waiting(lineage, number, title, state, bool(quiet), tuple(after))
        for lineage, number, title, state, quiet, after in rows
    ]
    nodes = sorted(found, key=lambda one: one.number)
    counts = [min(len(side), COUNTED) for side in sides]
    return Graph(
        tuple(nodes), counts[0] - before, counts[1] - after, any(len(side) > COUNTED for side in sides)
    )


def _nearest(before: int, after: int) -> tuple[int, int]:
    """How many of each side are drawn: half of them each, and what one side leaves goes to the other."""
    half = (DRAWN - 1) // 2
    first = min(before, max(half, DRAWN - 1 - after))
    return first, min(after, DRAWN - 1 - first)
