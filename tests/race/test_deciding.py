"""Reviewers who decide at the same moment, and deliveries that move under them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection

from claims import transitions
from claims.models import CanonicalCommit, Decision, Membership, Pool, Task
from claims.outcomes import Committed, Delivered, Refused, Why
from claims.transitions import Account
from claims.vocabulary import DecisionKind, Right, State, Verdict
from tests.race.meeting import blocked_task, race
from tests.support import invariants
from tests.support.world import World, a_world, expire, judgement, next_epoch

ROUNDS = 1_000 if os.environ.get("FENCEPOST_LONG") else 20


def test_two_reviewers_who_accept_at_once_make_one_decision(world: World) -> None:
    other = a_world().reviewer
    Membership.objects.create(pool=world.pool, person=other, right=Right.REVIEWER)
    for _ in range(ROUNDS):
        delivery = world.delivered()
        with blocked_task(delivery.task_id) as meeting:
            answers = race(
                meeting,
                [
                    partial(transitions.accept, world.person(who), delivery.id, judgement(delivery))
                    for who in (world.reviewer, other)
                ],
            )
        assert sorted(type(answer).__name__ for answer in answers) == ["Committed", "Refused"]
        (refused,) = [answer for answer in answers if isinstance(answer, Refused)]
        assert refused.why is Why.ALREADY_DECIDED
        assert "already accepted by" in refused.sentence
        assert Decision.objects.filter(delivery=delivery).count() == 1
        assert CanonicalCommit.objects.filter(task_id=delivery.task_id).count() == 1
        invariants.check(delivery.task_id)


def test_one_reviewer_in_two_tabs_decides_once(world: World) -> None:
    delivery = world.delivered()
    with blocked_task(delivery.task_id) as meeting:
        answers = race(
            meeting,
            [
                partial(
                    transitions.accept, world.person(world.reviewer, key), delivery.id, judgement(delivery)
                )
                for key in ("tab-1", "tab-2")
            ],
        )
    assert sum(isinstance(answer, Committed) for answer in answers) == 1
    invariants.check(delivery.task_id)


def test_a_double_click_gives_one_decision_and_the_same_answer(world: World) -> None:
    delivery = world.delivered()
    accept = partial(
        transitions.accept, world.person(world.reviewer, "form-1"), delivery.id, judgement(delivery)
    )
    first = accept()
    assert isinstance(first, Committed)
    assert accept() == first
    invariants.check(delivery.task_id)


def test_nothing_is_accepted_that_was_not_seen(world: World) -> None:
    """The page shows round 1; while the accept waits, round 1 is sent back and round 2 arrives."""
    for _ in range(ROUNDS):
        delivery = world.delivered()
        task_id = delivery.task_id
        with blocked_task(task_id) as meeting:
            answers = race(
                meeting,
                [
                    partial(
                        transitions.request_changes,
                        world.person(world.reviewer),
                        delivery.id,
                        judgement(delivery, Verdict.NOT_MET, "x"),
                    ),
                    partial(
                        transitions.accept, world.person(world.reviewer), delivery.id, judgement(delivery)
                    ),
                ],
            )
        decision = Decision.objects.get(delivery=delivery)
        sent_back = decision.kind == DecisionKind.CHANGES_REQUESTED
        assert isinstance(answers[1], Refused if sent_back else Committed)
        assert Task.objects.get(id=task_id).state == (State.CLAIMED if sent_back else State.DONE)
        invariants.check(task_id)


def test_an_accept_of_round_one_is_refused_when_round_two_is_there(world: World) -> None:
    first = world.delivered()
    sent_back = transitions.request_changes(
        world.person(world.reviewer), first.id, judgement(first, Verdict.NOT_MET, "say it louder")
    )
    assert not isinstance(sent_back, Refused)
    second = world.delivered(granted=world.regranted(first.task_id))
    old = transitions.accept(world.person(world.reviewer), first.id, judgement(first))
    crossed = transitions.accept(world.person(world.reviewer), second.id, judgement(first))
    assert isinstance(old, Refused)
    assert isinstance(crossed, Refused)
    assert (old.why, crossed.why) == (Why.ALREADY_DECIDED, Why.STALE_DELIVERY)
    assert Task.objects.get(id=first.task_id).state == State.DELIVERED
    invariants.check(first.task_id)


Waiting = Callable[[World], tuple[Any, Callable[[], Any]]]


def _renew(world: World) -> tuple[Any, Callable[[], Any]]:
    granted = world.claimed()
    return granted.fence.task_id, partial(transitions.renew, world.caller(), granted.fence, 60)


def _renew_with_a_key(world: World) -> tuple[Any, Callable[[], Any]]:
    granted = world.claimed()
    return granted.fence.task_id, partial(transitions.renew, world.caller(key="renew-1"), granted.fence, 60)


def _release(world: World) -> tuple[Any, Callable[[], Any]]:
    granted = world.claimed()
    return granted.fence.task_id, partial(transitions.release, world.caller(), granted.fence, "no time")


def _deliver(world: World) -> tuple[Any, Callable[[], Any]]:
    granted = world.claimed()
    staged = world.staged(granted)
    return granted.fence.task_id, partial(
        transitions.deliver, world.caller(), granted.fence, granted.input_digest, None, Account(), staged
    )


def _accept(world: World) -> tuple[Any, Callable[[], Any]]:
    delivery = world.delivered()
    return delivery.task_id, partial(
        transitions.accept, world.person(world.reviewer), delivery.id, judgement(delivery)
    )


@pytest.mark.parametrize("waiting", [_renew, _renew_with_a_key, _release, _deliver, _accept])
def test_a_write_that_waited_for_the_row_is_judged_by_the_epoch_after_the_wait(
    world: World, waiting: Waiting
) -> None:
    task_id, call = waiting(world)
    with blocked_task(task_id) as meeting:
        raise_epoch = partial(
            meeting.execute,
            "UPDATE claims_pool SET scheduler_epoch = %s WHERE id = %s",
            [next_epoch(), world.pool.id],
        )
        (answer,) = race(meeting, [call], raise_epoch)
    assert isinstance(answer, Refused)
    assert answer.why is Why.FENCED
    assert Pool.objects.get(id=world.pool.id).scheduler_epoch == world.epoch
    invariants.check(task_id)


def test_an_operator_who_waited_sees_the_renewal_that_came_first(world: World) -> None:
    granted = world.claimed()
    task_id = granted.fence.task_id
    expire(task_id)
    release = partial(
        transitions.release_quiet, world.person(world.operator), task_id, world.sighting(task_id)
    )
    with blocked_task(task_id) as meeting:
        renew = partial(
            meeting.execute,
            "UPDATE claims_lease SET expires_at = clock_timestamp() + interval '1 min' WHERE task_id = %s",
            [task_id],
        )
        (answer,) = race(meeting, [release], renew)
    assert isinstance(answer, Refused)
    assert answer.why is Why.NOT_QUIET
    assert Task.objects.get(id=task_id).state == State.CLAIMED


def test_fifty_calls_with_one_key_are_one_execution(world: World) -> None:
    granted = world.claimed()
    task_id = granted.fence.task_id
    staged = world.staged(granted)
    caller = world.caller(key="deliver-1", request_digest="sha256:1")
    with blocked_task(task_id) as meeting:
        # All but one are turned away at the key, so only one waits for the row.
        def run() -> Any:
            try:
                meeting.arrive()
                return transitions.deliver(
                    caller, granted.fence, granted.input_digest, None, Account(), staged
                )
            finally:
                connection.close()

        with ThreadPoolExecutor(50) as threads:
            running = [threads.submit(run) for _ in range(50)]
            meeting.wait_for(1)
            meeting.let_go()
            answers = [each.result() for each in running]
    delivered = [answer for answer in answers if isinstance(answer, Delivered)]
    assert len({answer.delivery_id for answer in delivered}) == 1
    assert {answer.why for answer in answers if isinstance(answer, Refused)} <= {Why.IN_PROGRESS}
    invariants.check(task_id)
