"""A commit in one round trip looks for effects as every other does (claim.v1 section 5)."""

from __future__ import annotations

import pytest

from claims import transitions
from claims.outcomes import Committed, Why
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy
from tests.support.effects import a_slot, prepared, with_slots
from tests.support.records import no_change, why
from tests.support.world import World

pytestmark = pytest.mark.django_db

NOTHING = StagedResult({"done": True}, [])


def test_a_task_with_a_prepared_effect_does_not_commit_itself(sandbox: World) -> None:
    specification = with_slots(evidence=[])
    granted = sandbox.claimed(review_policy=ReviewPolicy.NONE, input=specification)
    effect_id = prepared(sandbox, granted)
    with no_change(granted.fence.task_id):
        answer = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=NOTHING)
        assert why(answer) is Why.EFFECTS_UNRESOLVED
    transitions.abandon(sandbox.caller(), granted.fence, effect_id, "not needed")
    answer = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=NOTHING)
    assert isinstance(answer, Committed), answer


def test_a_task_whose_required_effect_was_never_sent_does_not_commit_itself(sandbox: World) -> None:
    specification = with_slots(a_slot(required=True), evidence=[])
    granted = sandbox.claimed(review_policy=ReviewPolicy.NONE, input=specification)
    with no_change(granted.fence.task_id):
        answer = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=NOTHING)
        assert why(answer) is Why.EFFECTS_UNRESOLVED
