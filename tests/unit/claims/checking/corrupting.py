"""The registry of planted corruptions, and the lives that they begin with."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from claims import transitions
from claims.vocabulary import Said
from tests.support.effects import a_look, executing, long_ago, permitted, with_effect
from tests.support.walks_of_graphs import finish, graph
from tests.support.world import World

Plant = Callable[[World], object]
PLANTED: dict[str, tuple[str, str, Plant]] = {}


def planted(invariant: str, sentence: str) -> Callable[[Plant], None]:
    """Register a corruption with the invariant that it breaks and a part of the sentence that says so."""

    def keep(function: Plant) -> None:
        name = function.__name__.strip("_").replace("_", " ")
        assert name not in PLANTED
        PLANTED[name] = (invariant, sentence, function)

    return keep


def done(world: World) -> UUID:
    """A task that was claimed, delivered and accepted."""
    task_id = world.task()
    finish(world, task_id)
    return task_id


def released(world: World) -> UUID:
    """A task that was claimed, given back, and claimed again."""
    granted = world.claimed()
    transitions.release(world.caller(), granted.fence, "night")
    return world.claimed(task_id=granted.fence.task_id).fence.task_id


def sent_twice(world: World) -> str:
    """An effect that did not happen the first time, and was permitted again."""
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    long_ago(effect_id, 600)
    transitions.reconcile(world.caller(), granted.fence, effect_id, a_look(effect_id, Said.DID_NOT_HAPPEN))
    permitted(world, granted, effect_id)
    return effect_id


def successor(world: World) -> UUID:
    """A task that opened when its predecessor was DONE."""
    nodes = graph(world, first=(), second=("first",))
    finish(world, nodes["first"])
    return nodes["second"]
