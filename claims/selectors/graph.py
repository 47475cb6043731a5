"""What a task waits for, what waits for it, and the revisions of its lineage.

Promises: of each neighbouring lineage the newest revision is told; every list is bounded; edges
join tasks of one pool, so whoever sees the task sees them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from django.db import connection

LIMIT = 100

# Lineages are found through the inputs: their columns never change, so their indexes are there (claims.models.tasks).
_NEIGHBOURS: LiteralString = """
(SELECT DISTINCT ON (d.node_id, i.lineage_id) 'before' AS side, d.node_id, t.number, t.title, t.state, t.is_stale,
  p.predecessor_id IS NOT NULL AND p.predecessor_id <> t.id AS is_newer
 FROM claims_dependency d JOIN claims_taskinput i ON i.lineage_id = d.predecessor_lineage JOIN claims_task t ON t.id = i.task_id
 LEFT JOIN claims_pin p ON p.task_id = %(task)s::uuid AND p.node_id = d.node_id
 WHERE d.successor_lineage = %(lineage)s::uuid ORDER BY d.node_id, i.lineage_id, i.revision DESC LIMIT %(most)s::int)
UNION ALL
(SELECT DISTINCT ON (i.lineage_id) 'after', '', t.number, t.title, t.state, t.is_stale, false
 FROM claims_dependency d JOIN claims_taskinput i ON i.lineage_id = d.successor_lineage JOIN claims_task t ON t.id = i.task_id
 WHERE d.predecessor_lineage = %(lineage)s::uuid ORDER BY i.lineage_id, i.revision DESC LIMIT %(most)s::int)
UNION ALL
(SELECT 'revision', t.revision::text, t.number, t.title, t.state, t.is_stale, false
 FROM claims_taskinput i JOIN claims_task t ON t.id = i.task_id
 WHERE i.lineage_id = %(lineage)s::uuid ORDER BY i.revision DESC LIMIT %(most)s::int)"""


@dataclass(frozen=True, slots=True)
class Node:
    """A task beside the one in view. ``is_newer``: it has another result than the task was opened with."""

    name: str
    number: int
    title: str
    state: str
    is_stale: bool
    is_newer: bool = False

    @property
    def is_in_the_way(self) -> bool:
        """Whether who waits for it still waits."""
        return self.state != "DONE"

    def __str__(self) -> str:
        return f"T-{self.number}"


@dataclass(frozen=True, slots=True)
class Around:
    """``revisions`` are newest first and hold the task itself."""

    before: tuple[Node, ...]
    after: tuple[Node, ...]
    revisions: tuple[Node, ...]

    @property
    def newest(self) -> Node | None:
        """The newest revision of the lineage."""
        return self.revisions[0] if self.revisions else None


def around(task_id: UUID, lineage_id: UUID) -> Around:
    """The graph around one task. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_NEIGHBOURS, {"task": task_id, "lineage": lineage_id, "most": LIMIT})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    sides: dict[str, list[Node]] = {"before": [], "after": [], "revision": []}
    for side, *values in rows:
        sides[side].append(Node(*values))
    sides["after"].sort(key=lambda node: node.number)
    return Around(tuple(sides["before"]), tuple(sides["after"]), tuple(sides["revision"]))
