"""What workers read: the live attempts of an agent, and the grant an attempt was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from claims.fences import Fence
from claims.models import Agent, Attempt, Delivery, History, Pool, Task
from claims.selectors.contract import Review, last_review, specification_of
from claims.vocabulary import ActorKind, Gate, ReviewPolicy, Source, State, Verb


@dataclass(frozen=True, slots=True)
class LiveAttempt:
    """An attempt that holds its task, and how it came to be.

    ``after`` is the attempt whose delivery was sent back, for a grant by request-changes.
    """

    fence: Fence
    granted_by_worker: bool
    granted_by_person: bool
    after: UUID | None


def live_attempts(agent_id: int, pool_id: int) -> list[LiveAttempt]:
    """Every attempt of the agent in the pool that holds a CLAIMED task."""
    tasks = Task.objects.filter(
        runner_id=agent_id, pool_id=pool_id, state=State.CLAIMED, lease__agent_id=agent_id
    )
    held = dict(tasks.values_list("attempt_id", "id"))
    return [_live(attempt) for attempt in Attempt.objects.filter(id__in=held, outcome=None)]


def _live(attempt: Attempt) -> LiveAttempt:
    entry = History.objects.filter(task_id=attempt.task_id, state_version=attempt.granted_version).first()
    by_person = entry is not None and entry.actor_kind == ActorKind.PERSON
    after = None
    if entry is not None and entry.verb == Verb.REQUEST_CHANGES:
        before = (
            Delivery.objects.filter(task_id=attempt.task_id, delivered_at__lt=attempt.started_at)
            .order_by("-round")
            .first()
        )
        after = before.attempt_id if before else None
    return LiveAttempt(
        fence_of(attempt), entry is not None and entry.source == Source.WORKER, by_person, after
    )


def fence_of(attempt: Attempt) -> Fence:
    """The fence an attempt was granted."""
    return Fence(
        attempt.task_id,
        attempt.id,
        attempt.scheduler_epoch,
        attempt.claim_generation,
        attempt.cancel_generation,
    )


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """All a worker needs to know to run an attempt. ``ttl_seconds`` is the lease's length."""

    fence: Fence
    agent_id: int
    agent_name: str
    number: int
    title: str
    pool: str
    input_digest: str
    input: dict[str, Any]
    round: int
    review: Review | None
    asks_for_review: bool
    ttl_seconds: int

    def as_json(self) -> dict[str, Any]:
        """The grant as the API names it, for the command."""
        return {
            "fence": self.fence.as_json(),
            "attemptId": str(self.fence.attempt_id),
            "taskId": str(self.fence.task_id),
            "number": self.number,
            "title": self.title,
            "inputDigest": self.input_digest,
            "input": self.input,
            "round": self.round,
            "lastReview": self.review.as_json() if self.review else None,
        }


def work_order(attempt_id: UUID) -> WorkOrder | None:
    """The order of an attempt that holds its task now; None when it no longer does."""
    task = (
        Task.objects.filter(attempt_id=attempt_id, state=State.CLAIMED)
        .select_related("pool", "lease")
        .first()
    )
    attempt = Attempt.objects.filter(id=attempt_id).first()
    body = specification_of(task.id) if task else None
    if task is None or attempt is None or body is None:
        return None
    return WorkOrder(
        fence=fence_of(attempt),
        agent_id=attempt.agent_id,
        agent_name=Agent.objects.values_list("name", flat=True).get(id=attempt.agent_id),
        number=task.number,
        title=task.title,
        pool=task.pool.name,
        input_digest=task.input_digest or "",
        input=body,
        round=task.rounds + 1,
        review=last_review(task.id),
        asks_for_review=task.review_policy != ReviewPolicy.NONE or not task.pool.allows_unreviewed,
        ttl_seconds=task.lease.ttl_seconds,
    )


def has_open_task(pool_id: int) -> bool:
    """Whether a claim could find anything, so that an idle pool costs one small read."""
    return Task.objects.filter(pool_id=pool_id, state=State.OPEN).exists()


def pool_standing(pool_id: int) -> tuple[str, int, bool]:
    """The pool's name, its scheduler epoch, and whether its gate is open."""
    pool = Pool.objects.get(id=pool_id)
    return pool.name, pool.scheduler_epoch, pool.gate == Gate.OPEN
