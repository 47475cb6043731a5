"""Many claimers, one task: exactly one wins, whichever door they come through."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection

from claims import transitions
from claims.models import Attempt, History, Pool, Task
from claims.outcomes import Granted, Grants, Refused, Why
from claims.vocabulary import Gate, ReclaimPolicy
from tests.race.meeting import Meeting, blocked_pool, blocked_task, race
from tests.support import invariants
from tests.support.world import World, expire, next_epoch

CLAIMERS = 64
ROUNDS = 1_000 if os.environ.get("FENCEPOST_LONG") else 25


def test_of_64_claimers_that_meet_on_one_task_exactly_one_wins(world: World) -> None:
    agents = [world.agent() for _ in range(CLAIMERS)]
    epoch = world.epoch
    meetings: list[Meeting] = []
    start, end = threading.Barrier(CLAIMERS + 1), threading.Barrier(CLAIMERS + 1)
    tasks = world.tasks(ROUNDS)
    answers: list[list[Granted | Refused]] = [[] for _ in range(ROUNDS)]

    def claimer(number: int) -> None:
        caller = world.caller(agents[number])
        try:
            for position, task_id in enumerate(tasks):
                start.wait()
                meetings[position].arrive()
                answers[position].append(transitions.claim(caller, task_id, 1, epoch))
                end.wait()
        finally:
            connection.close()

    with ThreadPoolExecutor(CLAIMERS) as threads:
        running = [threads.submit(claimer, number) for number in range(CLAIMERS)]
        for task_id in tasks:
            with blocked_task(task_id) as meeting:
                meetings.append(meeting)
                start.wait()
                meeting.wait_for(CLAIMERS)
                meeting.let_go()
            end.wait()
        for each in running:
            each.result()

    for task_id, given in zip(tasks, answers, strict=True):
        assert sum(isinstance(answer, Granted) for answer in given) == 1
        assert {answer.why for answer in given if isinstance(answer, Refused)} == {Why.STALE_STATE}
        assert Attempt.objects.filter(task_id=task_id).count() == 1
        assert History.objects.filter(task_id=task_id, verb="claim").count() == 1
    invariants.check(tasks[0])


@pytest.mark.parametrize("batch", [1, 3])
def test_claimers_of_the_next_task_never_share_one(world: World, batch: int) -> None:
    tasks = world.tasks(12)
    agents = [world.agent() for _ in range(16)]
    with blocked_pool(world.pool.id) as meeting:
        answers = race(
            meeting,
            [
                partial(transitions.claim_next, world.caller(agent), world.pool.name, world.epoch, batch)
                for agent in agents
            ],
        )
    grants = [grant for answer in answers if isinstance(answer, Grants) for grant in answer.grants]
    assert not [answer for answer in answers if isinstance(answer, Refused)]
    assert len({grant.fence.task_id for grant in grants}) == len(grants)
    # A claimer may find every free task in another's hands for a moment, but nobody waits for nothing.
    assert Task.objects.filter(id__in=tasks, state="CLAIMED").count() == len(grants) > 0
    for task_id in tasks:
        invariants.check(task_id)


def test_an_expired_auto_claim_is_taken_by_exactly_one(world: World) -> None:
    granted = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    task_id = granted.fence.task_id
    expire(task_id)
    agents = [world.agent() for _ in range(8)]
    with blocked_task(task_id) as meeting:
        answers = race(
            meeting,
            [partial(transitions.claim, world.caller(agent), task_id, 2, world.epoch) for agent in agents],
        )
    assert sum(isinstance(answer, Granted) for answer in answers) == 1
    invariants.check(task_id)


Claim = Callable[[World], Callable[[], object]]


def _claim_one(world: World) -> Callable[[], object]:
    return partial(transitions.claim, world.caller(), world.task(), 1, world.epoch)


def _claim_next(world: World) -> Callable[[], object]:
    world.task()
    return partial(transitions.claim_next, world.caller(), world.pool.name, world.epoch)


def _claim_several(world: World) -> Callable[[], object]:
    world.task()
    return partial(transitions.claim_next, world.caller(), world.pool.name, world.epoch, 2)


CLAIMS = pytest.mark.parametrize("claim", [_claim_one, _claim_next, _claim_several])


@CLAIMS
def test_a_claim_that_waited_behind_a_raise_reads_the_new_epoch(world: World, claim: Claim) -> None:
    contender = claim(world)
    with blocked_pool(world.pool.id) as meeting:
        raise_epoch = partial(
            meeting.execute,
            "UPDATE claims_pool SET scheduler_epoch = %s WHERE id = %s",
            [next_epoch(), world.pool.id],
        )
        (answer,) = race(meeting, [contender], raise_epoch)
    assert isinstance(answer, Refused)
    assert answer.why is Why.OLD_EPOCH


@CLAIMS
def test_no_grant_follows_a_gate_that_closed_while_the_claim_waited(world: World, claim: Claim) -> None:
    contender = claim(world)
    with blocked_pool(world.pool.id) as meeting:
        close = partial(
            meeting.execute, "UPDATE claims_pool SET gate = 'DRAINING' WHERE id = %s", [world.pool.id]
        )
        (answer,) = race(meeting, [contender], close)
    assert isinstance(answer, Refused)
    assert answer.why is Why.GATE_CLOSED
    assert Pool.objects.get(id=world.pool.id).gate == Gate.DRAINING


def test_a_claim_that_waited_for_the_row_reads_the_epoch_after_it_has_it(world: World) -> None:
    task_id = world.task()
    with blocked_task(task_id) as meeting:
        raise_epoch = partial(
            meeting.execute,
            "UPDATE claims_pool SET scheduler_epoch = %s WHERE id = %s",
            [next_epoch(), world.pool.id],
        )
        (answer,) = race(
            meeting, [partial(transitions.claim, world.caller(), task_id, 1, world.epoch)], raise_epoch
        )
    assert isinstance(answer, Refused)
    assert answer.why is Why.OLD_EPOCH


def test_a_lease_counts_from_when_the_row_was_had_and_not_from_the_call(world: World) -> None:
    task_id = world.task()
    with blocked_task(task_id) as meeting:
        (answer,) = race(
            meeting,
            [partial(transitions.claim, world.caller(), task_id, 1, world.epoch, 30)],
            lambda: meeting.execute("SELECT pg_sleep(1.2)"),
        )
    assert isinstance(answer, Granted)
    started = Attempt.objects.get(id=answer.fence.attempt_id).started_at
    assert (answer.lease_expires_at - started).total_seconds() == 30
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp() - %s)", [started])
        assert cursor.fetchone()[0] < 1.2
