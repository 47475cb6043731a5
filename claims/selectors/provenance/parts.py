"""The parts of a record that are told of every task: pins, attempts, rounds with their decisions, history."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import UUID

from django.contrib.auth.models import User

from claims.checking.history import line
from claims.checking.results import as_written
from claims.checking.rows import Told
from claims.models import Attempt, CanonicalCommit, Decision, Delivery, Pin, StagedResult


class Fenced(Protocol):
    """A row that names the authority it was written under."""

    scheduler_epoch: int
    claim_generation: int
    cancel_generation: int


def fence(row: Fenced) -> dict[str, int]:
    """The three numbers of a row's fence."""
    return {
        "schedulerEpoch": row.scheduler_epoch,
        "claimGeneration": row.claim_generation,
        "cancelGeneration": row.cancel_generation,
    }


def moment(at: datetime | None) -> str | None:
    """A time in UTC to the microsecond, as the hashes of history have it."""
    return at.astimezone(UTC).isoformat(timespec="microseconds") if at else None


def person(who: User | None) -> dict[str, Any] | None:
    """A person by the id that history names and the name one signs in with."""
    return {"id": who.pk, "name": who.get_username()} if who else None


def told_row(row: Told) -> dict[str, Any]:
    """A row of history: what its hash was taken of, and the hash in hexadecimal."""
    told = dict(line(row))
    return {**told, "body": as_written(told["body"]), "hash": row.hash.hex()}


def pins_of(task_id: UUID) -> list[dict[str, Any]]:
    """The results of predecessors that the input digest is pinned to. Two queries."""
    pins = list(Pin.objects.filter(task_id=task_id).select_related("predecessor").order_by("node_id"))
    found = CanonicalCommit.objects.filter(task_id__in=[pin.predecessor_id for pin in pins])
    commits = dict(found.values_list("task_id", "commit_id"))
    return [
        {
            "nodeId": pin.node_id,
            "taskId": str(pin.predecessor_id),
            "number": pin.predecessor.number,
            "resultDigest": pin.result_digest,
            "commitId": str(commits[pin.predecessor_id]),
        }
        for pin in pins
    ]


def attempts_of(task_id: UUID) -> list[dict[str, Any]]:
    """Every attempt with what it staged, in the order of their generations. Two queries."""
    rows = (
        Attempt.objects.filter(task_id=task_id).select_related("agent", "owner").order_by("claim_generation")
    )
    attempts = list(rows)
    staged: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    results = StagedResult.objects.filter(attempt_id__in=[row.pk for row in attempts])
    for row in results.defer("result", "evidence").order_by("attempt_id", "position"):
        staged[row.attempt_id].append(
            {"resultDigest": row.result_digest, "late": row.late, "stagedAt": moment(row.staged_at)}
        )
    return [
        {
            "attemptId": str(row.pk),
            "agent": {"id": row.agent_id, "name": row.agent.name},
            "owner": person(row.owner),
            "fence": fence(row),
            "grantedVersion": row.granted_version,
            "counted": row.is_counted,
            "adoptedFrom": str(row.adopted_from) if row.adopted_from else None,
            "startedAt": moment(row.started_at),
            "endedAt": moment(row.ended_at),
            "outcome": row.outcome,
            "cost": as_written(row.cost),
            "staged": staged[row.pk],
        }
        for row in attempts
    ]


def deliveries_of(task_id: UUID) -> list[dict[str, Any]]:
    """Every round with its decision. Two queries."""
    found = Delivery.objects.filter(task_id=task_id).select_related("agent", "decision", "decision__reviewer")
    rows = list(found.defer("facts").order_by("round"))
    decisions = {row.pk: getattr(row, "decision", None) for row in rows}
    makers = {maker for row in rows for maker in row.makers}
    makers |= {maker for each in decisions.values() if each for maker in each.makers}
    people = User.objects.in_bulk(makers) if makers else {}

    def named(ids: list[int]) -> list[dict[str, Any]]:
        return [{"id": each, "name": people[each].get_username()} for each in ids if each in people]

    return [_delivery(row, named(row.makers), _decision(decisions[row.pk], named)) for row in rows]


def _delivery(row: Delivery, makers: list[dict[str, Any]], decision: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "deliveryId": str(row.pk),
        "round": row.round,
        "attemptId": str(row.attempt_id),
        "agent": {"id": row.agent_id, "name": row.agent.name},
        "makers": makers,
        "state": str(row.state),
        "inputDigest": row.input_digest,
        "resultDigest": row.result_digest,
        "subjectDigest": row.subject_digest,
        "fence": fence(row),
        "summary": row.summary,
        "needs": row.needs,
        "claims": as_written(row.claims),
        "deliveredAt": moment(row.delivered_at),
        "closedAt": moment(row.closed_at),
        "decision": decision,
    }


def _decision(row: Decision | None, named: Any) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "kind": str(row.kind),
        "reviewer": person(row.reviewer),
        "makers": named(row.makers),
        "subjectDigest": row.subject_digest,
        "verdicts": as_written(row.verdicts),
        "comments": as_written(row.comments),
        "note": row.note,
        "reason": row.reason,
        "marks": list(row.marks),
        "decidedAt": moment(row.decided_at),
    }
