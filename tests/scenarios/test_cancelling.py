"""Cancelling and slots that free themselves: B21, B22, B23, B24, B26."""

from __future__ import annotations

import os
from functools import partial
from uuid import UUID

import pytest

from claims import transitions
from claims.callers import sweep_caller
from claims.models import Attempt, CanonicalCommit
from claims.outcomes import Cancelled, Committed, Left, Refused, Why
from claims.selectors.running import live_attempts, work_order
from claims.vocabulary import ReclaimPolicy, ReviewPolicy, State
from tests.race.meeting import blocked_task, race
from tests.support import invariants
from tests.support.records import no_change, task_row, verbs_of, why
from tests.support.walks_of_graphs import finish
from tests.support.world import World, expire, grants_of

pytestmark = pytest.mark.django_db

ROUNDS = 2_000 if os.environ.get("FENCEPOST_LONG") else 10


def cancel(world: World, task_id: UUID) -> Cancelled | Refused:
    return transitions.cancel(world.person(world.preparer), task_id, "not wanted")


def test_b21_term_llm_918_a_cancel_and_a_commit_that_meet_have_one_winner(open_world: World) -> None:
    seen: set[str] = set()
    for _ in range(ROUNDS):
        granted = open_world.claimed(review_policy=ReviewPolicy.NONE)
        task_id, staged = granted.fence.task_id, open_world.staged(granted)
        commit = partial(
            transitions.commit, open_world.caller(), granted.fence, granted.input_digest, staged=staged
        )
        with blocked_task(task_id) as meeting:
            contenders = [partial(cancel, open_world, task_id), commit]
            cancelled, committed = race(meeting, contenders)  # type: ignore[type-var]
        if isinstance(cancelled, Cancelled):
            assert why(committed) is Why.CANCELLED
        else:
            assert (why(cancelled), type(committed)) == (Why.TOO_LATE, Committed)
        state = task_row(task_id).state
        assert CanonicalCommit.objects.filter(task_id=task_id).count() == (state == State.DONE)
        invariants.check(task_id)
        seen.add(state)
    assert seen <= {State.DONE, State.CANCELLED}


def test_b22_ballista_1493_a_done_task_is_not_said_to_be_cancelled(world: World) -> None:
    task_id = world.task()
    finish(world, task_id)
    with no_change(task_id):
        answer = cancel(world, task_id)
    assert why(answer) is Why.TOO_LATE
    assert isinstance(answer, Refused)
    assert answer.rule.status == 409
    assert "cancel" not in verbs_of(task_id)


def test_b23_hazelcast_jet_992_two_cancels_are_answered_the_same_and_counted_once(open_world: World) -> None:
    task_id = open_world.claimed().fence.task_id
    before = task_row(task_id).cancel_generation
    with blocked_task(task_id) as meeting:
        first, second = race(meeting, [partial(cancel, open_world, task_id)] * 2)
    assert isinstance(first, Cancelled)
    assert first == second
    assert task_row(task_id).cancel_generation == before + 1
    assert verbs_of(task_id).count("cancel") == 1


def test_b24_celery_4300_what_was_cancelled_while_no_worker_lived_is_run_by_none(world: World) -> None:
    waiting, sent = world.tasks(3), [world.claimed().fence for _ in range(2)]
    for task_id in [*waiting, *(fence.task_id for fence in sent)]:
        assert isinstance(cancel(world, task_id), Cancelled)
    assert grants_of(transitions.claim_next(world.caller(), world.pool.name, world.epoch, 10)) == ()
    for fence in sent:
        assert work_order(fence.attempt_id) is None, "a message that comes late finds nothing to do"
        assert why(transitions.renew(world.caller(), fence, 60)) is Why.CANCELLED


def test_b26_airflow_13542_a_slot_whose_worker_died_before_it_started_is_free_again(world: World) -> None:
    """Slots are counted from the rows of live claims; there is no other count that could go wrong."""
    agent = world.agents[0]
    task_id = world.task(reclaim_policy=ReclaimPolicy.AUTO, max_attempts=60)
    for _ in range(50):
        world.claimed(agent, task_id)
        assert len(live_attempts(agent.id, world.pool.id)) == 1
        expire(task_id)
        assert isinstance(transitions.lapse(sweep_caller(), task_id), Left)
        assert live_attempts(agent.id, world.pool.id) == []
    assert Attempt.objects.filter(task_id=task_id, outcome="LAPSED").count() == 50
    assert task_row(task_id).state == State.OPEN
