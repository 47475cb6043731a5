"""A delivery as its runner reads it, and which bytes belong to it."""

from __future__ import annotations

from uuid import UUID

import orjson

from claims.selectors.api.grants import verdict_list
from claims.selectors.api.rows import Row, named, raw_json, rows


def delivery(delivery_id: UUID) -> Row:
    """A delivery with its evidence, facts and, once there is one, its decision."""
    row = named(
        'SELECT d.id AS "deliveryId", d.task_id AS "taskId", t.number, t.title, p.name AS pool, d.attempt_id AS "attemptId", r.name AS agent,'
        ' d.round, d.state, d.input_digest AS "inputDigest", d.result_digest AS "resultDigest", d.subject_digest AS "subjectDigest",'
        ' d.claim_generation AS "claimGeneration", d.scheduler_epoch AS "schedulerEpoch", d.summary, d.needs, d.claims, d.facts,'
        ' d.delivered_at AS "deliveredAt", s.result, s.evidence,'
        " x.kind, u.username AS reviewer, x.note, x.reason, x.verdicts, x.comments, x.marks, x.decided_at"
        " FROM claims_delivery d JOIN claims_task t ON t.id = d.task_id JOIN claims_pool p ON p.id = d.pool_id"
        " JOIN claims_agent r ON r.id = d.agent_id"
        " LEFT JOIN claims_stagedresult s ON s.attempt_id = d.attempt_id AND s.result_digest = d.result_digest"
        " LEFT JOIN claims_decision x ON x.delivery_id = d.id LEFT JOIN auth_user u ON u.id = x.reviewer_id"
        " WHERE d.id = %s::uuid",
        [delivery_id],
    )[0]
    decision = {
        name: row.pop(name)
        for name in ("kind", "reviewer", "note", "reason", "verdicts", "comments", "marks", "decided_at")
    }
    for name in ("claims", "facts", "result", "evidence"):
        row[name] = raw_json(row[name]) if row[name] is not None else None
    row["decision"] = _decision(decision) if decision["kind"] else None
    return row


def _decision(row: Row) -> Row:
    return {
        "decision": row["kind"],
        "reviewer": row["reviewer"],
        "note": row["note"],
        "reason": row["reason"],
        "verdicts": verdict_list(orjson.loads(row["verdicts"])),
        "comments": raw_json(row["comments"]),
        "marks": row["marks"],
        "decidedAt": row["decided_at"],
    }


def file_of_attempt(attempt_id: UUID, sha256: str) -> tuple[int, str] | None:
    """The size in bytes and media type of a file an attempt has, or took over by adoption; None for any other."""
    found = rows(
        "SELECT f.size, f.media_type FROM claims_evidencefile f WHERE f.sha256 = %s::text AND"
        " f.attempt_id IN (%s::uuid, (SELECT a.adopted_from FROM claims_attempt a WHERE a.id = %s::uuid)) LIMIT 1",
        [sha256, attempt_id, attempt_id],
    )
    return (found[0][0], found[0][1]) if found else None


def manifest_has(delivery_id: UUID, sha256: str) -> UUID | None:
    """The attempt of a delivery whose manifest names these bytes; None where it does not."""
    found = rows(
        "SELECT d.attempt_id FROM claims_delivery d JOIN claims_stagedresult s ON s.attempt_id = d.attempt_id AND s.result_digest = d.result_digest"
        " WHERE d.id = %s::uuid AND s.evidence @> jsonb_build_array(jsonb_build_object('sha256', %s::text))",
        [delivery_id, sha256],
    )
    return found[0][0] if found else None
