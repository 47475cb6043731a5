"""What an operator has looked up: kept with its strength, applied by nobody, and standing once it says HAPPENED."""

from __future__ import annotations

import pytest

from claims import decide, transitions
from claims.models import History
from claims.outcomes import EffectMoved, Refused, Why
from claims.vocabulary import EffectState, Said, Verb
from tests.support.effects import (
    a_look,
    effect_row,
    executing,
    keyed,
    long_ago,
    observations,
    state_of,
    unknown,
    with_effect,
)
from tests.support.world import World, a_world


@pytest.fixture
def world(db: None) -> World:
    return a_world()


def looked(world: World, effect_id: str, look: decide.Look, decides: bool = True) -> EffectMoved | Refused:
    return transitions.observe(world.person(world.operator), effect_id, look, decides)


def test_a_look_up_after_the_settle_time_is_strong_and_settles_nothing(world: World) -> None:
    effect_id, _ = unknown(world, with_effect(world))
    long_ago(effect_id, 300)

    moved = looked(world, effect_id, a_look(effect_id, Said.DID_NOT_HAPPEN))

    assert isinstance(moved, EffectMoved)
    assert moved.state is state_of(effect_id) is EffectState.UNKNOWN
    assert observations(effect_id)[-1] == ("DID_NOT_HAPPEN", "LOOK_UP", True, False)
    assert History.objects.order_by("-id")[0].verb == Verb.OBSERVE


@pytest.mark.parametrize("weakness", ["early", "old etag", "does not decide"])
def test_a_look_up_that_was_begun_too_early_or_does_not_decide_is_weak(world: World, weakness: str) -> None:
    effect_id, _ = unknown(world, with_effect(world))
    if weakness != "early":
        long_ago(effect_id, 300)
    changes = {"etag": "1.1"} if weakness == "old etag" else {}

    looked(world, effect_id, a_look(effect_id, **changes), weakness != "does not decide")

    assert observations(effect_id)[-1] == ("HAPPENED", "LOOK_UP", False, False)


def test_what_was_seen_to_have_happened_is_not_sent_again(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = unknown(world, granted)
    long_ago(effect_id, 300)
    looked(world, effect_id, a_look(effect_id))

    refused = transitions.execute(keyed(world), granted.fence, effect_id)

    assert isinstance(refused, Refused)
    assert refused.why is Why.MUST_RECONCILE
    assert effect_row(effect_id).has_happened


def test_looking_while_a_call_is_under_way_leaves_its_permit_alone(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    looked(world, effect_id, a_look(effect_id, Said.CANNOT_TELL))

    confirmed = transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, {"id": "m"})

    assert isinstance(confirmed, EffectMoved)
    assert confirmed.state is EffectState.COMMITTED


def test_only_an_operator_at_hand_looks(world: World) -> None:
    effect_id, _ = unknown(world, with_effect(world))
    callers = {
        Why.FORBIDDEN: world.person(world.reviewer),
        Why.NOT_FOUND: world.caller(),
    }
    for why, caller in callers.items():
        refused = transitions.observe(caller, effect_id, a_look(effect_id), True)
        assert isinstance(refused, Refused)
        assert refused.why is why
    assert len(observations(effect_id)) == 1
