"""Outcomes as answers: one place that turns a value of ``outcomes`` into JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import orjson
from django.http import HttpResponse

from claims.api.door import Visit
from claims.api.problems import refuse
from claims.outcomes import (
    Acknowledged,
    Adjusted,
    Cancelled,
    Committed,
    Created,
    CreatedTask,
    Delivered,
    EffectMoved,
    Granted,
    Left,
    Permitted,
    Progressed,
    Refused,
    Renewed,
    Revised,
    Staged,
    ToolAccepted,
)
from claims.selectors import api as selectors
from claims.vocabulary import EffectState, State

T = TypeVar("T")
Body = dict[str, Any]


def write(body: object, request_id: str, status: int = 200) -> HttpResponse:
    """A JSON answer; times in RFC 3339 with ``Z``."""
    response = HttpResponse(
        orjson.dumps(body, option=orjson.OPT_UTC_Z), content_type="application/json", status=status
    )
    response["X-Request-Id"] = request_id
    response["Cache-Control"] = "no-store"
    return response


def answer(
    visit: Visit, outcome: T | Refused, shape: Callable[[T], object], status: int = 200
) -> HttpResponse:
    """The answer to a verb: its outcome in ``shape``, or the problem."""
    if isinstance(outcome, Refused):
        return refuse(outcome, visit.request_id)
    return write(shape(outcome), visit.request_id, status)


def grants(visit: Visit, granted: Sequence[Granted]) -> list[Body]:
    """Grants with what the work needs; ``leaseSecondsRemaining`` counts from now by the database's clock."""
    unread = [grant.fence for grant in granted if grant.task is None]
    parts = selectors.parts_of_grants(unread) if unread else {}
    now = visit.token.database_now()
    return [_grant(grant, _read_along(grant) or parts[grant.fence.attempt_id], now) for grant in granted]


def _read_along(grant: Granted) -> selectors.GrantParts | None:
    """The parts that were read in the same round trip as the grant was made."""
    task = grant.task
    if task is None:
        return None
    review = (
        selectors.review_before(grant.fence.task_id, grant.fence.claim_generation) if task.rounds else None
    )
    return selectors.GrantParts(
        task.number,
        task.title,
        task.input,
        task.rounds + 1,
        review,
        effects=selectors.effects_before(grant.fence.attempt_id) if task.input.get("effects") else (),
        predecessors=selectors.predecessors_of(grant.fence.task_id) if task.is_pinned else (),
    )


def _grant(grant: Granted, parts: selectors.GrantParts, now: datetime) -> Body:
    remaining = (grant.lease_expires_at - now).total_seconds()
    return {
        "fence": grant.fence.as_json(),
        "attemptId": grant.fence.attempt_id,
        "taskId": grant.fence.task_id,
        "number": parts.number,
        "title": parts.title,
        "inputDigest": grant.input_digest,
        "input": parts.input,
        "stateVersion": grant.state_version,
        "leaseExpiresAt": grant.lease_expires_at,
        "leaseSecondsRemaining": max(0.0, remaining),
        "windowEndsAt": grant.window_ends_at,
        "round": parts.round,
        "lastReview": parts.last_review,
        "effects": parts.effects,
        "predecessors": parts.predecessors,
        "adoptedEvidence": parts.adopted,
    }


def renewed(outcome: Renewed) -> Body:
    return {
        "leaseExpiresAt": outcome.lease_expires_at,
        "leaseSecondsRemaining": outcome.lease_seconds_remaining,
        "windowEndsAt": outcome.window_ends_at,
        "recovered": outcome.recovered,
        "nudged": outcome.nudged,
    }


def progressed(outcome: Progressed) -> Body:
    return {"attemptId": outcome.attempt_id}


def left(outcome: Left) -> Body:
    return {
        "taskId": outcome.task_id,
        "state": outcome.state,
        "stateVersion": outcome.state_version,
        "reason": outcome.reason,
    }


def staged(outcome: Staged) -> Body:
    return {"resultDigest": outcome.result_digest, "late": outcome.late}


def delivered(outcome: Delivered) -> Body:
    return {
        "deliveryId": outcome.delivery_id,
        "round": outcome.round,
        "resultDigest": outcome.result_digest,
        "subjectDigest": outcome.subject_digest,
        "stateVersion": outcome.state_version,
    }


def committed(outcome: Committed) -> Body:
    return {
        "outcome": "COMMITTED",
        "resultCommitId": outcome.result_commit_id,
        "taskId": outcome.task_id,
        "resultDigest": outcome.result_digest,
        "stateVersion": outcome.state_version,
    }


def created(outcome: Created) -> Body:
    return {"tasks": [_created_task(task) for task in outcome.tasks]}


def _created_task(task: CreatedTask) -> Body:
    return {
        "taskId": task.task_id,
        "number": task.number,
        "nodeId": task.node_id,
        "state": task.state,
        "stateVersion": task.state_version,
        "inputDigest": task.input_digest,
    }


def adjusted(outcome: Adjusted) -> Body:
    return {
        "taskId": outcome.task_id,
        "stateVersion": outcome.state_version,
        "changed": list(outcome.changed),
    }


def revised(outcome: Revised) -> Body:
    return {
        **_created_task(outcome.task),
        "revision": outcome.revision,
        "supersedes": outcome.supersedes,
    }


def cancelled(outcome: Cancelled) -> Body:
    return {
        "taskId": outcome.task_id,
        "state": State.CANCELLED,
        "cancelGeneration": outcome.cancel_generation,
        "stateVersion": outcome.state_version,
    }


def acknowledged(outcome: Acknowledged) -> Body:
    return {
        "taskId": outcome.task_id,
        "effectId": outcome.effect_id,
        "counts": outcome.counts,
        "stateVersion": outcome.state_version,
    }


def tool_accepted(outcome: ToolAccepted) -> Body:
    return {
        "outcome": "ACCEPTED",
        "attemptId": outcome.attempt_id,
        "tool": outcome.tool,
        "argsDigest": outcome.args_digest,
        "acceptedAt": outcome.accepted_at,
    }


def effect_moved(outcome: EffectMoved) -> Body:
    """The effect as the verb left it; a repeat under the same key reads the same."""
    found = selectors.effect(outcome.effect_id, outcome.state_version)
    return {**found, "state": outcome.state}


def permitted(outcome: Permitted) -> Body:
    """The effect and the permit. ``secondsRemaining`` counts from the grant of the permit, by the database's clock."""
    found = selectors.effect(outcome.effect_id, outcome.state_version)
    permit = {
        **found["permit"],
        "live": True,
        "secondsRemaining": outcome.seconds_remaining,
        "idempotencyKey": outcome.effect_id,
        "resourceEtag": outcome.resource_etag or None,
    }
    return {**found, "state": EffectState.EXECUTING, "permit": permit}
