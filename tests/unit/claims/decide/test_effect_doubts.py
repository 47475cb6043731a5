"""What settles a doubt and what is only kept, to the microsecond."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from claims import decide
from claims.decide import Look, Recorded
from claims.decide.rows import EffectRow, PersonRow
from claims.inputs import Slot
from claims.outcomes import EffectMoved, Refused, Why
from claims.rights import expand
from claims.vocabulary import EffectState, Right, Said, State, Verb, Via
from tests.support.effect_rows import (
    EFFECT,
    NEXT_PERMIT,
    PAYLOAD,
    SLOT,
    a_permit,
    a_statement,
    an_approval,
    an_effect,
    once_only,
    settled,
    spoken,
    with_effects,
)
from tests.support.rows import (
    AGENT,
    EPOCH,
    GENERATION,
    NOW,
    OTHER_AGENT,
    OTHER_REVIEWER,
    OWNER,
    a_claimed_task,
    a_fence,
    a_held_task,
    below_epoch,
)

TICK = timedelta(microseconds=1)
LIVE = an_effect(EffectState.EXECUTING)
STRONG = Look(Said.DID_NOT_HAPPEN, "http", "3.1", {"status": 404})
SAW = decide.Seen(PAYLOAD, GENERATION, EPOCH, 0)
REVIEWER = PersonRow(OTHER_REVIEWER, expand([Right.REVIEWER]))
STANDING = decide.Standing(OWNER)


def why(answer: object) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


def recorded(answer: object) -> Recorded:
    assert isinstance(answer, Recorded), answer
    return answer


def step(answer: object) -> tuple[Verb, EffectState, dict[str, object]]:
    told = recorded(answer)
    assert told.change.effect is not None
    return told.change.verb, told.change.effect.target, dict(told.change.effect.columns)


def tell(
    effect: EffectRow, via: Via = Via.CONFIRM, said: decide.Spoken | None = None
) -> Recorded | EffectMoved | Refused:
    return decide.tell(with_effects(effect), a_fence(), AGENT, EFFECT, a_statement(via), said or spoken())


@pytest.mark.parametrize(
    ("via", "verb", "target"),
    [
        (Via.CONFIRM, Verb.CONFIRM, EffectState.COMMITTED),
        (Via.UNKNOWN, Verb.UNKNOWN, EffectState.UNKNOWN),
        (Via.HAND_BACK, Verb.HAND_BACK, EffectState.UNKNOWN),
    ],
)
def test_the_holder_of_the_live_permit_settles_its_call(via: Via, verb: Verb, target: EffectState) -> None:
    told = recorded(tell(LIVE, via))
    assert step(told)[:2] == (verb, target)
    assert told.change.validated is not None
    assert (told.refusal, told.observation.is_applied) == (None, True)


@pytest.mark.parametrize(
    "effect",
    [
        an_effect(EffectState.EXECUTING, permit_deadline=NOW),
        an_effect(EffectState.EXECUTING, permit_id=NEXT_PERMIT),
        settled(),
        an_effect(permits=1),
        settled(EffectState.COMMITTED),
        settled(EffectState.WRITTEN_OFF),
    ],
)
def test_what_comes_too_late_is_kept_and_moves_nothing(effect: EffectRow) -> None:
    for via in (Via.CONFIRM, Via.UNKNOWN):
        told = recorded(tell(effect, via))
        happened = via is Via.CONFIRM and effect.state is not EffectState.COMMITTED
        assert step(told) == (Verb.OBSERVE, effect.state, {"has_happened": True} if happened else {})
        assert told.change.validated is None
        assert (why(told.refusal), told.observation.is_applied) == (Why.MUST_RECONCILE, False)
        assert told.refusal is not None
        assert told.refusal.keeps


def test_the_refusal_names_the_etag_that_the_effect_has_once_it_is_written() -> None:
    told = recorded(tell(settled()))
    assert told.refusal is not None
    assert told.refusal.extra["etag"] == "4.1"


@pytest.mark.parametrize(
    "said",
    [spoken(permit=None), spoken(is_own_attempt=False), spoken(permit=a_permit(agent_id=OTHER_AGENT))],
)
def test_what_is_not_the_callers_is_not_found(said: decide.Spoken) -> None:
    assert why(tell(LIVE, said=said)) is Why.NOT_FOUND


def test_what_was_said_before_is_answered_and_not_written() -> None:
    assert isinstance(tell(settled(EffectState.COMMITTED), said=spoken(before=True)), EffectMoved)
    assert why(tell(settled(), said=spoken(before=False))) is Why.MUST_RECONCILE


def test_an_observation_of_a_held_task_leaves_its_reason() -> None:
    seen = with_effects(settled(), seen=a_held_task())
    told = recorded(decide.tell(seen, a_fence(), AGENT, EFFECT, a_statement(), spoken()))
    assert (told.change.target, told.change.reason) == (State.HELD, seen.task.reason)


def reconcile(effect: EffectRow, look: Look = STRONG, slot: Slot | None = SLOT) -> Recorded | Refused:
    return decide.reconcile(with_effects(effect), a_fence(), AGENT, EFFECT, slot, look)


def test_a_look_up_that_names_the_settled_etag_is_strong() -> None:
    assert step(reconcile(settled())) == (Verb.RECONCILE, EffectState.PREPARED, {})
    assert step(reconcile(settled(), replace(STRONG, said=Said.HAPPENED)))[1] is EffectState.COMMITTED
    assert step(reconcile(settled(), replace(STRONG, said=Said.CANNOT_TELL)))[1] is EffectState.UNKNOWN


@pytest.mark.parametrize(
    ("effect", "look", "slot"),
    [
        (settled(permit_deadline=NOW - timedelta(seconds=60) + TICK), replace(STRONG, etag="3.0"), SLOT),
        (settled(permit_deadline=NOW - timedelta(seconds=60) + TICK), STRONG, SLOT),
        (settled(), replace(STRONG, etag="3.0"), SLOT),
        (settled(), replace(STRONG, etag="2.1"), SLOT),
        (settled(), replace(STRONG, etag=""), SLOT),
        (
            settled(),
            STRONG,
            SLOT.model_copy(update={"lookup": SLOT.lookup.model_copy(update={"authoritative": False})})
            if SLOT.lookup
            else None,
        ),
    ],
)
def test_a_weak_look_up_is_kept_and_settles_nothing(effect: EffectRow, look: Look, slot: Slot) -> None:
    told = recorded(reconcile(effect, look, slot))
    assert step(told) == (Verb.OBSERVE, EffectState.UNKNOWN, {})
    assert (why(told.refusal), told.observation.is_strong) == (Why.WEAK_OBSERVATION, False)
    stands = recorded(reconcile(effect, replace(look, said=Said.HAPPENED), slot))
    assert step(stands)[2] == {"has_happened": True}


def test_a_weak_look_up_is_not_written_twice() -> None:
    weak = replace(STRONG, etag="")
    answer = decide.reconcile(with_effects(settled()), a_fence(), AGENT, EFFECT, SLOT, weak, True)
    assert why(answer) is Why.WEAK_OBSERVATION
    assert isinstance(answer, Refused)
    assert not answer.keeps


def test_what_a_runner_may_not_reconcile() -> None:
    assert why(reconcile(LIVE)) is Why.MUST_RECONCILE
    assert why(reconcile(once_only(EffectState.UNKNOWN))) is Why.FORBIDDEN
    assert why(reconcile(an_effect())) is Why.STALE_STATE
    assert why(reconcile(an_effect(has_happened=True))) is Why.MUST_RECONCILE
    assert why(reconcile(settled(EffectState.COMMITTED))) is Why.STALE_STATE
    assert why(reconcile(settled(), replace(STRONG, look_up="command"))) is Why.SLOT_MISMATCH
    assert why(reconcile(settled(), slot=None)) is Why.SLOT_MISMATCH


def by_operator(effect: EffectRow, look: Look = STRONG, version: int = 3) -> Recorded | Refused:
    return decide.reconcile_as_operator(with_effects(effect), EFFECT, look, version)


def test_an_operator_clears_what_stood_and_a_runner_does_not() -> None:
    contested = settled(has_happened=True)
    assert step(by_operator(contested))[2] == {"has_happened": False}
    assert step(reconcile(contested))[2] == {}


def test_an_operator_waits_for_the_settle_time_only_to_say_that_it_did_not_happen() -> None:
    early = settled(permit_deadline=NOW - timedelta(seconds=60) + TICK)
    told = recorded(by_operator(early))
    assert (why(told.refusal), step(told)[:2]) == (Why.WEAK_OBSERVATION, (Verb.OBSERVE, EffectState.UNKNOWN))
    assert step(by_operator(early, Look(Said.HAPPENED)))[1] is EffectState.COMMITTED


def test_a_doubt_nobody_wrote_down_is_counted_when_it_ends() -> None:
    ended = settled(EffectState.EXECUTING)
    assert step(reconcile(ended))[2] == {"doubts": 1}
    off = decide.write_off(with_effects(ended), EFFECT, "no", 3)
    assert step(off) == (Verb.RECONCILE, EffectState.WRITTEN_OFF, {"doubts": 1})


@pytest.mark.parametrize(
    ("rights", "reason"),
    [([], Why.NOT_FOUND), ([Right.REVIEWER], Why.FORBIDDEN), ([Right.PREPARER], Why.FORBIDDEN)],
)
def test_only_an_operator_reconciles_without_a_fence(rights: list[Right], reason: Why) -> None:
    seen = replace(with_effects(settled()), person=PersonRow(61, expand(rights)))
    assert why(decide.reconcile_as_operator(seen, EFFECT, STRONG, 3)) is reason
    assert why(decide.write_off(seen, EFFECT, "no", 3)) is reason


def approve(effect: EffectRow, saw: decide.Seen = SAW, **changes: object) -> object:
    seen = replace(with_effects(effect), person=REVIEWER, **changes)  # type: ignore[arg-type]
    return decide.approve(seen, EFFECT, saw, 60, "", STANDING)


def test_an_approval_is_of_what_stood_on_the_page() -> None:
    assert isinstance(approve(once_only()), decide.Change)
    for changed in (
        {"claim_generation": GENERATION - 1},
        {"scheduler_epoch": EPOCH - 1},
        {"doubt": 1},
        {"payload_digest": "sha256:0"},
    ):
        assert why(approve(once_only(), replace(SAW, **changed))) is Why.STALE_STATE


def test_neither_owner_then_nor_owner_now_nor_preparer_answers() -> None:
    effect = once_only()
    for task, person, owner_now in (
        (a_claimed_task(), OWNER, None),
        (a_claimed_task(), 77, 77),
        (a_claimed_task(preparer_id=77), 77, OWNER),
    ):
        seen = replace(task, effects=(effect,), person=PersonRow(person, expand([Right.ADMIN])))
        standing = decide.Standing(owner_now, an_approval())
        assert why(decide.approve(seen, EFFECT, SAW, 60, "", standing)) is Why.SELF_REVIEW
        assert why(decide.turn_down(seen, EFFECT, PAYLOAD, "no", standing)) is Why.SELF_REVIEW
        assert why(decide.revoke(seen, EFFECT, "no", standing)) is Why.SELF_REVIEW


def test_nothing_is_approved_that_no_claim_can_send() -> None:
    assert why(approve(an_effect())) is Why.UNPROCESSABLE
    assert why(approve(once_only(EffectState.UNKNOWN))) is Why.STALE_STATE
    assert why(approve(once_only(has_happened=True))) is Why.MUST_RECONCILE
    held = replace(a_held_task(), effects=(once_only(),), person=REVIEWER)
    assert why(decide.approve(held, EFFECT, SAW, 60, "", STANDING)) is Why.STALE_STATE
    below = replace(below_epoch(with_effects(once_only())), person=REVIEWER)
    saw = replace(SAW, scheduler_epoch=EPOCH + 1)
    assert why(decide.approve(below, EFFECT, saw, 60, "", STANDING)) is Why.STALE_STATE
