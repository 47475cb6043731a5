"""An outside effect as the API answers it: as it is now, or as it was right after a verb.

Promises: the answer to a verb is rebuilt from rows that never change, so that a repeat under the
same key says what the first one said. Only what a clock decides may differ: the seconds that
remain, and whether a permit is still live.
"""

from __future__ import annotations

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from claims import canonical, decide
from claims.decide.rows import EffectRow
from claims.selectors.api.rows import Row, named, raw_json, rows
from claims.vocabulary import EffectMode, EffectState, Said, Via

MOST_OBSERVATIONS = 100

_EFFECT: LiteralString = (
    "SELECT e.id, e.task_id, t.number, t.revision, t.attempt_id, p.name AS pool, p.scheduler_epoch, clock_timestamp() AS now,"
    " t.state_version, e.slot, e.mode, e.target, e.serial_key, e.is_required, e.permit_seconds, e.settle_seconds, e.payload_digest,"
    " e.payload, e.prepared_at, e.resource_etag, e.receipt, e.has_happened, e.state, e.version, NULL::timestamptz AS until"
    " FROM claims_effect e JOIN claims_task t ON t.id = e.task_id JOIN claims_pool p ON p.id = e.pool_id WHERE e.id = %s::text"
)
_EFFECTS_OF: LiteralString = (
    "SELECT e.id, e.task_id, t.attempt_id, p.scheduler_epoch, clock_timestamp() AS now, e.slot, e.mode, e.target, e.serial_key,"
    " e.is_required, e.permit_seconds, e.settle_seconds, e.payload_digest, e.prepared_at, e.state, e.version, e.has_happened,"
    " e.permits, e.permit_id, m.attempt_id AS permit_attempt_id, m.scheduler_epoch AS permit_epoch, m.deadline AS permit_deadline"
    " FROM claims_effect e JOIN claims_task t ON t.id = e.task_id JOIN claims_pool p ON p.id = e.pool_id"
    " LEFT JOIN claims_permit m ON m.id = e.permit_id WHERE e.task_id = %s::uuid ORDER BY e.prepared_at, e.id"
)
_STEPS: LiteralString = (
    "SELECT count(*)::int AS version, (array_agg(s.step->>'to' ORDER BY h.state_version DESC))[1] AS state,"
    " (SELECT x.at FROM claims_history x WHERE x.task_id = %s::uuid AND x.state_version = %s::bigint) AS until"
    " FROM claims_history h, jsonb_array_elements(h.body->'effects') AS s(step)"
    " WHERE h.task_id = %s::uuid AND h.state_version <= %s::bigint AND s.step->>'effectId' = %s::text"
)
_PERMIT: LiteralString = (
    'SELECT x.id AS "permitId", x.number, x.attempt_id AS "attemptId", g.name AS runner, x.claim_generation AS "claimGeneration",'
    ' x.scheduler_epoch AS "schedulerEpoch", x.granted_at AS "grantedAt", x.deadline'
    " FROM claims_permit x JOIN claims_agent g ON g.id = x.agent_id"
    " CROSS JOIN (SELECT %s::timestamptz AS until) m"
    " WHERE x.effect_id = %s::text AND (m.until IS NULL OR x.granted_at <= m.until) ORDER BY x.number DESC LIMIT 1"
)
_APPROVAL: LiteralString = (
    "SELECT x.id AS \"approvalId\", CASE WHEN x.ended_at > m.until THEN 'GRANTED' ELSE x.state END AS state,"
    ' u.username AS person, x.payload_digest AS "payloadDigest", x.claim_generation AS "claimGeneration",'
    ' x.scheduler_epoch AS "schedulerEpoch", x.doubt, x.note, x.at, x.expires_at AS "expiresAt"'
    " FROM claims_approval x JOIN auth_user u ON u.id = x.person_id CROSS JOIN (SELECT %s::timestamptz AS until) m"
    " WHERE x.effect_id = %s::text AND (m.until IS NULL OR x.at <= m.until) ORDER BY x.at DESC, x.id DESC LIMIT 1"
)
_OBSERVATIONS: LiteralString = (
    'SELECT x.said, x.via, x.look_up AS "lookUp", x.is_strong AS strong, x.is_applied AS applied, x.etag, x.permit_id AS "permitId",'
    ' x.attempt_id AS "attemptId", x.receipt, x.note, x.actor_name AS actor, x.at FROM claims_observation x CROSS JOIN (SELECT %s::timestamptz AS until) m'
    " WHERE x.effect_id = %s::text AND (m.until IS NULL OR x.at <= m.until) ORDER BY x.at DESC, x.id DESC LIMIT %s::int"
)


def effect(effect_id: str, state_version: int | None = None) -> Row:
    """An effect as it reads now, or as it was when its task came to ``state_version``.

    Observations are the last ``MOST_OBSERVATIONS``, oldest first. Raises ``LookupError`` for an
    id that no effect has.
    """
    found = named(_EFFECT, [effect_id])
    if not found:
        raise LookupError(effect_id)
    row = found[0] if state_version is None else _as_of(found[0], state_version)
    until = [row["until"], effect_id]
    permits, approvals = named(_PERMIT, until), named(_APPROVAL, until)
    observations = named(_OBSERVATIONS, [*until, MOST_OBSERVATIONS])[::-1]
    as_read = _as_read(row, permits[0] if permits else None, observations)
    return {
        **_named(row),
        "state": _reads(row, as_read),
        "stateVersion": row["state_version"],
        "version": row["version"],
        "etag": decide.etag(row["now"], as_read),
        "hasHappened": as_read.has_happened or as_read.state is EffectState.COMMITTED,
        "settlesAt": decide.settles_at(as_read),
        "permit": {**permits[0], "live": _is_live(row, as_read)} if permits else None,
        "approval": approvals[0] if approvals else None,
        "observations": [_observation(each) for each in observations],
        **_outcome(row),
    }


def _as_of(row: Row, state_version: int) -> Row:
    """The row as it was when its task came to a state version, by the task's history."""
    before = named(_STEPS, [row["task_id"], state_version, row["task_id"], state_version, row["id"]])[0]
    is_now = before["version"] == row["version"]
    return {
        **row,
        **before,
        "state_version": state_version,
        "has_happened": row["has_happened"] if is_now else None,
    }


def effects_of(task_id: UUID) -> list[Row]:
    """The effects of a task as they read now, in the order in which they were prepared. One query."""
    found = named(_EFFECTS_OF, [task_id])
    return [
        {
            "effectId": row["id"],
            "slot": row["slot"],
            "mode": row["mode"],
            "target": row["target"],
            "required": row["is_required"],
            "payloadDigest": row["payload_digest"],
            "state": _reads(row, _effect_row(row)),
            "version": row["version"],
            "preparedAt": row["prepared_at"],
        }
        for row in found
    ]


def effect_id_of(task_id: UUID, slot: str) -> str:
    """The id that the effect of this slot has, prepared or not. Raises ``LookupError`` for no such task."""
    found = rows("SELECT node_id FROM claims_task WHERE id = %s::uuid", [task_id])
    if not found:
        raise LookupError(task_id)
    return canonical.effect_id(task_id, found[0][0], slot)


def _named(row: Row) -> Row:
    """What never changes about an effect."""
    return {
        "effectId": row["id"],
        "taskId": row["task_id"],
        "number": row["number"],
        "revision": row["revision"],
        "pool": row["pool"],
        "slot": row["slot"],
        "mode": row["mode"],
        "target": row["target"],
        "serialKey": row["serial_key"],
        "required": row["is_required"],
        "payloadDigest": row["payload_digest"],
        "payload": raw_json(row["payload"]),
        "preparedAt": row["prepared_at"],
    }


def _as_read(row: Row, permit: Row | None, observations: list[Row]) -> EffectRow:
    """The effect as the decisions take it, to ask them what it reads as."""
    told = permit or {}
    permitted = {
        "permits": told.get("number", 0),
        "permit_id": told.get("permitId"),
        "permit_attempt_id": told.get("attemptId"),
        "permit_epoch": told.get("schedulerEpoch"),
        "permit_deadline": told.get("deadline"),
    }
    stands = _has_happened(observations) if row["has_happened"] is None else row["has_happened"]
    return _effect_row({**row, **permitted, "has_happened": stands})


def _effect_row(row: Row) -> EffectRow:
    return EffectRow(
        row["id"], row["task_id"], row["slot"], EffectMode(row["mode"]), row["target"], row["serial_key"], row["is_required"],
        row["permit_seconds"], row["settle_seconds"], row["payload_digest"], EffectState(row["state"]), row["version"],
        row["permits"], 0, row["has_happened"], "", row["permit_id"], row["permit_attempt_id"], row["permit_epoch"],
        row["permit_deadline"],
    )  # fmt: skip


def _has_happened(observations: list[Row]) -> bool:
    """Whether something says that it happened, and no person has said since that it did not."""
    stands = False
    for each in observations:
        if each["said"] == Said.HAPPENED:
            stands = True
        elif each["said"] == Said.DID_NOT_HAPPEN and each["via"] == Via.OPERATOR and each["applied"]:
            stands = False
    return stands


def _is_live(row: Row, effect: EffectRow) -> bool:
    now: datetime = row["now"]
    return decide.is_live_at(effect, now, row["scheduler_epoch"], row["attempt_id"])


def _reads(row: Row, effect: EffectRow) -> str:
    """EXECUTING reads as UNKNOWN once its permit is no longer live."""
    if effect.state is EffectState.EXECUTING and not _is_live(row, effect):
        return EffectState.UNKNOWN.value
    return effect.state.value


def _observation(row: Row) -> Row:
    return {**row, "receipt": raw_json(row["receipt"]) if row["receipt"] is not None else None}


def _outcome(row: Row) -> Row:
    """The receipt and the resource's ETag, which only a COMMITTED effect has."""
    if row["state"] != EffectState.COMMITTED:
        return {"receipt": None, "resourceEtag": None}
    receipt = raw_json(row["receipt"]) if row["receipt"] is not None else None
    return {"receipt": receipt, "resourceEtag": row["resource_etag"] or None}
