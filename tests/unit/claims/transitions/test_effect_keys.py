"""A key names the permit of the agent that used it, also where another agent used the same one before."""

from __future__ import annotations

import pytest

from claims import transitions
from claims.outcomes import EffectMoved, Left, Permitted
from claims.vocabulary import EffectState, Said
from tests.support.effects import a_look, long_ago, prepared, state_of, with_effect
from tests.support.world import World

pytestmark = pytest.mark.django_db


def test_handing_back_a_key_hands_back_the_callers_own_permit(world: World) -> None:
    granted = with_effect(world)
    effect_id, task_id = prepared(world, granted), granted.fence.task_id
    first, second = world.caller(key="same"), world.caller(world.agents[1], key="same")
    permit = transitions.execute(first, granted.fence, effect_id)
    assert isinstance(permit, Permitted)
    transitions.unknown(world.caller(), granted.fence, effect_id, permit.permit_id)
    long_ago(effect_id, 3_600)
    looked = a_look(effect_id, Said.DID_NOT_HAPPEN)
    assert isinstance(transitions.reconcile(world.caller(), granted.fence, effect_id, looked), EffectMoved)
    assert isinstance(transitions.release(world.caller(), granted.fence, "night"), Left)

    again = world.claimed(world.agents[1], task_id)
    assert isinstance(transitions.execute(second, again.fence, effect_id), Permitted)
    handed = transitions.hand_back(world.caller(world.agents[1]), again.fence, effect_id, "same")
    assert isinstance(handed, EffectMoved), handed
    assert state_of(effect_id) is EffectState.UNKNOWN
