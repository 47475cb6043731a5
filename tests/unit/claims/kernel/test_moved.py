"""A write that finds another row than the one that was read is a fault of the server, never an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection
from psycopg import IsolationLevel

from claims import decide, kernel, transitions
from claims.decide.rows import TaskAsRead
from claims.outcomes import Granted
from tests.support.effects import prepared, with_effect
from tests.support.world import World, a_world


def taken(world: World, granted: Granted) -> TaskAsRead:
    seen = kernel.hold(world.caller(), granted.fence)
    assert seen is not None
    return seen


def test_a_write_for_a_state_version_that_is_not_there_is_a_fault(world: World) -> None:
    granted = world.claimed()
    seen = taken(world, granted)
    change = decide.release(seen, granted.fence, world.agents[0].id, "night")
    assert isinstance(change, decide.Change)
    moved = replace(seen, task=replace(seen.task, state_version=seen.task.state_version + 5))
    with pytest.raises(RuntimeError, match="moved"):
        kernel.advance(world.caller(), moved, change)


def test_a_write_for_a_version_of_an_effect_that_is_not_there_is_a_fault(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    seen = taken(world, granted)
    moved = replace(seen, effects=tuple(replace(one, version=one.version + 5) for one in seen.effects))
    change = decide.abandon(moved, granted.fence, world.agents[0].id, effect_id, "not needed")
    assert isinstance(change, decide.Change)
    with pytest.raises(RuntimeError, match="moved"):
        kernel.advance(world.caller(), moved, change)


@pytest.mark.django_db(transaction=True)
def test_a_connection_of_a_stricter_level_is_a_fault() -> None:
    world = a_world()
    granted = world.claimed()
    connection.connection.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with pytest.raises(AssertionError, match="READ COMMITTED"):
            transitions.release(world.caller(), granted.fence, "night")
    finally:
        connection.close()
