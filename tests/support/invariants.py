"""The invariants of claim.v1 section 7 that can be read off the tables of one task."""

from __future__ import annotations

from itertools import pairwise
from uuid import UUID

from claims.models import Attempt, CanonicalCommit, Decision, Delivery, History, Lease, Task
from claims.selectors.chain import verify_chain
from claims.vocabulary import DeliveryState, State


def check(task_id: UUID) -> None:
    """Fails with a sentence on the first invariant that does not hold."""
    task = Task.objects.get(id=task_id)
    _check_history(task)
    _check_authority(task)
    _check_results(task)


def _check_history(task: Task) -> None:
    rows = list(History.objects.filter(task_id=task.id).order_by("state_version"))
    assert [row.state_version for row in rows] == list(range(1, task.state_version + 1)), (
        "one history row a change"
    )
    assert verify_chain(task.id) is None, "the chain verifies"
    assert bytes(rows[-1].hash) == bytes(task.history_hash), "the task holds the head of its chain"
    generations = [row.claim_generation for row in rows]
    assert generations == sorted(generations), "the generation only rises"
    assert rows[-1].to_state == task.state, "history ends where the task is"
    for before, after in pairwise(rows):
        assert after.from_state == before.to_state, "history has no gap between states"
        assert after.claim_generation - before.claim_generation in (0, 1), (
            "one change raises the generation at most once"
        )


def _check_authority(task: Task) -> None:
    attempts = list(Attempt.objects.filter(task_id=task.id))
    live = [attempt for attempt in attempts if attempt.outcome is None]
    if task.state == State.CLAIMED:
        assert [attempt.id for attempt in live] == [task.attempt_id], "the one live attempt holds the claim"
        assert live[0].claim_generation == task.claim_generation, "its generation is the task's"
        lease = Lease.objects.get(task_id=task.id)
        assert (lease.attempt_id, lease.claim_generation) == (task.attempt_id, task.claim_generation), (
            "the lease is its own"
        )
    else:
        assert live == [], "no attempt lives without a claim"
        assert not Lease.objects.filter(task_id=task.id).exists(), "no lease without a claim"
    grants = [attempt.claim_generation for attempt in attempts]
    assert len(grants) == len(set(grants)), "one attempt a generation"
    counted = sum(attempt.is_counted for attempt in attempts)
    assert counted >= task.attempts_used, "attempts are counted at the grant"


def _check_results(task: Task) -> None:
    commits = list(CanonicalCommit.objects.filter(task_id=task.id))
    assert len(commits) == (1 if task.state == State.DONE else 0), (
        "one canonical commit, and only for a DONE task"
    )
    pending = Delivery.objects.filter(task_id=task.id, state=DeliveryState.PENDING)
    assert [each.id for each in pending] == ([task.delivery_id] if task.state == State.DELIVERED else []), (
        "one delivery waits"
    )
    for decision in Decision.objects.filter(delivery__task_id=task.id).select_related("delivery"):
        assert decision.subject_digest == decision.delivery.subject_digest, (
            "a decision names what was delivered"
        )
        assert decision.reviewer_id not in decision.delivery.makers, "the maker is not the checker"
