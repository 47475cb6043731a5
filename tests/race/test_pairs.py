"""Each verb against each other: what a race answers is what one of the two orders answers.

Both verbs are first run one after the other, in both orders, each on a task of its own. Then
they meet on a third one. Their answers and where the task ends must be those of one order:
a race has no outcome of its own.
"""

from __future__ import annotations

import os
from itertools import combinations_with_replacement
from typing import Any

import pytest

from claims.models import Task
from tests.race.meeting import blocked_pool, blocked_task, in_turn
from tests.race.scenes import VERBS, Call, Scene, Setting, ending, settings_of, stage
from tests.support import invariants
from tests.support.world import World, a_world

RUNS = 10 if os.environ.get("FENCEPOST_LONG") else 1
PAIRS = list(combinations_with_replacement(VERBS, 2))


@pytest.fixture
def world(transactional_db: None) -> World:
    return a_world(allows_unreviewed=True)


@pytest.mark.parametrize("one", VERBS)
def test_a_race_ends_as_one_of_the_two_orders_does(world: World, one: str) -> None:
    for number, (first, other) in enumerate(PAIRS):
        if first != one:
            continue
        for setting in settings_of(first, other):
            is_swapped = number % 2 == 1 and first != other
            _check_pair(world, first, other, setting, is_swapped=is_swapped)


def _check_pair(world: World, one: str, other: str, setting: Setting, *, is_swapped: bool) -> None:
    orders = [_in_order(world, one, other, setting, is_swapped=False)]
    if one != other:
        orders.append(_in_order(world, one, other, setting, is_swapped=True))
    for run in range(RUNS):
        scene = _staged(world, one, other, setting)
        answers = _meet(scene, one, other, is_swapped=is_swapped ^ (run % 2 == 1 and one != other))
        ended = ending(scene, answers)
        assert ended in orders, f"{one} against {other} from {setting}: {ended} not in {orders}"
        _check(scene)


def _meet(scene: Scene, one: str, other: str, *, is_swapped: bool) -> list[Any]:
    """Both wait behind a third transaction: at the task's row, or before it where the pool is written."""
    calls = _calls(scene, one, other)
    is_of_the_pool = VERBS[one].is_of_the_pool or VERBS[other].is_of_the_pool
    pool_id = scene.world.pool.id
    with blocked_pool(pool_id) if is_of_the_pool else blocked_task(scene.task_id) as meeting:
        if is_swapped:
            return in_turn(meeting, calls[::-1])[::-1]
        return in_turn(meeting, calls)


def _in_order(world: World, one: str, other: str, setting: Setting, *, is_swapped: bool) -> list[Any]:
    scene = _staged(world, one, other, setting)
    calls = _calls(scene, one, other)
    answers: list[Any] = [None, None]
    for position in (1, 0) if is_swapped else (0, 1):
        answers[position] = calls[position]()
    return ending(scene, answers)


def _staged(world: World, one: str, other: str, setting: Setting) -> Scene:
    return stage(world, *setting, is_successor="outdate" in (one, other))


def _calls(scene: Scene, one: str, other: str) -> list[Call]:
    return [VERBS[one].call(scene, scene.first), VERBS[other].call(scene, scene.second)]


def _check(scene: Scene) -> None:
    """Invariants of the task, of its next revision if there is one, and of what came before it."""
    lineages = [scene.task_id, *([scene.newer.task.lineage_id] if scene.newer else [])]
    for task_id in Task.objects.filter(lineage_id__in=lineages).values_list("id", flat=True):
        invariants.check(task_id)
