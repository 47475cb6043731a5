"""An epoch's raise and a verb of the pool: one of them waits for the other, at whichever statement they meet.

A verb that came first is accepted, and the raise returns after it. A verb that comes second has
waited before its first statement was through, and is refused by what it then reads afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from claims import transitions
from claims.fences import Fence
from claims.models import Attempt, PoolEvent, Task
from claims.outcomes import EpochRaised, GateSet, Granted, Grants, Refused, Why
from claims.transitions import StagedResult
from claims.vocabulary import Gate, ReviewPolicy
from tests.race.meeting import Meeting, blocked, blocked_pool, in_turn, race
from tests.support import invariants
from tests.support.records import why
from tests.support.world import World, a_world, judgement

Call = Callable[[], Any]
ARGS = f"sha256:{'a' * 64}"
RESULT = StagedResult({"done": True}, [])
NOTHING_ASKED = {"task": "Count", "acceptance": [], "evidence": []}


def raising(world: World) -> Call:
    """A raise of the epoch that is there now."""
    caller, epoch = world.person(world.operator), world.epoch
    return lambda: transitions.raise_epoch(caller, world.pool.name, epoch, "restored")


def closing(world: World) -> Call:
    caller = world.person(world.operator)
    return lambda: transitions.gate(caller, world.pool.name, Gate.DRAINING, "an upgrade")


@contextmanager
def blocked_pool_row(world: World) -> Iterator[Meeting]:
    """A raise waits here with its exclusive lock in its hand."""
    with blocked("SELECT 1 FROM claims_pool WHERE id = %s FOR UPDATE", [world.pool.id]) as meeting:
        yield meeting


def a_claim(world: World) -> Granted:
    return world.claimed(input=NOTHING_ASKED, review_policy=ReviewPolicy.NONE)


def _with_fence(verb: Callable[[World, Granted], Any]) -> Callable[[World], tuple[UUID, Call]]:
    def stage(world: World) -> tuple[UUID, Call]:
        granted = a_claim(world)
        return granted.fence.task_id, lambda: verb(world, granted)

    return stage


def _claiming(verb: Callable[[World, UUID, int], Any]) -> Callable[[World], tuple[UUID, Call]]:
    def stage(world: World) -> tuple[UUID, Call]:
        task_id, epoch = world.task(), world.epoch
        return task_id, lambda: verb(world, task_id, epoch)

    return stage


def _accepting(world: World) -> tuple[UUID, Call]:
    delivery = world.delivered()
    caller, saw = world.person(world.reviewer), judgement(delivery)
    return delivery.task_id, lambda: transitions.accept(caller, delivery.id, saw)


POINTS: dict[str, tuple[Callable[[World], tuple[UUID, Call]], Why]] = {
    "renew": (_with_fence(lambda w, g: transitions.renew(w.caller(), g.fence, 60)), Why.FENCED),
    "renew, the long way": (
        _with_fence(lambda w, g: transitions.renew(w.caller(key="renew-1"), g.fence, 60)),
        Why.FENCED,
    ),
    "progress": (_with_fence(lambda w, g: transitions.progress(w.caller(), g.fence, "on it")), Why.FENCED),
    "release": (_with_fence(lambda w, g: transitions.release(w.caller(), g.fence, "night")), Why.FENCED),
    "fail": (_with_fence(lambda w, g: transitions.fail(w.caller(), g.fence, "no", True)), Why.FENCED),
    "deliver": (
        _with_fence(lambda w, g: transitions.deliver(w.caller(), g.fence, g.input_digest, staged=RESULT)),
        Why.FENCED,
    ),
    "commit": (
        _with_fence(lambda w, g: transitions.commit(w.caller(), g.fence, g.input_digest, staged=RESULT)),
        Why.FENCED,
    ),
    "commit, the long way": (
        _with_fence(
            lambda w, g: transitions.commit(
                w.caller(), g.fence, g.input_digest, staged=RESULT, cost={"tokens": 1}
            )
        ),
        Why.FENCED,
    ),
    "accept-tool": (
        _with_fence(lambda w, g: transitions.accept_tool(w.caller(), g.fence, "shell", ARGS)),
        Why.FENCED,
    ),
    "accept": (_accepting, Why.FENCED),
    "claim": (_claiming(lambda w, task, epoch: transitions.claim(w.caller(), task, 1, epoch)), Why.OLD_EPOCH),
    "claim-next": (
        _claiming(lambda w, _, epoch: transitions.claim_next(w.caller(), w.pool.name, epoch)),
        Why.OLD_EPOCH,
    ),
    "claim-next, the long way": (
        _claiming(lambda w, _, epoch: transitions.claim_next(w.caller(), w.pool.name, epoch, 2)),
        Why.OLD_EPOCH,
    ),
}


@pytest.fixture
def sandbox(transactional_db: None) -> World:
    return a_world(allows_unreviewed=True)


@pytest.mark.parametrize("point", POINTS)
def test_a_verb_that_waits_behind_a_raise_is_refused_by_the_epoch_it_then_reads(
    sandbox: World, point: str
) -> None:
    stage, expected = POINTS[point]
    task_id, verb = stage(sandbox)
    before = Task.objects.get(id=task_id)
    with blocked_pool_row(sandbox) as meeting:
        raised, refused = in_turn(meeting, [raising(sandbox), verb])
    assert isinstance(raised, EpochRaised)
    assert why(refused) is expected
    assert Task.objects.get(id=task_id).state_version == before.state_version
    invariants.check(task_id)


MEETINGS: dict[str, tuple[str, Callable[[Fence], list[Any]]]] = {
    "the task's row": ("SELECT 1 FROM claims_task WHERE id = %s FOR UPDATE", lambda fence: [fence.task_id]),
    "the fresh read": ("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", lambda fence: []),
    "the write": ("SELECT 1 FROM claims_attempt WHERE id = %s FOR UPDATE", lambda fence: [fence.attempt_id]),
}
"""Statements 2, 3 and 4 of a verb that holds the shared side of the lock already."""
READ_AFRESH = {False: "claims_lease", True: "claims_dependency"}
"""A table that statement 3 is the first to read: the long way's, and that of the one round trip."""


@pytest.mark.parametrize("statement", MEETINGS)
@pytest.mark.parametrize("is_hot", [False, True], ids=["the long way", "in one round trip"])
def test_a_raise_waits_for_a_verb_that_is_under_way_whatever_that_waits_for(
    sandbox: World, statement: str, is_hot: bool
) -> None:
    granted = a_claim(sandbox)
    lock, values = MEETINGS[statement]
    cost = None if is_hot else {"tokens": 1}

    def verb() -> Any:
        return transitions.commit(
            sandbox.caller(), granted.fence, granted.input_digest, staged=RESULT, cost=cost
        )

    with blocked(lock.format(READ_AFRESH[is_hot]), values(granted.fence)) as meeting:
        committed, raised = in_turn(meeting, [verb, raising(sandbox)])
    assert not isinstance(committed, Refused)
    assert isinstance(raised, EpochRaised)
    ended = Attempt.objects.get(id=granted.fence.attempt_id).ended_at
    told = PoolEvent.objects.get(pool=sandbox.pool)
    assert ended is not None
    assert ended < told.at, "the raise read its clock after the verb was through"
    invariants.check(granted.fence.task_id)


def test_of_two_raises_of_one_epoch_one_wins_and_the_other_hears_which_there_is(world: World) -> None:
    with blocked_pool(world.pool.id) as meeting:
        answers = race(meeting, [raising(world), raising(world)])
    won = [answer for answer in answers if isinstance(answer, EpochRaised)]
    lost = [answer for answer in answers if isinstance(answer, Refused)]
    assert len(won) == len(lost) == 1
    assert lost[0].why is Why.EPOCH_CONFLICT
    assert lost[0].extra["schedulerEpoch"] == won[0].scheduler_epoch == world.epoch
    assert PoolEvent.objects.filter(pool=world.pool).count() == 1


@pytest.mark.parametrize("grants", [1, 2], ids=["in one round trip", "the long way"])
def test_a_claim_that_waits_behind_a_closing_gate_is_not_granted(world: World, grants: int) -> None:
    world.tasks(2)
    epoch = world.epoch

    def verb() -> Any:
        return transitions.claim_next(world.caller(), world.pool.name, epoch, grants)

    with blocked_pool_row(world) as meeting:
        closed, refused = in_turn(meeting, [closing(world), verb])
    assert isinstance(closed, GateSet)
    assert why(refused) is Why.GATE_CLOSED
    assert not Attempt.objects.filter(agent=world.agents[0]).exists()


def test_a_gate_closes_after_the_grant_that_is_under_way(world: World) -> None:
    task_id, epoch = world.task(), world.epoch

    def verb() -> Any:
        return transitions.claim(world.caller(), task_id, 1, epoch)

    with blocked("SELECT 1 FROM claims_task WHERE id = %s FOR UPDATE", [task_id]) as meeting:
        granted, closed = in_turn(meeting, [verb, closing(world)])
    assert isinstance(granted, Granted)
    assert closed == GateSet(world.pool.name, Gate.DRAINING, world.epoch)
    again = transitions.claim_next(world.caller(), world.pool.name, epoch)
    assert not isinstance(again, Grants)
    invariants.check(task_id)


def test_an_adoption_and_a_claim_of_the_same_task_grant_it_once(world: World) -> None:
    granted = world.claimed()
    world.stage(granted)
    transitions.release(world.caller(), granted.fence, "night")
    task_id, epoch = granted.fence.task_id, world.epoch
    sighting, version = world.sighting(task_id), Task.objects.get(id=task_id).state_version

    def adopting() -> Any:
        return transitions.adopt(
            world.person(world.operator),
            task_id,
            sighting,
            world.agents[1].name,
            attempt_id=granted.fence.attempt_id,
        )

    def claiming() -> Any:
        return transitions.claim(world.caller(), task_id, version, epoch)

    with blocked("SELECT 1 FROM claims_task WHERE id = %s FOR UPDATE", [task_id]) as meeting:
        answers = race(meeting, [adopting, claiming])
    assert sorted(isinstance(answer, Granted) for answer in answers) == [False, True]
    assert [why(answer) for answer in answers if isinstance(answer, Refused)] == [Why.STALE_STATE]
    invariants.check(task_id)
