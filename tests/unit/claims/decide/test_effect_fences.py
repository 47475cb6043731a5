"""What is said of an effect settles it only with every field of the fence, whatever the permit says."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from claims import decide
from claims.decide import Look, Recorded
from claims.outcomes import Refused, Why
from claims.vocabulary import EffectState, Said, Via
from tests.support.effect_rows import EFFECT, SLOT, a_statement, an_effect, settled, spoken, with_effects
from tests.support.rows import AGENT, CANCELS, EPOCH, GENERATION, a_fence

LOST: list[dict[str, Any]] = [
    {"scheduler_epoch": EPOCH - 1},
    {"claim_generation": GENERATION - 1},
    {"cancel_generation": CANCELS + 1},
    {"attempt_id": UUID(int=99)},
]
each_field = pytest.mark.parametrize("field", LOST, ids=lambda field: next(iter(field)))


@each_field
def test_what_a_lost_fence_says_of_a_live_permit_is_kept_and_settles_nothing(field: dict[str, Any]) -> None:
    seen = with_effects(an_effect(EffectState.EXECUTING))
    for via in (Via.CONFIRM, Via.UNKNOWN, Via.HAND_BACK):
        told = decide.tell(seen, a_fence(**field), AGENT, EFFECT, a_statement(via), spoken())
        assert isinstance(told, Recorded)
        assert told.refusal is not None
        assert (told.refusal.why, told.observation.is_applied) == (Why.MUST_RECONCILE, False)
        assert told.change.effect is not None
        assert told.change.effect.target is EffectState.EXECUTING


@each_field
def test_the_look_up_of_a_lost_fence_is_refused(field: dict[str, Any]) -> None:
    seen = with_effects(settled())
    look = Look(Said.HAPPENED, "http", "3.1", {"id": "msg-1"})
    answer = decide.reconcile(seen, a_fence(**field), AGENT, EFFECT, SLOT, look)
    assert isinstance(answer, Refused)
    assert answer.why in (Why.FENCED, Why.CANCELLED)
