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

_NEIGHBOURS: LiteralString = """
(SELECT DISTINCT ON (d.node_id, t.lineage_id) 'before' AS side, d.node_id, t.number, t.title, t.state, t.is_stale,
  p.predecessor_id IS NOT NULL AND p.predecessor_id <> t.id AS is_newer
 FROM claims_dependency d JOIN claims_task t ON t.lineage_id = d.predecessor_lineage
 LEFT JOIN claims_pin p ON p.task_id = %(task)s::uuid AND p.node_id = d.node_id
 WHERE d.successor_lineage = %(lineage)s::uuid ORDER BY d.node_id, t.lineage_id, t.revision DESC LIMIT %(most)s::int)
UNION ALL
(SELECT DISTINCT ON (t.lineage_id) 'after', '', t.number, t.title, t.state, t.is_stale, false
 FROM claims_dependency d JOIN claims_task t ON t.lineage_id = d.successor_lineage
 WHERE d.predecessor_lineage = %(lineage)s::uuid ORDER BY t.lineage_id, t.revision DESC LIMIT %(most)s::int)
UNION ALL
(SELECT 'revision', t.revision::text, t.number, t.title, t.state, t.is_stale, false
 FROM claims_task t WHERE t.lineage_id = %(lineage)s::uuid ORDER BY t.revision DESC LIMIT %(most)s::int)"""


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
