"""What was done before a grant: the effects of the lineage so far, and the results it builds on.

Promises: both are those of the moment of the grant, for as often as they are read: effects by
their history up to it, results by the pins of the input digest, which never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from claims.selectors.api.rows import Row, named, raw_json

MOST_RESULT_BYTES = 1_000_000
"""Results of predecessors that come along with a grant, all together; beyond it only their digests."""


def effects_before(attempt_id: UUID) -> list[Row]:
    """The effects of a task and of its earlier revisions as they were when the attempt was granted.

    ``acknowledged``: what the preparer had said of an earlier revision's effect, true where it counts.
    """
    found = named(
        "SELECT * FROM ("
        'SELECT e.id AS "effectId", e.task_id AS "taskId", b.revision, e.slot, e.mode, e.target,'
        " (SELECT s.step->>'to' FROM claims_history h, jsonb_array_elements(h.body->'effects') AS s(step)"
        "  WHERE h.task_id = e.task_id AND s.step->>'effectId' = e.id AND CASE WHEN e.task_id = a.task_id"
        "   THEN h.state_version <= a.granted_version ELSE h.at <= a.started_at END ORDER BY h.state_version DESC LIMIT 1) AS state,"
        ' e.payload_digest AS "payloadDigest", e.payload, e.prepared_at AS "preparedAt",'
        " (SELECT k.counts FROM claims_acknowledgement k WHERE k.task_id = a.task_id AND k.effect_id = e.id"
        "  AND k.at <= a.started_at) AS acknowledged"
        " FROM claims_attempt a JOIN claims_task t ON t.id = a.task_id JOIN claims_effect e ON e.lineage_id = t.lineage_id"
        " JOIN claims_task b ON b.id = e.task_id WHERE a.id = %s::uuid AND b.revision <= t.revision) known"
        ' WHERE state IS NOT NULL ORDER BY "preparedAt", "effectId"',
        [attempt_id],
    )
    return [{**row, "payload": raw_json(row["payload"])} for row in found]


def predecessors_of(task_id: UUID) -> list[Row]:
    """The pinned results of the tasks that a task depends on, by name.

    ``result`` is null, and its bytes count for nothing, from where ``MOST_RESULT_BYTES`` are reached:
    it is read with the predecessor's task.
    """
    found = named(
        'SELECT n.node_id AS "nodeId", n.predecessor_id AS "taskId", t.number, n.result_digest AS "resultDigest",'
        ' c.commit_id AS "resultCommitId", c.attempt_id AS "attemptId", s.result, s.evidence'
        " FROM claims_pin n JOIN claims_task t ON t.id = n.predecessor_id JOIN claims_canonicalcommit c ON c.task_id = t.id"
        " LEFT JOIN claims_stagedresult s ON s.attempt_id = c.attempt_id AND s.result_digest = c.result_digest"
        " WHERE n.task_id = %s::uuid ORDER BY n.node_id",
        [task_id],
    )
    return _within(found, MOST_RESULT_BYTES)


def _within(found: Sequence[Row], most_bytes: int) -> list[Row]:
    told, size = [], 0
    for row in found:
        size += len(row["result"] or "") + len(row["evidence"] or "")
        fits = size <= most_bytes
        told.append(
            {
                **row,
                "result": raw_json(row["result"]) if fits and row["result"] is not None else None,
                "evidence": raw_json(row["evidence"]) if fits and row["evidence"] is not None else None,
            }
        )
    return told
