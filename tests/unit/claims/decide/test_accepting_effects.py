"""What is accepted has no effect in doubt and lacks no required one, whatever the delivery was told (claim.v1 section 5)."""

from __future__ import annotations

from dataclasses import replace

from claims import decide
from claims.decide.rows import EffectRow
from claims.inputs import Slot, parse_input
from claims.outcomes import Refused, Why
from claims.vocabulary import EffectState
from tests.support.effect_rows import SLOT, an_effect, settled, with_effects
from tests.support.rows import COMMIT, a_delivered_task, a_delivery, a_judgement
from tests.support.world import a_specification


def accepted(*effects: EffectRow, slot: Slot = SLOT) -> decide.Change | Refused:
    seen = with_effects(*effects, seen=a_delivered_task())
    specification = parse_input(a_specification(effects=[slot.model_dump(exclude_none=True)]))
    return decide.accept(seen, a_delivery(), a_judgement(), specification, COMMIT)


def test_a_delivery_with_an_effect_in_doubt_is_not_accepted() -> None:
    for effect in (settled(), an_effect(EffectState.EXECUTING), an_effect()):
        answer = accepted(effect)
        assert isinstance(answer, Refused)
        assert answer.why is Why.EFFECTS_UNRESOLVED


def test_a_delivery_that_lacks_a_required_effect_is_not_accepted() -> None:
    required = SLOT.model_copy(update={"required": True})
    answer = accepted(slot=required)
    assert isinstance(answer, Refused)
    assert answer.why is Why.EFFECTS_UNRESOLVED
    committed = replace(settled(EffectState.COMMITTED), is_required=True)
    assert isinstance(accepted(committed, slot=required), decide.Change)


def test_a_delivery_whose_effects_are_settled_is_accepted() -> None:
    for state in (EffectState.COMMITTED, EffectState.ABANDONED, EffectState.WRITTEN_OFF):
        assert isinstance(accepted(settled(state)), decide.Change)
