"""An attempt as it stands now, and the live grants of an agent."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from claims.fences import Fence
from claims.outcomes import Granted
from claims.selectors.api.rows import Row, named, raw_json, rows

MOST_LIVE = 200


def live_grants(agent_id: int, pool_ids: Sequence[int], attempt_id: UUID | None = None) -> list[Granted]:
    """The grants of an agent whose fences can write now, oldest first, at most ``MOST_LIVE``."""
    found = rows(
        "SELECT a.task_id, a.id, a.scheduler_epoch, a.claim_generation, a.cancel_generation, t.input_digest, t.state_version,"
        " l.expires_at, l.window_ends_at"
        " FROM claims_lease l JOIN claims_task t ON t.id = l.task_id JOIN claims_attempt a ON a.id = l.attempt_id"
        " JOIN claims_pool p ON p.id = t.pool_id"
        " WHERE l.agent_id = %s::bigint AND t.attempt_id = l.attempt_id AND t.state = 'CLAIMED' AND t.pool_id = ANY(%s::bigint[])"
        " AND a.scheduler_epoch = p.scheduler_epoch AND (%s::uuid IS NULL OR a.id = %s::uuid)"
        " ORDER BY a.id LIMIT %s::int",
        [agent_id, list(pool_ids), attempt_id, attempt_id, MOST_LIVE],
    )
    return [Granted(Fence(*row[:5]), *row[5:]) for row in found]


def attempt_now(attempt_id: UUID) -> Row | None:
    """An attempt with the standing of its claim; ``live`` while its fence can still be committed."""
    found = named(
        'SELECT a.id AS "attemptId", a.task_id AS "taskId", t.number, t.title, p.name AS pool, r.name AS agent,'
        ' a.scheduler_epoch AS "schedulerEpoch", a.claim_generation AS "claimGeneration", a.cancel_generation AS "cancelGeneration",'
        ' t.state, t.reason, t.state_version AS "stateVersion", t.cancel_generation AS "currentCancel", t.claim_generation AS "currentGeneration", p.scheduler_epoch AS "currentEpoch",'
        " coalesce(t.attempt_id = a.id, false) AND a.scheduler_epoch = p.scheduler_epoch AS live,"
        ' a.outcome, a.started_at AS "startedAt", a.ended_at AS "endedAt", a.note, a.noted_at AS "notedAt", a.cost,'
        ' l.expires_at AS "leaseExpiresAt", l.window_ends_at AS "windowEndsAt", l.nudged_at IS NOT NULL AS nudged,'
        ' greatest(0, extract(epoch FROM l.expires_at - clock_timestamp()))::float8 AS "leaseSecondsRemaining",'
        ' d.id AS "deliveryId", d.round, d.state AS "deliveryState", x.kind AS decision'
        " FROM claims_attempt a JOIN claims_task t ON t.id = a.task_id JOIN claims_pool p ON p.id = t.pool_id"
        " JOIN claims_agent r ON r.id = a.agent_id"
        " LEFT JOIN claims_lease l ON l.task_id = a.task_id AND l.attempt_id = a.id"
        " LEFT JOIN claims_delivery d ON d.attempt_id = a.id LEFT JOIN claims_decision x ON x.delivery_id = d.id"
        " WHERE a.id = %s::uuid",
        [attempt_id],
    )
    return _shaped(found[0]) if found else None


def _shaped(row: Row) -> Row:
    """The row with its fence and its delivery as objects of their own."""
    fence = {
        name: row[name]
        for name in ("taskId", "attemptId", "schedulerEpoch", "claimGeneration", "cancelGeneration")
    }
    return {
        "attemptId": row["attemptId"],
        "taskId": row["taskId"],
        "number": row["number"],
        "title": row["title"],
        "pool": row["pool"],
        "agent": row["agent"],
        "fence": fence,
        "live": row["live"],
        "outcome": row["outcome"],
        "startedAt": row["startedAt"],
        "endedAt": row["endedAt"],
        "note": row["note"],
        "notedAt": row["notedAt"],
        "cost": raw_json(row["cost"]) if row["cost"] is not None else None,
        "leaseExpiresAt": row["leaseExpiresAt"],
        "leaseSecondsRemaining": row["leaseSecondsRemaining"],
        "windowEndsAt": row["windowEndsAt"],
        "nudged": row["nudged"],
        "current": {
            "state": row["state"],
            "reason": row["reason"],
            "stateVersion": row["stateVersion"],
            "schedulerEpoch": row["currentEpoch"],
            "claimGeneration": row["currentGeneration"],
            "cancelGeneration": row["currentCancel"],
        },
        "delivery": _delivery(row),
    }


def _delivery(row: Row) -> Row | None:
    if row["deliveryId"] is None:
        return None
    return {
        "deliveryId": row["deliveryId"],
        "round": row["round"],
        "state": row["deliveryState"],
        "decision": row["decision"],
    }
