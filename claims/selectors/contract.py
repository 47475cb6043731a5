"""Reads that transitions, the API and workers need of what never changes once written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from claims.callers import Caller
from claims.canonical import Item
from claims.models import Agent, Decision, Delivery, Membership, StagedResult, Task, TaskInput
from claims.vocabulary import Right, State


def specification_of(task_id: UUID) -> dict[str, Any] | None:
    """The input of a task as it was written; None where there is no such task."""
    return TaskInput.objects.filter(task_id=task_id).values_list("body", flat=True).first()


def criteria_count(task_id: UUID) -> int:
    """How many acceptance criteria the task has."""
    return len((specification_of(task_id) or {}).get("acceptance", []))


def item_from_json(body: Mapping[str, Any]) -> Item:
    """A manifest's item as ``Item.as_json`` wrote it."""
    return Item(
        body["name"],
        body["kind"],
        body["sha256"],
        body["size"],
        body["mediaType"],
        tuple(body["criteria"]),
        body["meta"],
    )


def manifest(attempt_id: UUID, result_digest: str | None) -> Sequence[Item]:
    """The evidence of a result that an attempt staged; empty when it staged no such result."""
    if result_digest is None:
        return ()
    bodies = (
        StagedResult.objects.filter(attempt_id=attempt_id, result_digest=result_digest)
        .values_list("evidence", flat=True)
        .first()
    )
    return [item_from_json(body) for body in bodies or []]


def claimed_by(agent_id: int) -> list[UUID]:
    """The tasks an agent holds a claim on."""
    return list(
        Task.objects.filter(runner_id=agent_id, state=State.CLAIMED, lease__agent_id=agent_id).values_list(
            "id", flat=True
        )
    )


def may_switch_off(caller: Caller, agent_id: int) -> bool:
    """Whether a person owns the agent or administers a pool it works in."""
    if not caller.is_person:
        return False
    if Agent.objects.filter(id=agent_id, owner_id=caller.actor.id).exists():
        return True
    return Membership.objects.filter(
        person_id=caller.actor.id, right=Right.ADMIN, pool__agent_pools__agent_id=agent_id
    ).exists()


@dataclass(frozen=True, slots=True)
class Review:
    """The last decision on a task, as its runner reads it: one structured message."""

    round: int
    decision: str
    note: str
    verdicts: list[dict[str, Any]]
    comments: list[dict[str, Any]]
    attempt_id: UUID

    def as_json(self) -> dict[str, Any]:
        """Under the names of the JSON API."""
        return {
            "round": self.round,
            "decision": self.decision,
            "note": self.note,
            "verdicts": self.verdicts,
            "comments": self.comments,
            "attemptId": str(self.attempt_id),
        }


def last_review(task_id: UUID) -> Review | None:
    """The newest decision on any delivery of the task."""
    decision = (
        Decision.objects.filter(delivery__task_id=task_id)
        .select_related("delivery")
        .order_by("-delivery__round")
        .first()
    )
    if decision is None:
        return None
    delivery: Delivery = decision.delivery
    verdicts = [
        {"criterion": int(number), **given}
        for number, given in sorted(decision.verdicts.items(), key=lambda pair: int(pair[0]))
    ]
    return Review(
        delivery.round, decision.kind, decision.note, verdicts, decision.comments, delivery.attempt_id
    )
