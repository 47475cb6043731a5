"""Where a task stands among others: its revisions, what it waits for, and what waits for it."""

from __future__ import annotations

from typing import LiteralString
from uuid import UUID

from claims.selectors import costs
from claims.selectors.api.effects import effects_of
from claims.selectors.api.rows import Row, named
from claims.vocabulary import State

MOST_NEIGHBOURS = 1_000

_PREDECESSORS: LiteralString = (
    'SELECT d.node_id AS "nodeId", n.id AS "taskId", n.number, n.title, n.state, n.revision, c.result_digest AS "resultDigest"'
    " FROM claims_dependency d JOIN LATERAL (SELECT t.id, t.number, t.title, t.state, t.revision FROM claims_taskinput i"
    "  JOIN claims_task t ON t.id = i.task_id WHERE i.lineage_id = d.predecessor_lineage ORDER BY i.revision DESC LIMIT 1) n ON true"
    " LEFT JOIN claims_canonicalcommit c ON c.task_id = n.id WHERE d.successor_lineage = %s::uuid ORDER BY d.node_id LIMIT %s::int"
)
_SUCCESSORS: LiteralString = (
    'SELECT d.node_id AS "nodeId", n.id AS "taskId", n.number, n.title, n.state, n.revision'
    " FROM claims_dependency d JOIN LATERAL (SELECT t.id, t.number, t.title, t.state, t.revision FROM claims_taskinput i"
    "  JOIN claims_task t ON t.id = i.task_id WHERE i.lineage_id = d.successor_lineage ORDER BY i.revision DESC LIMIT 1) n ON true"
    " WHERE d.predecessor_lineage = %s::uuid ORDER BY n.number LIMIT %s::int"
)
_PINS: LiteralString = (
    'SELECT n.node_id AS "nodeId", n.predecessor_id AS "taskId", t.number, n.result_digest AS "resultDigest"'
    " FROM claims_pin n JOIN claims_task t ON t.id = n.predecessor_id WHERE n.task_id = %s::uuid ORDER BY n.node_id LIMIT %s::int"
)
_REVISIONS: LiteralString = (
    'SELECT t.id AS "taskId", t.number, t.revision, t.state FROM claims_taskinput i JOIN claims_task t ON t.id = i.task_id'
    " WHERE i.lineage_id = %s::uuid ORDER BY i.revision DESC LIMIT %s::int"
)


def standing(task_id: UUID, lineage_id: UUID) -> Row:
    """A task's revisions (newest first), neighbours, pins, effects and cost; at most ``MOST_NEIGHBOURS`` of each."""
    of_lineage, of_task = [lineage_id, MOST_NEIGHBOURS], [task_id, MOST_NEIGHBOURS]
    before, revisions = named(_PREDECESSORS, of_lineage), named(_REVISIONS, of_lineage)
    return {
        "newestRevision": revisions[0],
        "revisions": revisions,
        "predecessors": before,
        "blockedBy": [_name(one) for one in before if one["state"] != State.DONE],
        "successors": named(_SUCCESSORS, of_lineage),
        "pins": named(_PINS, of_task),
        "effects": effects_of(task_id),
        "cost": costs.of_task(task_id).as_json(),
    }


def _name(task: Row) -> str:
    return f"T-{task['number']} {task['title']} ({task['state']})"
