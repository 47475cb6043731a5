"""Who waits for whom: claim-next passes over what is held, and switching an agent off waits for its grants."""

from __future__ import annotations

from functools import partial

import pytest

from claims import transitions
from claims.kernel.reading import AGENT_LOCK
from claims.models import Agent, Task
from claims.outcomes import Grants, Left
from claims.vocabulary import State
from tests.race.meeting import blocked, blocked_task, race
from tests.support.world import World


@pytest.mark.parametrize("most", [1, 2])
def test_claim_next_passes_over_a_task_that_somebody_holds(world: World, most: int) -> None:
    held, free = world.tasks(2)
    with blocked_task(held):
        answer = transitions.claim_next(world.caller(), world.pool.name, world.epoch, most)
    assert isinstance(answer, Grants)
    assert [granted.fence.task_id for granted in answer.grants] == [free]


def test_an_agent_is_switched_off_after_the_grant_that_is_under_way(world: World) -> None:
    agent = world.agents[0]
    granted = world.claimed(agent)
    switch_off = partial(transitions.disable_agent, world.person(world.owner), agent.id)
    shared = "SELECT pg_advisory_xact_lock_shared(%s::int, %s::int)"
    with blocked(shared, [AGENT_LOCK, agent.id]) as meeting:

        def is_not_off_yet() -> None:
            assert not Agent.objects.get(id=agent.id).is_disabled

        (left,) = race(meeting, [switch_off], is_not_off_yet)
    assert isinstance(left, list)
    assert [type(each) for each in left] == [Left]
    assert Task.objects.get(id=granted.fence.task_id).state == State.HELD
