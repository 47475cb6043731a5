"""Each verb against each other: what a race answers is what one of the two orders answers.

Both verbs are first run one after the other, in both orders, each on a task of its own. Then
they meet on a third one. Their answers and where the task ends must be those of one order:
a race has no outcome of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import Any
from uuid import UUID

import pytest

from claims import transitions
from claims.fences import Fence
from claims.models import Agent, Attempt, Delivery, Task
from claims.outcomes import Granted, Refused
from claims.transitions import Account
from claims.vocabulary import ReclaimPolicy, State, Verdict
from tests.race.meeting import blocked_task, race
from tests.support import invariants
from tests.support.world import World, expire, judgement

RUNS = 20 if os.environ.get("FENCEPOST_LONG") else 2


@dataclass
class Scene:
    """One task in the state that a verb needs, and what the callers saw of it beforehand."""

    world: World
    task_id: UUID
    granted: Granted
    first: Agent
    second: Agent
    delivery: Delivery | None = None

    @property
    def fence(self) -> Fence:
        return self.granted.fence


def _claimed(world: World, policy: ReclaimPolicy = ReclaimPolicy.MANUAL) -> Scene:
    first, second = world.agents[0], world.agents[1]
    granted = world.claimed(first, reclaim_policy=policy)
    world.staged(granted, first)
    return Scene(world, granted.fence.task_id, granted, first, second)


def _expired(world: World) -> Scene:
    scene = _claimed(world, ReclaimPolicy.AUTO)
    expire(scene.task_id)
    return scene


def _quiet(world: World) -> Scene:
    scene = _claimed(world)
    expire(scene.task_id)
    return scene


def _delivered(world: World) -> Scene:
    scene = _claimed(world)
    scene.delivery = world.delivered(scene.first, scene.granted)
    return scene


Call = Callable[[], Any]


def _claim(scene: Scene, who: Agent) -> Call:
    version = Task.objects.values_list("state_version", flat=True).get(id=scene.task_id)
    return partial(transitions.claim, scene.world.caller(who), scene.task_id, version, scene.world.epoch)


def _renew(scene: Scene, _: Agent) -> Call:
    return partial(transitions.renew, scene.world.caller(scene.first), scene.fence, 60)


def _release(scene: Scene, _: Agent) -> Call:
    return partial(transitions.release, scene.world.caller(scene.first), scene.fence, "no time")


def _fail(scene: Scene, _: Agent) -> Call:
    return partial(transitions.fail, scene.world.caller(scene.first), scene.fence, "broken", True)


def _deliver(scene: Scene, _: Agent) -> Call:
    staged = scene.world.staged(scene.granted, scene.first) if scene.delivery is None else None
    return partial(
        transitions.deliver,
        scene.world.caller(scene.first),
        scene.fence,
        scene.granted.input_digest,
        None,
        Account(),
        staged,
    )


def _accept(scene: Scene, _: Agent) -> Call:
    return _decision(scene, transitions.accept, Verdict.MET)


def _request_changes(scene: Scene, _: Agent) -> Call:
    return _decision(scene, transitions.request_changes, Verdict.NOT_MET)


def _reject(scene: Scene, _: Agent) -> Call:
    return _decision(scene, transitions.reject, Verdict.NOT_MET)


def _decision(scene: Scene, verb: Callable[..., Any], verdict: Verdict) -> Call:
    world = scene.world
    assert scene.delivery is not None
    return partial(
        verb, world.person(world.reviewer), scene.delivery.id, judgement(scene.delivery, verdict, "louder")
    )


def _release_quiet(scene: Scene, _: Agent) -> Call:
    world = scene.world
    return partial(
        transitions.release_quiet, world.person(world.operator), scene.task_id, world.sighting(scene.task_id)
    )


def _reassign(scene: Scene, _: Agent) -> Call:
    world = scene.world
    sighting = world.sighting(scene.task_id)
    return partial(
        transitions.reassign, world.person(world.operator), scene.task_id, sighting, scene.second.name
    )


def _extend(scene: Scene, _: Agent) -> Call:
    world = scene.world
    return partial(
        transitions.extend_once, world.person(world.operator), scene.task_id, world.sighting(scene.task_id)
    )


def _lapse(scene: Scene, _: Agent) -> Call:
    return partial(transitions.lapse, scene.world.caller(scene.first), scene.task_id)


def _adjust(scene: Scene, who: Agent) -> Call:
    world = scene.world
    return partial(
        transitions.adjust, world.person(world.preparer), scene.task_id, {"title": f"Changed by {who.name}"}
    )


VERBS: dict[str, tuple[Callable[[Scene, Agent], Call], Callable[[World], Scene]]] = {
    "claim": (_claim, _expired),
    "renew": (_renew, _claimed),
    "release": (_release, _claimed),
    "fail": (_fail, _claimed),
    "deliver": (_deliver, _claimed),
    "accept": (_accept, _delivered),
    "request-changes": (_request_changes, _delivered),
    "reject": (_reject, _delivered),
    "release-quiet": (_release_quiet, _quiet),
    "reassign": (_reassign, _quiet),
    "extend-once": (_extend, _quiet),
    "lapse": (_lapse, _expired),
    "adjust": (_adjust, _claimed),
}
PAIRS = list(combinations_with_replacement(VERBS, 2))


def _scenes(one: str, other: str) -> list[Callable[[World], Scene]]:
    """Where the two can meet; a decision needs something to decide on."""
    scenes = list(dict.fromkeys((VERBS[one][1], VERBS[other][1])))
    return [_delivered] if _delivered in scenes else scenes


def _said(answer: Any) -> str:
    if isinstance(answer, Refused):
        return answer.why.value
    return type(answer).__name__


def _seen(scene: Scene, answers: list[Any]) -> tuple[Any, ...]:
    """What can be told apart of an ending: the answers, and where the task and its attempts are."""
    task = Task.objects.get(id=scene.task_id)
    outcomes = sorted(str(attempt.outcome) for attempt in Attempt.objects.filter(task_id=task.id))
    runner = {scene.first.id: "first", scene.second.id: "second"}.get(task.runner_id or 0)
    return (
        *map(_said, answers),
        State(task.state).value,
        task.state_version,
        task.claim_generation,
        runner,
        tuple(outcomes),
    )


@pytest.mark.parametrize("one", VERBS)
def test_a_race_ends_as_one_of_the_two_orders_does(world: World, one: str) -> None:
    for first, other in PAIRS:
        if first != one:
            continue
        for stage in _scenes(first, other):
            _check_pair(world, first, other, stage)


def _check_pair(world: World, one: str, other: str, stage: Callable[[World], Scene]) -> None:
    orders = [_in_order(world, one, other, stage, is_swapped=swapped) for swapped in (False, True)]
    for _ in range(RUNS):
        scene = stage(world)
        contenders = [VERBS[one][0](scene, scene.first), VERBS[other][0](scene, scene.second)]
        with blocked_task(scene.task_id) as meeting:
            answers = race(meeting, contenders)
        assert _seen(scene, answers) in orders, (
            f"{one} against {other} from {stage.__name__}: {_seen(scene, answers)} not in {orders}"
        )
        invariants.check(scene.task_id)


def _in_order(
    world: World, one: str, other: str, stage: Callable[[World], Scene], *, is_swapped: bool
) -> tuple[Any, ...]:
    scene = stage(world)
    calls = [VERBS[one][0](scene, scene.first), VERBS[other][0](scene, scene.second)]
    answers: list[Any] = [None, None]
    for position in (1, 0) if is_swapped else (0, 1):
        answers[position] = calls[position]()
    invariants.check(scene.task_id)
    return _seen(scene, answers)
