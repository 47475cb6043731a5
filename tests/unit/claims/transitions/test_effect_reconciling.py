"""How a doubt ends: by the declared look-up, begun late enough, or by an operator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from claims import transitions
from claims.decide import Look
from claims.models import Observation
from claims.outcomes import EffectMoved, Granted, Permitted, Refused, Why
from claims.vocabulary import EffectState, Said, Source, State
from tests.support.effects import (
    LOOKUP,
    ONCE_ONLY,
    RECEIPT,
    a_look,
    approvals,
    approved,
    effect_row,
    etag_of,
    executing,
    keyed,
    long_ago,
    observations,
    permitted,
    prepared,
    state_of,
    unknown,
    with_effect,
)
from tests.support.invariants import check
from tests.support.records import no_change, one_change, refusals_of, verbs_of, why
from tests.support.world import World

pytestmark = pytest.mark.django_db

SETTLED_LONG_AGO = 3_600


def refused(answer: object) -> Refused:
    assert isinstance(answer, Refused), answer
    return answer


def in_doubt(world: World, seconds: int = SETTLED_LONG_AGO, **slot: Any) -> tuple[Granted, str, Permitted]:
    """An effect of which nobody can tell, its permit handed out so many seconds ago."""
    granted = with_effect(world, **slot)
    effect_id, permit = unknown(world, granted)
    long_ago(effect_id, seconds)
    return granted, effect_id, permit


def by_operator(world: World, effect_id: str, look: Look) -> EffectMoved | Refused:
    seen = replace(look, etag=look.etag or etag_of(effect_id))
    return transitions.reconcile_as_operator(
        world.person(world.operator), effect_id, seen, effect_row(effect_id).version
    )


def test_a_strong_observation_that_it_happened_commits_the_effect(world: World) -> None:
    granted, effect_id, _ = in_doubt(world)
    look = a_look(effect_id, receipt={"resourceEtag": 'W/"9"'})
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        moved = transitions.reconcile(world.caller(), granted.fence, effect_id, look)
    assert isinstance(moved, EffectMoved)
    effect = effect_row(effect_id)
    assert (effect.state, effect.receipt, effect.resource_etag) == ("COMMITTED", look.receipt, 'W/"9"')
    assert observations(effect_id)[-1] == ("HAPPENED", "LOOK_UP", True, True)
    check(granted.fence.task_id)


def test_a_strong_observation_that_it_did_not_happen_prepares_the_same_effect_again(world: World) -> None:
    granted, effect_id, first = in_doubt(world)
    look = a_look(effect_id, Said.DID_NOT_HAPPEN)
    moved = transitions.reconcile(world.caller(), granted.fence, effect_id, look)
    assert isinstance(moved, EffectMoved)
    assert (moved.effect_id, state_of(effect_id)) == (effect_id, EffectState.PREPARED)
    second = permitted(world, granted, effect_id)
    assert second.permit_id != first.permit_id
    assert effect_row(effect_id).permits == 2


def test_the_next_holder_reconciles_what_the_one_before_left_in_doubt(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    transitions.release(world.caller(), granted.fence, "night")
    other = world.agents[1]
    again = world.claimed(other, granted.fence.task_id)
    long_ago(effect_id, SETTLED_LONG_AGO)
    moved = transitions.reconcile(world.caller(other), again.fence, effect_id, a_look(effect_id))
    assert isinstance(moved, EffectMoved)
    assert state_of(effect_id) is EffectState.COMMITTED


def test_a_runner_that_cannot_tell_leaves_it_unknown_and_says_so(world: World) -> None:
    granted, effect_id, _ = in_doubt(world)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        moved = transitions.reconcile(
            world.caller(), granted.fence, effect_id, a_look(effect_id, Said.CANNOT_TELL)
        )
    assert isinstance(moved, EffectMoved)
    assert moved.state is EffectState.UNKNOWN
    assert observations(effect_id)[-1] == ("CANNOT_TELL", "LOOK_UP", True, False)


@pytest.mark.parametrize("said", list(Said))
def test_an_observation_begun_before_the_settle_time_is_weak_and_kept(world: World, said: Said) -> None:
    granted, effect_id, _ = in_doubt(world, seconds=119)
    look = a_look(effect_id, said)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        answer = refused(transitions.reconcile(world.caller(), granted.fence, effect_id, look))
    assert answer.why is Why.WEAK_OBSERVATION
    effect = effect_row(effect_id)
    assert (effect.state, effect.has_happened) == (EffectState.UNKNOWN, said is Said.HAPPENED)
    assert observations(effect_id)[-1] == (said.value, "LOOK_UP", False, False)
    assert answer.extra["etag"] == f"{effect.version}.0"
    assert verbs_of(granted.fence.task_id)[-1] == "observe"
    with no_change(granted.fence.task_id):
        again = transitions.reconcile(world.caller(), granted.fence, effect_id, look)
        assert why(again) is Why.WEAK_OBSERVATION, "and it is not written twice"
    assert refusals_of(granted.fence.task_id) == [("reconcile", "WEAK_OBSERVATION")] * 2


def test_an_observation_begun_before_and_brought_after_the_settle_time_is_weak(world: World) -> None:
    granted, effect_id, _ = in_doubt(world, seconds=119)
    begun = a_look(effect_id, Said.DID_NOT_HAPPEN)
    long_ago(effect_id, 60)
    assert begun.etag != a_look(effect_id).etag, "the etag changes at that moment"
    assert why(transitions.reconcile(world.caller(), granted.fence, effect_id, begun)) is Why.WEAK_OBSERVATION
    assert state_of(effect_id) is EffectState.UNKNOWN
    fresh = a_look(effect_id, Said.DID_NOT_HAPPEN)
    assert isinstance(transitions.reconcile(world.caller(), granted.fence, effect_id, fresh), EffectMoved)


def test_an_observation_that_names_no_etag_is_weak(world: World) -> None:
    granted, effect_id, _ = in_doubt(world)
    look = a_look(effect_id, Said.DID_NOT_HAPPEN, etag="")
    assert why(transitions.reconcile(world.caller(), granted.fence, effect_id, look)) is Why.WEAK_OBSERVATION


def test_a_look_up_that_does_not_decide_is_weak(world: World) -> None:
    granted, effect_id, _ = in_doubt(world, lookup={**LOOKUP, "authoritative": False})
    answer = transitions.reconcile(world.caller(), granted.fence, effect_id, a_look(effect_id))
    assert why(answer) is Why.WEAK_OBSERVATION
    assert state_of(effect_id) is EffectState.UNKNOWN


def test_only_the_declared_look_up_may_be_brought(world: World) -> None:
    granted, effect_id, _ = in_doubt(world)
    with no_change(granted.fence.task_id):
        other = a_look(effect_id, look_up="command")
        assert (
            why(transitions.reconcile(world.caller(), granted.fence, effect_id, other)) is Why.SLOT_MISMATCH
        )
    granted, effect_id, _ = in_doubt(world, mode="CONDITIONAL", lookup=None)
    with no_change(granted.fence.task_id):
        answer = transitions.reconcile(world.caller(), granted.fence, effect_id, a_look(effect_id))
        assert why(answer) is Why.SLOT_MISMATCH, "a slot that declares none is for an operator"


def test_what_cannot_be_replayed_is_for_an_operator_alone(world: World) -> None:
    granted, effect_id, _ = in_doubt(world, **ONCE_ONLY)
    with no_change(granted.fence.task_id):
        answer = transitions.reconcile(world.caller(), granted.fence, effect_id, a_look(effect_id))
        assert why(answer) is Why.FORBIDDEN
    assert isinstance(by_operator(world, effect_id, a_look(effect_id)), EffectMoved)


def test_a_live_permit_is_waited_for_by_everybody(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    with no_change(granted.fence.task_id):
        look = a_look(effect_id, Said.DID_NOT_HAPPEN)
        mine = refused(transitions.reconcile(world.caller(), granted.fence, effect_id, look))
        assert mine.why is Why.MUST_RECONCILE
        assert "may be acted on until" in mine.sentence
        assert why(by_operator(world, effect_id, look)) is Why.MUST_RECONCILE
        version = effect_row(effect_id).version
        off = transitions.write_off(world.person(world.operator), effect_id, "no", version)
        assert why(off) is Why.MUST_RECONCILE


@pytest.mark.parametrize(
    ("said", "target"),
    [
        (Said.HAPPENED, EffectState.COMMITTED),
        (Said.DID_NOT_HAPPEN, EffectState.PREPARED),
        (Said.CANNOT_TELL, EffectState.UNKNOWN),
    ],
)
def test_a_permit_that_ran_out_unnoticed_is_reconciled_from_executing(
    world: World, said: Said, target: EffectState
) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    long_ago(effect_id, SETTLED_LONG_AGO)
    assert state_of(effect_id) is EffectState.EXECUTING
    moved = transitions.reconcile(world.caller(), granted.fence, effect_id, a_look(effect_id, said))
    assert isinstance(moved, EffectMoved)
    assert (state_of(effect_id), effect_row(effect_id).doubts) == (target, 1)


def test_there_is_nothing_to_reconcile_of_what_is_prepared_or_settled(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    with no_change(granted.fence.task_id):
        answer = transitions.reconcile(world.caller(), granted.fence, effect_id, a_look(effect_id))
        assert why(answer) is Why.STALE_STATE
        assert why(by_operator(world, effect_id, a_look(effect_id))) is Why.STALE_STATE
    transitions.abandon(world.caller(), granted.fence, effect_id, "")
    assert why(by_operator(world, effect_id, a_look(effect_id))) is Why.STALE_STATE


def test_a_lost_fence_reconciles_nothing(world: World) -> None:
    granted, effect_id, _ = in_doubt(world)
    transitions.release(world.caller(), granted.fence, "night")
    with no_change(granted.fence.task_id):
        look = a_look(effect_id)
        assert why(transitions.reconcile(world.caller(), granted.fence, effect_id, look)) is Why.FENCED
        other = with_effect(world)
        assert why(transitions.reconcile(world.caller(), other.fence, effect_id, look)) is Why.NOT_FOUND


def test_a_look_that_cannot_be_kept_is_refused(world: World) -> None:
    granted, effect_id, _ = in_doubt(world)
    for changes in (
        {"look_up": "x" * 21},
        {"etag": "x" * 41},
        {"note": "x" * 2_001},
        {"receipt": {"a": 2**60}},
    ):
        look = replace(a_look(effect_id), **changes)
        assert why(transitions.reconcile(world.caller(), granted.fence, effect_id, look)) is Why.MALFORMED


@pytest.mark.parametrize(
    ("said", "target"),
    [
        (Said.HAPPENED, EffectState.COMMITTED),
        (Said.DID_NOT_HAPPEN, EffectState.PREPARED),
        (Said.CANNOT_TELL, EffectState.UNKNOWN),
    ],
)
def test_an_operator_says_what_became_of_an_effect(world: World, said: Said, target: EffectState) -> None:
    granted, effect_id, _ = in_doubt(world)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        moved = by_operator(world, effect_id, Look(said, receipt=RECEIPT, note="asked the provider"))
    assert isinstance(moved, EffectMoved)
    assert state_of(effect_id) is target
    row = Observation.objects.filter(effect_id=effect_id).latest("at")
    assert (row.via, row.actor_name, row.note) == (
        "OPERATOR",
        world.operator.username,
        "asked the provider",
    )
    check(granted.fence.task_id)


def test_an_operator_too_waits_for_the_settle_time_to_say_that_it_did_not_happen(world: World) -> None:
    _, effect_id, _ = in_doubt(world, seconds=119)
    answer = refused(by_operator(world, effect_id, Look(Said.DID_NOT_HAPPEN)))
    assert answer.why is Why.WEAK_OBSERVATION
    assert state_of(effect_id) is EffectState.UNKNOWN
    assert observations(effect_id)[-1] == ("DID_NOT_HAPPEN", "OPERATOR", False, False)
    assert isinstance(by_operator(world, effect_id, Look(Said.HAPPENED)), EffectMoved), "that it did, at once"


def test_an_operator_who_looked_before_the_settle_time_has_to_look_again(world: World) -> None:
    _, effect_id, _ = in_doubt(world, seconds=119)
    before = etag_of(effect_id)
    long_ago(effect_id, SETTLED_LONG_AGO)
    answer = refused(by_operator(world, effect_id, Look(Said.DID_NOT_HAPPEN, etag=before)))
    assert answer.why is Why.WEAK_OBSERVATION
    assert state_of(effect_id) is EffectState.UNKNOWN
    assert isinstance(by_operator(world, effect_id, Look(Said.DID_NOT_HAPPEN)), EffectMoved)


@pytest.mark.parametrize("ending", ["cancel", "fail"])
def test_an_operator_reconciles_effects_of_tasks_that_nobody_holds(world: World, ending: str) -> None:
    granted, effect_id, _ = in_doubt(world)
    task_id = granted.fence.task_id
    if ending == "cancel":
        transitions.cancel(world.person(world.preparer), task_id, "not wanted")
    else:
        transitions.fail(world.caller(), granted.fence, "no way", False)
    assert isinstance(by_operator(world, effect_id, Look(Said.HAPPENED)), EffectMoved)
    assert state_of(effect_id) is EffectState.COMMITTED
    check(task_id)


@pytest.mark.parametrize(
    ("said", "target", "stands"),
    [
        (Said.HAPPENED, EffectState.COMMITTED, True),
        (Said.DID_NOT_HAPPEN, EffectState.PREPARED, False),
        (Said.CANNOT_TELL, EffectState.PREPARED, True),
    ],
)
def test_an_operator_settles_what_is_prepared_and_was_said_to_have_happened(
    world: World, said: Said, target: EffectState, stands: bool
) -> None:
    granted, effect_id, permit = in_doubt(world)
    look = a_look(effect_id, Said.DID_NOT_HAPPEN)
    transitions.reconcile(world.caller(), granted.fence, effect_id, look)
    transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
    mine = transitions.reconcile(world.caller(), granted.fence, effect_id, a_look(effect_id))
    assert why(mine) is Why.MUST_RECONCILE, "a runner cannot"
    version = effect_row(effect_id).version
    off = transitions.write_off(world.person(world.operator), effect_id, "no", version)
    assert why(off) is Why.MUST_RECONCILE, "only a doubt is written off"
    assert isinstance(by_operator(world, effect_id, Look(said, receipt=RECEIPT)), EffectMoved)
    effect = effect_row(effect_id)
    assert (effect.state, effect.has_happened) == (target, stands)
    if not stands:
        permitted(world, granted, effect_id)


def test_a_runners_look_up_does_not_silence_somebody_who_saw_it_happen(world: World) -> None:
    granted, effect_id, permit = in_doubt(world)
    transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
    look = a_look(effect_id, Said.DID_NOT_HAPPEN)
    moved = transitions.reconcile(world.caller(), granted.fence, effect_id, look)
    assert isinstance(moved, EffectMoved)
    assert (state_of(effect_id), effect_row(effect_id).has_happened) == (EffectState.PREPARED, True)
    assert why(transitions.execute(keyed(world), granted.fence, effect_id)) is Why.MUST_RECONCILE


def test_an_operators_word_on_a_prepared_effect_voids_what_was_approved(world: World) -> None:
    granted, effect_id, permit = in_doubt(world, **ONCE_ONLY)
    by_operator(world, effect_id, Look(Said.DID_NOT_HAPPEN))
    approved(world, effect_id)
    transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
    by_operator(world, effect_id, Look(Said.DID_NOT_HAPPEN))
    assert approvals(effect_id) == ["CONSUMED", "VOID"]
    assert why(transitions.execute(keyed(world), granted.fence, effect_id)) is Why.APPROVAL_REQUIRED


def test_a_doubt_is_written_off_by_an_operator_who_says_why(world: World) -> None:
    granted, effect_id, _ = in_doubt(world)
    version, operator = effect_row(effect_id).version, world.person(world.operator)
    with no_change(granted.fence.task_id):
        assert why(transitions.write_off(operator, effect_id, " ", version)) is Why.UNPROCESSABLE
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        moved = transitions.write_off(operator, effect_id, "nobody can tell", version)
    assert isinstance(moved, EffectMoved)
    assert state_of(effect_id) is EffectState.WRITTEN_OFF
    assert observations(effect_id)[-1] == ("CANNOT_TELL", "OPERATOR", True, True)
    again = transitions.write_off(operator, effect_id, "again", effect_row(effect_id).version)
    assert why(again) is Why.STALE_STATE


def test_a_written_off_effect_lets_its_task_be_delivered(world: World) -> None:
    granted, effect_id, _ = in_doubt(world, required=True)
    operator = world.person(world.operator)
    transitions.write_off(operator, effect_id, "nobody can tell", effect_row(effect_id).version)
    world.delivered(granted=granted)


def test_an_operator_acts_on_the_version_that_was_seen(world: World) -> None:
    _, effect_id, _ = in_doubt(world)
    version = effect_row(effect_id).version
    operator = world.person(world.operator)
    stale = refused(transitions.reconcile_as_operator(operator, effect_id, Look(Said.HAPPENED), version - 1))
    assert (stale.why, stale.extra["version"]) == (Why.STALE_STATE, version)
    assert why(transitions.write_off(operator, effect_id, "no", version - 1)) is Why.STALE_STATE


def test_only_an_operator_at_hand_reconciles_as_one(world: World) -> None:
    granted, effect_id, _ = in_doubt(world)
    version, look = effect_row(effect_id).version, Look(Said.HAPPENED)
    by_token = replace(world.person(world.operator), source=Source.API)
    for caller, expected in (
        (world.person(world.reviewer), Why.FORBIDDEN),
        (world.person(world.preparer), Why.FORBIDDEN),
        (by_token, Why.NOT_FOUND),
        (world.caller(), Why.NOT_FOUND),
    ):
        with no_change(granted.fence.task_id):
            assert why(transitions.reconcile_as_operator(caller, effect_id, look, version)) is expected
            assert why(transitions.write_off(caller, effect_id, "no", version)) is expected
    nothing = transitions.reconcile_as_operator(world.person(world.operator), "0" * 64, look, version)
    assert why(nothing) is Why.NOT_FOUND
