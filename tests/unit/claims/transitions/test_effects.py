"""Outside effects before they are sent: bound, permitted once, given up.

One file, though a long one: the table of mutants names its tests, and they share one set-up.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection

from claims import canonical, sweeps, transitions
from claims.callers import sweep_caller
from claims.models import Effect, History, Permit
from claims.outcomes import EffectMoved, Granted, Permitted, Refused, Why
from claims.transitions import Answer, effects
from claims.vocabulary import EffectMode, EffectState, Said, State
from tests.support.effects import (
    ONCE_ONLY,
    OTHER_PAYLOAD,
    PAYLOAD,
    RECEIPT,
    a_key,
    a_look,
    a_slot,
    approvals,
    approved,
    effect_row,
    executing,
    keyed,
    long_ago,
    permitted,
    prepared,
    revised,
    state_of,
    unknown,
    with_effect,
    with_slots,
)
from tests.support.records import no_change, one_change, refusals_of, task_row, why
from tests.support.world import World, fence_but

pytestmark = pytest.mark.django_db


def refused(answer: object) -> Refused:
    assert isinstance(answer, Refused), answer
    return answer


def last_body(task_id: UUID) -> dict[str, object]:
    row = History.objects.filter(task_id=task_id).order_by("-state_version").first()
    assert row is not None
    return dict(row.body)


def test_preparing_binds_the_payload_under_the_published_effect_id(world: World) -> None:
    granted = with_effect(world)
    task_id = granted.fence.task_id
    with one_change(task_id, raises=0, to=State.CLAIMED):
        effect_id = prepared(world, granted)
    effect = effect_row(effect_id)
    assert effect_id == canonical.effect_id(task_id, task_row(task_id).node_id, "mail")
    assert (effect.state, effect.payload, effect.payload_digest) == (
        EffectState.PREPARED,
        PAYLOAD,
        canonical.digest(PAYLOAD),
    )
    assert last_body(task_id) == {
        "effects": [{"effectId": effect_id, "slot": "mail", "from": None, "to": "PREPARED"}],
        "payloadDigest": effect.payload_digest,
    }


def test_the_slot_fixes_mode_target_serial_key_and_times(world: World) -> None:
    granted = with_effect(
        world, lookup=None, serialKey="mails", required=True, permitSeconds=5, settleSeconds=7
    )
    effect = effect_row(prepared(world, granted))
    assert effect.mode == EffectMode.NON_REPLAYABLE, "queryable without a look-up is not"
    assert (effect.serial_key, effect.is_required) == ("mails", True)
    assert (effect.permit_seconds, effect.settle_seconds) == (5, 7)


def test_a_slot_that_was_not_declared_is_a_mismatch(world: World) -> None:
    granted = with_effect(world)
    with no_change(granted.fence.task_id):
        answer = refused(transitions.prepare(world.caller(), granted.fence, "letter", PAYLOAD))
    assert (answer.why, answer.extra["slot"]) == (Why.SLOT_MISMATCH, "letter")


def test_the_same_payload_again_is_answered_with_the_effect_as_it_is(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    with no_change(granted.fence.task_id):
        again = transitions.prepare(world.caller(), granted.fence, "mail", dict(reversed(PAYLOAD.items())))
    assert isinstance(again, EffectMoved)
    assert (again.effect_id, again.state) == (effect_id, EffectState.EXECUTING)


def test_another_payload_is_told_what_is_bound(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    with no_change(granted.fence.task_id):
        answer = refused(transitions.prepare(world.caller(), granted.fence, "mail", OTHER_PAYLOAD))
    assert answer.why is Why.PAYLOAD_CONFLICT
    assert answer.extra["boundDigest"] == canonical.digest(PAYLOAD)
    assert answer.extra["boundPayload"] == PAYLOAD
    assert answer.extra["effectId"] == effect_id
    assert refusals_of(granted.fence.task_id) == [("prepare", "PAYLOAD_CONFLICT")]


def test_the_next_attempt_finds_the_payload_bound_by_the_one_before(world: World) -> None:
    granted = with_effect(world)
    prepared(world, granted)
    transitions.release(world.caller(), granted.fence, "night")
    other = world.agents[1]
    again = world.claimed(other, granted.fence.task_id)
    assert (
        why(transitions.prepare(world.caller(other), again.fence, "mail", OTHER_PAYLOAD))
        is Why.PAYLOAD_CONFLICT
    )
    assert isinstance(transitions.prepare(world.caller(other), again.fence, "mail", PAYLOAD), EffectMoved)


def test_a_payload_of_nothing_is_a_payload(world: World) -> None:
    granted = with_effect(world)
    effect = effect_row(prepared(world, granted, payload=None))
    assert (effect.payload, effect.payload_digest) == (None, canonical.digest(None))


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (float("nan"), Why.MALFORMED),
        (2**53, Why.MALFORMED),
        ("\ud800", Why.MALFORMED),
        ("a\0b", Why.MALFORMED),
        ("x" * 256 * 1024, Why.TOO_LARGE),
    ],
)
def test_a_payload_that_cannot_be_kept_as_it_is_is_refused(
    world: World, payload: object, reason: Why
) -> None:
    granted = with_effect(world)
    assert why(transitions.prepare(world.caller(), granted.fence, "mail", payload)) is reason


def test_a_lost_fence_neither_prepares_nor_executes_nor_abandons(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    lost = fence_but(granted.fence, claim_generation=granted.fence.claim_generation - 1)
    with no_change(granted.fence.task_id):
        assert why(transitions.prepare(world.caller(), lost, "mail", PAYLOAD)) is Why.FENCED
        assert why(transitions.execute(keyed(world), lost, effect_id)) is Why.FENCED
        assert why(transitions.abandon(world.caller(), lost, effect_id, "no")) is Why.FENCED
        stranger = world.caller(world.agents[1], key=a_key())
        assert why(transitions.execute(stranger, granted.fence, effect_id)) is Why.FENCED


def test_a_permit_is_the_right_to_one_call_until_a_deadline(world: World) -> None:
    granted = with_effect(world, permitSeconds=30)
    effect_id = prepared(world, granted)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        permit = permitted(world, granted, effect_id, key="the-key")
    row = Permit.objects.get(id=permit.permit_id)
    assert row.deadline - row.granted_at == timedelta(seconds=30)
    assert (row.number, row.key, row.attempt_id) == (1, "the-key", granted.fence.attempt_id)
    assert permit == Permitted(
        effect_id,
        row.id,
        granted.fence.claim_generation,
        "",
        row.deadline,
        30.0,
        task_row(granted.fence.task_id).state_version,
    )
    body = last_body(granted.fence.task_id)
    assert (body["permitId"], body["permit"]) == (str(row.id), 1)
    assert body["effects"] == [{"effectId": effect_id, "slot": "mail", "from": "PREPARED", "to": "EXECUTING"}]


def test_execute_needs_a_key(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    assert why(transitions.execute(world.caller(), granted.fence, effect_id)) is Why.MALFORMED


def test_the_same_execute_again_never_gives_a_second_permit_in_any_state(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    caller = world.caller(key="once", request_digest="the-request")
    permit = transitions.execute(caller, granted.fence, effect_id)
    assert isinstance(permit, Permitted)

    def again() -> Refused:
        with no_change(granted.fence.task_id):
            return refused(transitions.execute(caller, granted.fence, effect_id))

    live = again()
    assert live.why is Why.MUST_RECONCILE
    assert live.extra["permitDeadline"] == permit.deadline.isoformat()
    assert "may be acted on until" in live.sentence
    transitions.unknown(world.caller(), granted.fence, effect_id, permit.permit_id, "")
    assert again().why is Why.MUST_RECONCILE
    long_ago(effect_id, 3_600)
    moved = transitions.reconcile(
        world.caller(), granted.fence, effect_id, a_look(effect_id, Said.DID_NOT_HAPPEN)
    )
    assert isinstance(moved, EffectMoved)
    assert state_of(effect_id) is EffectState.PREPARED
    assert again().why is Why.MUST_RECONCILE, "prepared again, but this request had its permit"
    connection.cursor().execute("DELETE FROM claims_idempotencykey")
    assert again().why is Why.MUST_RECONCILE, "also when the key is forgotten"
    assert Permit.objects.filter(effect_id=effect_id).count() == 1
    transitions.release(world.caller(), granted.fence, "night")
    assert again().why is Why.MUST_RECONCILE, "also from a lost fence"


def test_another_key_gets_no_permit_while_one_is_out(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    with no_change(granted.fence.task_id):
        answer = refused(transitions.execute(keyed(world), granted.fence, effect_id))
    assert (answer.why, answer.extra["effectState"]) == (Why.MUST_RECONCILE, "EXECUTING")


def test_an_effect_whose_deadline_has_passed_reads_as_unknown_before_any_sweep(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    long_ago(effect_id, 61)
    answer = refused(transitions.execute(keyed(world), granted.fence, effect_id))
    assert (answer.why, answer.extra["effectState"]) == (Why.MUST_RECONCILE, "UNKNOWN")
    assert state_of(effect_id) is EffectState.EXECUTING


@pytest.mark.parametrize("state", ["UNKNOWN", "COMMITTED", "ABANDONED", "WRITTEN_OFF"])
def test_execute_is_for_prepared_effects_only(world: World, state: str) -> None:
    granted = with_effect(world)
    effect_id = in_state(world, granted, state)
    assert state_of(effect_id) == state
    with no_change(granted.fence.task_id):
        assert why(transitions.execute(keyed(world), granted.fence, effect_id)) is Why.MUST_RECONCILE


def in_state(world: World, granted: Granted, state: str) -> str:
    """An effect in one of the states it may be left in."""
    if state == "ABANDONED":
        effect_id = prepared(world, granted)
        transitions.abandon(world.caller(), granted.fence, effect_id, "not needed")
        return effect_id
    if state == "COMMITTED":
        effect_id, permit = executing(world, granted)
        transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
        return effect_id
    effect_id, _ = unknown(world, granted)
    if state == "WRITTEN_OFF":
        operator = world.person(world.operator)
        transitions.write_off(operator, effect_id, "nobody can tell", effect_row(effect_id).version)
    return effect_id


def test_an_effect_of_another_task_is_not_found(world: World) -> None:
    mine, other = with_effect(world), with_effect(world)
    effect_id = prepared(world, other)
    assert why(transitions.execute(keyed(world), mine.fence, effect_id)) is Why.NOT_FOUND
    assert why(transitions.abandon(world.caller(), mine.fence, effect_id, "")) is Why.NOT_FOUND
    assert why(transitions.execute(keyed(world), mine.fence, "0" * 64)) is Why.NOT_FOUND


def test_the_permit_carries_the_last_etag_of_its_target(world: World) -> None:
    first, second = (
        a_slot("first", target="https://sink.test/doc"),
        a_slot("second", target="https://sink.test/doc"),
    )
    granted = world.claimed(input=with_slots(first, second))
    one = prepared(world, granted, "first")
    permit = permitted(world, granted, one)
    assert permit.resource_etag == ""
    transitions.confirm(world.caller(), granted.fence, one, permit.permit_id, RECEIPT, 'W/"7"')
    assert permitted(world, granted, prepared(world, granted, "second")).resource_etag == 'W/"7"'


def test_effects_that_cannot_be_replayed_are_serialised_by_their_key(world: World) -> None:
    first = with_effect(world, **ONCE_ONLY, serialKey="mails")
    second = with_effect(world, **ONCE_ONLY, serialKey="mails")
    one, _ = executing(world, first)
    two = prepared(world, second)
    with no_change(second.fence.task_id):
        assert why(transitions.execute(keyed(world), second.fence, two)) is Why.SERIAL_BUSY
    transitions.release(world.caller(), first.fence, "night")
    assert state_of(one) is EffectState.UNKNOWN
    assert why(transitions.execute(keyed(world), second.fence, two)) is Why.SERIAL_BUSY, (
        "in doubt is busy, too"
    )
    operator = world.person(world.operator)
    transitions.write_off(operator, one, "nobody can tell", effect_row(one).version)
    permitted(world, second, two)


def test_two_that_looked_at_once_are_told_apart_by_the_index(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = with_effect(world, **ONCE_ONLY, serialKey="mails")
    second = with_effect(world, **ONCE_ONLY, serialKey="mails")
    executing(world, first)
    two = prepared(world, second)
    approved(world, two)
    monkeypatch.setattr(effects, "_is_busy", lambda pool_id, effect: False)
    with no_change(second.fence.task_id):
        assert why(transitions.execute(keyed(world), second.fence, two)) is Why.SERIAL_BUSY
    assert approvals(two) == ["GRANTED"], "and nothing was consumed"
    assert not Permit.objects.filter(effect_id=two).exists()


def test_other_modes_are_not_serialised(world: World) -> None:
    first, second = with_effect(world, serialKey="mails"), with_effect(world, serialKey="mails")
    executing(world, first)
    executing(world, second)


def test_a_prepared_effect_can_be_abandoned_and_keeps_its_payload(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        moved = transitions.abandon(world.caller(), granted.fence, effect_id, "not needed")
    assert isinstance(moved, EffectMoved)
    assert last_body(granted.fence.task_id)["reason"] == "not needed"
    with no_change(granted.fence.task_id):
        assert isinstance(transitions.abandon(world.caller(), granted.fence, effect_id, "again"), EffectMoved)
        other = transitions.prepare(world.caller(), granted.fence, "mail", OTHER_PAYLOAD)
        assert why(other) is Why.PAYLOAD_CONFLICT
        same = transitions.prepare(world.caller(), granted.fence, "mail", PAYLOAD)
        assert isinstance(same, EffectMoved)
        assert same.state is EffectState.ABANDONED


def test_a_required_slot_cannot_be_abandoned(world: World) -> None:
    granted = with_effect(world, required=True)
    effect_id = prepared(world, granted)
    with no_change(granted.fence.task_id):
        assert why(transitions.abandon(world.caller(), granted.fence, effect_id, "")) is Why.SLOT_MISMATCH


@pytest.mark.parametrize("state", ["UNKNOWN", "COMMITTED", "WRITTEN_OFF"])
def test_what_may_have_been_sent_cannot_be_abandoned(world: World, state: str) -> None:
    granted = with_effect(world)
    effect_id = in_state(world, granted, state)
    assert why(transitions.abandon(world.caller(), granted.fence, effect_id, "")) is Why.MUST_RECONCILE


def test_a_permit_past_its_deadline_is_written_down_as_unknown_by_the_sweep(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    assert transitions.expire_permit(sweep_caller(), effect_id) is None, "not before its deadline"
    long_ago(effect_id, 61)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        assert sweeps.sweep().permits == 1
    effect = effect_row(effect_id)
    assert (effect.state, effect.doubts) == (EffectState.UNKNOWN, 1)
    assert sweeps.expire_permits() == 0
    assert transitions.expire_permit(sweep_caller(), "0" * 64) is None


def test_an_earlier_revisions_doubt_has_to_be_reconciled_first(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    specification = with_slots(a_slot("letter", target=effect_row(effect_id).target))
    next_id = revised(world, granted.fence.task_id, specification)
    assert state_of(effect_id) is EffectState.UNKNOWN
    again = world.claimed(task_id=next_id)
    answer = refused(transitions.prepare(world.caller(), again.fence, "letter", PAYLOAD))
    assert (answer.why, answer.extra["effectId"]) == (Why.MUST_RECONCILE, effect_id)
    assert "operator" in answer.sentence


@pytest.mark.parametrize(
    ("counts", "expected"), [(None, Why.MUST_RECONCILE), (True, Why.SLOT_MISMATCH), (False, None)]
)
def test_an_earlier_effect_that_happened_is_the_preparers_to_acknowledge(
    world: World, counts: bool | None, expected: Why | None
) -> None:
    granted = with_effect(world)
    effect_id = in_state(world, granted, "COMMITTED")
    next_id = revised(world, granted.fence.task_id, with_slots(a_slot()))
    again = world.claimed(task_id=next_id)
    if counts is not None:
        transitions.acknowledge(world.person(world.preparer), next_id, Answer(effect_id, counts))
    answer = transitions.prepare(world.caller(), again.fence, "mail", PAYLOAD)
    if expected is None:
        assert isinstance(answer, EffectMoved)
        assert answer.effect_id != effect_id, "a revision has effects of its own"
        return
    assert why(answer) is expected
    assert "acknowledge" in refused(answer).sentence or expected is Why.SLOT_MISMATCH


def test_an_earlier_effect_that_was_never_sent_is_no_obstacle(world: World) -> None:
    granted = with_effect(world)
    prepared(world, granted)
    next_id = revised(world, granted.fence.task_id, with_slots(a_slot()))
    prepared(world, world.claimed(task_id=next_id))


def test_a_late_confirm_of_an_earlier_revision_stops_the_later_ones_permit(world: World) -> None:
    granted = with_effect(world)
    earlier, permit = unknown(world, granted)
    long_ago(earlier, 3_600)
    look = a_look(earlier, Said.DID_NOT_HAPPEN)
    assert isinstance(transitions.reconcile(world.caller(), granted.fence, earlier, look), EffectMoved)
    next_id = revised(world, granted.fence.task_id, with_slots(a_slot()))
    again = world.claimed(task_id=next_id)
    later = prepared(world, again)
    transitions.confirm(world.caller(), granted.fence, earlier, permit.permit_id, RECEIPT)
    answer = refused(transitions.execute(keyed(world), again.fence, later))
    assert (answer.why, answer.extra["effectId"]) == (Why.MUST_RECONCILE, earlier)


def test_what_counts_lets_a_required_slot_be_abandoned_and_delivered(world: World) -> None:
    granted = with_effect(world)
    earlier, permit = unknown(world, granted)
    long_ago(earlier, 3_600)
    transitions.reconcile(world.caller(), granted.fence, earlier, a_look(earlier, Said.DID_NOT_HAPPEN))
    next_id = revised(world, granted.fence.task_id, with_slots(a_slot(required=True)))
    again = world.claimed(task_id=next_id)
    later = prepared(world, again)
    transitions.confirm(world.caller(), granted.fence, earlier, permit.permit_id, RECEIPT)
    operator = world.person(world.operator)
    transitions.reconcile_as_operator(operator, earlier, a_look(earlier), effect_row(earlier).version)
    transitions.acknowledge(world.person(world.preparer), next_id, Answer(earlier, True))
    assert why(transitions.execute(keyed(world), again.fence, later)) is Why.SLOT_MISMATCH
    assert isinstance(transitions.abandon(world.caller(), again.fence, later, "it counts"), EffectMoved)
    world.delivered(granted=again)


def test_deliver_needs_every_effect_settled_and_required_slots_sent(world: World) -> None:
    granted = with_effect(world, required=True)

    def deliver() -> object:
        return transitions.deliver(
            world.caller(), granted.fence, granted.input_digest, staged=world.staged(granted)
        )

    assert why(deliver()) is Why.EFFECTS_UNRESOLVED
    effect_id = prepared(world, granted)
    assert why(deliver()) is Why.EFFECTS_UNRESOLVED
    permit = permitted(world, granted, effect_id)
    assert why(deliver()) is Why.EFFECTS_UNRESOLVED
    transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
    world.delivered(granted=granted)


def test_effects_are_counted_in_one_row_of_the_ledger_a_slot(world: World) -> None:
    granted = with_effect(world)
    executing(world, granted)
    assert Effect.objects.filter(task_id=granted.fence.task_id).count() == 1
