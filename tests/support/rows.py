"""Tasks as a transition reads them, for tests of the pure decisions: no database at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from claims import decide
from claims.canonical import Item
from claims.decide.delivering import Handover
from claims.decide.rows import (
    AgentRow,
    AttemptRow,
    CommitRow,
    DeliveryRow,
    LeaseRow,
    PersonRow,
    PoolRow,
    TaskAsRead,
    TaskRow,
)
from claims.fences import Fence
from claims.rights import expand
from claims.vocabulary import (
    DeliveryState,
    Gate,
    ReclaimPolicy,
    ReviewPolicy,
    Right,
    SelfReview,
    State,
    Verdict,
)

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
TASK, ATTEMPT, DELIVERY, COMMIT = (UUID(int=number) for number in (1, 2, 3, 4))
AGENT, OTHER_AGENT, OWNER, REVIEWER, OTHER_REVIEWER, GROUP = 11, 12, 21, 31, 32, 41
EPOCH, GENERATION, CANCELS, VERSION, ATTEMPTS = 7, 5, 0, 9, 1
INPUT, RESULT, SUBJECT = (f"sha256:{letter * 64}" for letter in "abc")
OTHER_DIGEST = f"sha256:{'d' * 64}"

POOL = PoolRow(1, "billing", EPOCH, Gate.OPEN, SelfReview.REFUSED, False, 3_600, 21_600, 0, 0)
RUNNER = AgentRow(AGENT, "agent-7", OWNER, frozenset(), False, True)
LEASE = LeaseRow(NOW + timedelta(seconds=60), NOW + timedelta(hours=6), 300, 0, None, None)
ATTEMPT_ROW = AttemptRow(ATTEMPT, AGENT, "agent-7", OWNER, GENERATION, EPOCH, True)
COMMIT_ROW = CommitRow(COMMIT, ATTEMPT, AGENT, GENERATION, EPOCH, CANCELS, INPUT, RESULT)
PERSON = PersonRow(REVIEWER, expand([Right.REVIEWER]))

_OPEN = TaskRow(
    id=TASK, number=1042, pool_id=1, title="Empty state", state=State.OPEN, reason="", state_version=VERSION,
    claim_generation=GENERATION, cancel_generation=CANCELS, input_digest=INPUT, access=(), priority=2, not_before=None,
    ttl_seconds=300, max_attempts=3, attempts_used=ATTEMPTS, rounds=0, review_policy=ReviewPolicy.REVIEW,
    reclaim_policy=ReclaimPolicy.MANUAL, reviewer_id=None, reviewer_group_id=None, preferred_runner_id=None, runner_id=None,
    attempt_id=None, delivery_id=None, result_commit_id=None, history_hash=bytes(32),
    lineage_id=TASK, revision=1, declares_effects=False, is_stale=False, preparer_id=None,
)  # fmt: skip


def an_open_task(**task: Any) -> TaskAsRead:
    """OPEN, read for a grant to the agent."""
    return TaskAsRead(NOW, POOL, replace(_OPEN, **task), agent=RUNNER, person=_operator())


def a_claimed_task(**task: Any) -> TaskAsRead:
    """CLAIMED by the agent, its lease alive for a minute."""
    row = replace(_OPEN, **{"state": State.CLAIMED, "attempt_id": ATTEMPT, "runner_id": AGENT, **task})
    return TaskAsRead(NOW, POOL, row, LEASE, ATTEMPT_ROW, agent=RUNNER, person=_operator())


def a_delivered_task(**task: Any) -> TaskAsRead:
    """DELIVERED by the agent, read by a reviewer."""
    delivered = {"state": State.DELIVERED, "delivery_id": DELIVERY, "rounds": 1, **task}
    return replace(a_claimed_task(**delivered), lease=None, person=PERSON)


def a_done_task(**task: Any) -> TaskAsRead:
    """DONE by the agent's commit."""
    row = replace(
        _OPEN, **{"state": State.DONE, "claim_generation": GENERATION + 1, "result_commit_id": COMMIT, **task}
    )
    return TaskAsRead(NOW, POOL, row, commit=COMMIT_ROW, agent=RUNNER)


def a_held_task(**task: Any) -> TaskAsRead:
    """HELD, read by an operator."""
    row = replace(
        _OPEN, **{"state": State.HELD, "reason": "agent-7 failed for good: no. Requeue it.", **task}
    )
    return TaskAsRead(NOW, POOL, row, agent=RUNNER, person=_operator())


def with_pool(seen: TaskAsRead, **pool: Any) -> TaskAsRead:
    """The same task in a pool with other policies."""
    return replace(seen, pool=replace(seen.pool, **pool))


def with_lease(seen: TaskAsRead, **lease: Any) -> TaskAsRead:
    """The same task with another lease."""
    return replace(seen, lease=replace(LEASE, **lease))


def with_agent(seen: TaskAsRead, **agent: Any) -> TaskAsRead:
    """The same task read for an agent of another standing."""
    return replace(seen, agent=replace(RUNNER, **agent))


def quiet(seen: TaskAsRead) -> TaskAsRead:
    """The same claim, its lease run out a second ago."""
    return with_lease(seen, expires_at=NOW - timedelta(seconds=1))


def below_epoch(seen: TaskAsRead) -> TaskAsRead:
    """The same claim after the pool's epoch was raised."""
    return with_pool(seen, scheduler_epoch=EPOCH + 1)


def a_fence(**changes: Any) -> Fence:
    """The fence of the attempt that holds the task."""
    return replace(Fence(TASK, ATTEMPT, EPOCH, GENERATION, CANCELS), **changes)


def a_delivery(**changes: Any) -> DeliveryRow:
    """The delivery that the delivered task carries."""
    return replace(
        DeliveryRow(
            DELIVERY, ATTEMPT, AGENT, frozenset({OWNER}), 1, DeliveryState.PENDING, INPUT, RESULT, SUBJECT, GENERATION, EPOCH,
            CANCELS, VERSION,
        ),
        **changes,
    )  # fmt: skip


def a_handover(**changes: Any) -> Handover:
    """A complete result, staged by the attempt."""
    return replace(Handover(INPUT, RESULT, RESULT), **changes)


def a_judgement(verdict: Verdict = Verdict.MET, **changes: Any) -> decide.Judgement:
    """The same verdict on both of two criteria."""
    verdicts = {number: decide.VerdictGiven(verdict, "because") for number in (1, 2)}
    return replace(decide.Judgement(SUBJECT, verdicts, "a note"), **changes)


def a_sighting(seen: TaskAsRead, **changes: Any) -> decide.Sighting:
    """What an operator sees of this very task."""
    expires_at = seen.lease.expires_at if seen.lease else None
    return replace(decide.Sighting(seen.task.state_version, expires_at, "worker lost power"), **changes)


def an_item(name: str = "diff", kind: str = "diff", **meta: object) -> Item:
    """A piece of evidence."""
    return Item(name, kind, "0" * 64, 1, "text/plain", (1,), meta)


def _operator() -> PersonRow:
    return PersonRow(51, expand([Right.OPERATOR]))
