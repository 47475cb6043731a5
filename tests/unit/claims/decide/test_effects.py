"""When a permit is handed out, and to the microsecond until when it is good."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from claims import decide
from claims.decide import Change
from claims.decide.rows import EffectRow
from claims.outcomes import EffectMoved, Refused, Why
from claims.vocabulary import ApprovalState, EffectState, State, Verb
from tests.support.effect_rows import (
    APPROVAL,
    EARLIER_EFFECT,
    EFFECT,
    NEXT_PERMIT,
    OTHER_PAYLOAD,
    PAYLOAD,
    SLOT,
    an_approval,
    an_effect,
    asked,
    earlier,
    once_only,
    settled,
    with_effects,
)
from tests.support.rows import (
    AGENT,
    EPOCH,
    GENERATION,
    NOW,
    OTHER_AGENT,
    a_delivered_task,
    a_fence,
    below_epoch,
)

TICK = timedelta(microseconds=1)
NEW = decide.NewEffect(EFFECT, "mail", PAYLOAD, (SLOT,))


def why(answer: object) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


def change(answer: object) -> Change:
    assert isinstance(answer, Change), answer
    return answer


def prepare(*effects: EffectRow, new: decide.NewEffect = NEW) -> Change | EffectMoved | Refused:
    return decide.prepare(with_effects(*effects), a_fence(), AGENT, new)


def execute(*effects: EffectRow, ask: decide.Asked | None = None) -> Change | Refused:
    return decide.execute(with_effects(*effects), a_fence(), AGENT, EFFECT, ask or asked())


def test_preparing_is_a_row_of_history_and_no_step_of_an_effect_that_is_not_there_yet() -> None:
    made = change(prepare())
    assert (made.verb, made.target, made.effect) == (Verb.PREPARE, State.CLAIMED, None)
    assert made.body["effects"] == [{"effectId": EFFECT, "slot": "mail", "from": None, "to": "PREPARED"}]
    assert made.validated is not None


def test_a_bound_payload_decides_before_anything_of_earlier_revisions_does() -> None:
    assert isinstance(prepare(an_effect(), earlier(EffectState.UNKNOWN)), EffectMoved)
    other = replace(NEW, payload_digest=OTHER_PAYLOAD)
    assert why(prepare(an_effect(), new=other)) is Why.PAYLOAD_CONFLICT


def test_a_slot_is_declared_by_its_very_name() -> None:
    assert why(prepare(new=replace(NEW, slot="mails"))) is Why.SLOT_MISMATCH
    assert why(prepare(new=replace(NEW, slots=()))) is Why.SLOT_MISMATCH


@pytest.mark.parametrize("verb", ["prepare", "execute", "abandon"])
@pytest.mark.parametrize(
    ("fence", "reason"),
    [
        ({"cancel_generation": 9}, Why.CANCELLED),
        ({"scheduler_epoch": EPOCH - 1}, Why.FENCED),
        ({"claim_generation": GENERATION - 1}, Why.FENCED),
    ],
)
def test_a_lost_fence_is_refused_first(verb: str, fence: dict[str, int], reason: Why) -> None:
    seen, lost = with_effects(an_effect()), a_fence(**fence)
    answers = {
        "prepare": decide.prepare(seen, lost, AGENT, NEW),
        "execute": decide.execute(seen, lost, AGENT, EFFECT, asked()),
        "abandon": decide.abandon(seen, lost, AGENT, EFFECT, ""),
    }
    assert why(answers[verb]) is reason


def test_another_agent_with_the_same_fence_gets_no_permit() -> None:
    answer = decide.execute(with_effects(an_effect()), a_fence(), OTHER_AGENT, EFFECT, asked())
    assert why(answer) is Why.FENCED


def test_after_the_delivery_nothing_is_prepared_or_sent() -> None:
    seen = with_effects(an_effect(), seen=a_delivered_task())
    assert why(decide.prepare(seen, a_fence(), AGENT, NEW)) is Why.ALREADY_DELIVERED
    assert why(decide.execute(seen, a_fence(), AGENT, EFFECT, asked())) is Why.ALREADY_DELIVERED


def test_a_permit_counts_and_ends_after_the_slots_time() -> None:
    made = change(execute(an_effect(permits=4)))
    assert made.effect is not None
    assert (made.effect.target, made.effect.columns) == (
        EffectState.EXECUTING,
        {"permit_id": NEXT_PERMIT, "permits": 5},
    )
    assert made.body["deadline"] == (NOW + timedelta(seconds=60)).isoformat()


def test_a_repeat_is_refused_before_the_fence_is_looked_at() -> None:
    lost = a_fence(claim_generation=GENERATION - 1)
    answer = decide.execute(with_effects(an_effect()), lost, AGENT, EFFECT, asked(is_repeat=True))
    assert why(answer) is Why.MUST_RECONCILE


@pytest.mark.parametrize("state", [state for state in EffectState if state is not EffectState.PREPARED])
def test_only_what_is_prepared_is_sent(state: EffectState) -> None:
    assert why(execute(settled(state))) is Why.MUST_RECONCILE


def test_what_somebody_saw_happen_is_not_sent() -> None:
    assert why(execute(an_effect(has_happened=True))) is Why.MUST_RECONCILE


def test_serial_before_approval_and_neither_for_what_can_be_replayed() -> None:
    held = asked(is_busy=True, approval=None)
    assert why(execute(once_only(), ask=held)) is Why.SERIAL_BUSY
    assert why(execute(once_only(), ask=asked(approval=None))) is Why.APPROVAL_REQUIRED
    assert isinstance(execute(an_effect(), ask=held), Change)
    assert change(execute(once_only())).body["approval"] == str(APPROVAL)


@pytest.mark.parametrize(
    "changed",
    [
        {"payload_digest": OTHER_PAYLOAD},
        {"claim_generation": GENERATION - 1},
        {"scheduler_epoch": EPOCH - 1},
        {"doubt": 1},
        {"expires_at": NOW},
        {"expires_at": None},
        *({"state": state} for state in ApprovalState if state is not ApprovalState.GRANTED),
    ],
    ids=str,
)
def test_an_approval_is_good_for_exactly_what_the_person_saw(changed: dict[str, object]) -> None:
    answer = execute(once_only(), ask=asked(approval=an_approval(**changed)))
    assert why(answer) is Why.APPROVAL_REQUIRED


def test_an_approval_is_good_until_the_very_moment_it_ends() -> None:
    assert isinstance(execute(once_only(), ask=asked(approval=an_approval(expires_at=NOW + TICK))), Change)


def test_an_approval_for_an_earlier_doubt_is_none() -> None:
    assert why(execute(once_only(doubts=1))) is Why.APPROVAL_REQUIRED
    assert isinstance(execute(once_only(doubts=1), ask=asked(approval=an_approval(doubt=1))), Change)


@pytest.mark.parametrize(
    ("effect", "reason"),
    [
        (earlier(EffectState.EXECUTING), Why.MUST_RECONCILE),
        (earlier(EffectState.UNKNOWN), Why.MUST_RECONCILE),
        (earlier(EffectState.UNKNOWN, counts=False), Why.MUST_RECONCILE),
        (earlier(EffectState.PREPARED, has_happened=True), Why.MUST_RECONCILE),
        (earlier(EffectState.ABANDONED, has_happened=True), Why.MUST_RECONCILE),
        (earlier(), Why.MUST_RECONCILE),
        (earlier(slot="letter"), Why.MUST_RECONCILE),
        (earlier(serial_key="another"), Why.MUST_RECONCILE),
        (earlier(counts=True), Why.SLOT_MISMATCH),
        (earlier(slot="letter", counts=True), Why.SLOT_MISMATCH),
        (earlier(counts=False), None),
        (earlier(slot="letter", serial_key="another"), None),
        (earlier(EffectState.PREPARED), None),
        (earlier(EffectState.PREPARED, counts=True), None),
        (earlier(EffectState.ABANDONED), None),
        (earlier(EffectState.WRITTEN_OFF), None),
    ],
)
def test_what_an_earlier_revision_did_decides_for_prepare_and_execute_alike(
    effect: EffectRow, reason: Why | None
) -> None:
    for answer in (prepare(effect), execute(an_effect(), effect, ask=asked(declared=("mail",)))):
        if reason is None:
            assert isinstance(answer, Change)
        else:
            assert why(answer) is reason
            assert isinstance(answer, Refused)
            assert answer.extra["effectId"] == EARLIER_EFFECT


def test_another_slot_with_the_same_serial_key_counts_for_itself_while_it_is_declared() -> None:
    other = SLOT.model_copy(update={"slot": "letter"})
    done = earlier(slot="letter", counts=True)
    assert isinstance(prepare(done, new=replace(NEW, slots=(SLOT, other))), Change)


def test_a_required_slot_is_abandoned_only_where_an_earlier_effect_counts() -> None:
    effect = an_effect(is_required=True)

    def abandon(*others: EffectRow) -> object:
        return decide.abandon(with_effects(effect, *others), a_fence(), AGENT, EFFECT, "", ("mail",))

    assert why(abandon()) is Why.SLOT_MISMATCH
    assert why(abandon(earlier(counts=False))) is Why.SLOT_MISMATCH
    assert why(abandon(earlier(EffectState.PREPARED, counts=True))) is Why.SLOT_MISMATCH
    assert isinstance(abandon(earlier(counts=True)), Change)


def test_a_permit_is_live_before_its_deadline_and_not_at_it() -> None:
    live = an_effect(EffectState.EXECUTING, permit_deadline=NOW + TICK)
    assert decide.state_now(with_effects(live), live) is EffectState.EXECUTING
    ended = an_effect(EffectState.EXECUTING, permit_deadline=NOW)
    assert decide.state_now(with_effects(ended), ended) is EffectState.UNKNOWN


def test_a_permit_of_another_attempt_or_epoch_is_not_live() -> None:
    effect = an_effect(EffectState.EXECUTING)
    assert decide.is_live(with_effects(effect), effect)
    assert not decide.is_live(below_epoch(with_effects(effect)), effect)
    other = replace(effect, permit_attempt_id=NEXT_PERMIT)
    assert not decide.is_live(with_effects(other), other)


def test_the_sweep_writes_a_doubt_down_at_the_deadline_and_not_before() -> None:
    ended = with_effects(an_effect(EffectState.EXECUTING, permit_deadline=NOW))
    made = change(decide.expire_permit(ended, EFFECT))
    assert made.effect is not None
    assert (made.effect.target, made.effect.columns) == (EffectState.UNKNOWN, {"doubts": 1})
    live = with_effects(an_effect(EffectState.EXECUTING, permit_deadline=NOW + TICK))
    assert decide.expire_permit(live, EFFECT) is None
    assert decide.expire_permit(with_effects(settled()), EFFECT) is None


def test_the_etag_changes_with_the_version_and_when_the_settle_time_has_passed() -> None:
    before = an_effect(EffectState.UNKNOWN, permit_deadline=NOW - timedelta(seconds=60) + TICK)
    assert decide.etag(NOW, before) == "3.0"
    assert decide.etag(NOW, settled()) == "3.1"
    assert decide.etag(NOW, settled(version=4)) == "4.1"


def test_a_target_has_the_last_etag_that_a_call_to_it_reported() -> None:
    first = an_effect(EffectState.COMMITTED, id="a" * 64, slot="first", resource_etag="W/1")
    elsewhere = replace(first, id="b" * 64, slot="other", target="elsewhere", resource_etag="W/9")
    seen = with_effects(first, elsewhere, an_effect())
    assert decide.resource_etag(seen, an_effect()) == "W/1"
    assert decide.resource_etag(seen, an_effect(resource_etag="W/2")) == "W/2"
    assert decide.resource_etag(with_effects(an_effect()), an_effect()) == ""
