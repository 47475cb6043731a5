"""What cannot be taken back needs a person, who approves exactly what was seen, once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from claims import transitions
from claims.decide import Look
from claims.models import Agent, Approval, Effect, Membership, Permit
from claims.outcomes import Approved, EffectMoved, Permitted, Refused, Why
from claims.vocabulary import ApprovalState, Right, Said, Source, State
from tests.support.effects import (
    ONCE_ONLY,
    RECEIPT,
    approvals,
    approved,
    effect_row,
    etag_of,
    keyed,
    long_ago,
    permitted,
    prepared,
    unknown,
    with_effect,
)
from tests.support.planting import plant
from tests.support.records import no_change, one_change, refusals_of, task_row, why
from tests.support.world import World

pytestmark = pytest.mark.django_db


def refused(answer: object) -> Refused:
    assert isinstance(answer, Refused), answer
    return answer


def approve(world: World, effect_id: str, caller: object = None, **changes: object) -> Approved | Refused:
    """An answer to what is true now, but for the changes."""
    effect = effect_row(effect_id)
    seen = {
        "payload_digest": effect.payload_digest,
        "claim_generation": task_row(effect.task_id).claim_generation,
        "scheduler_epoch": world.epoch,
        "doubt": effect.doubts,
        **changes,
    }
    return transitions.approve(caller or world.person(world.reviewer), effect_id, **seen)  # type: ignore[arg-type]


def run_out(effect_id: str) -> None:
    """Let the approvals of an effect have run out; the guard steps aside for this one statement."""
    plant(
        "approval",
        "UPDATE claims_approval SET expires_at = clock_timestamp() - interval '1 second' WHERE effect_id = %s",
        effect_id,
    )


def test_without_an_approval_there_is_no_permit(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    with no_change(granted.fence.task_id):
        answer = refused(transitions.execute(keyed(world), granted.fence, effect_id))
    assert answer.why is Why.APPROVAL_REQUIRED
    assert answer.extra == {
        "effectId": effect_id,
        "slot": "mail",
        "payloadDigest": effect_row(effect_id).payload_digest,
        "claimGeneration": granted.fence.claim_generation,
        "schedulerEpoch": world.epoch,
        "doubt": 0,
    }


def test_an_approval_is_consumed_by_one_permit(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        answer = approved(world, effect_id)
    assert (answer.state, approvals(effect_id)) == (ApprovalState.GRANTED, ["GRANTED"])
    row = Approval.objects.get(id=answer.approval_id)
    assert row.expires_at - row.at == timedelta(hours=1)
    permit = transitions.execute(keyed(world), granted.fence, effect_id)
    assert isinstance(permit, Permitted)
    assert Permit.objects.get(id=permit.permit_id).approval_id == answer.approval_id
    assert approvals(effect_id) == ["CONSUMED"]


def test_after_a_doubt_the_next_approval_names_it(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id, _ = unknown(world, granted)
    long_ago(effect_id, 3_600)
    operator = world.person(world.operator)
    version = effect_row(effect_id).version
    transitions.reconcile_as_operator(
        operator, effect_id, Look(Said.DID_NOT_HAPPEN, etag=etag_of(effect_id)), version
    )
    assert why(transitions.execute(keyed(world), granted.fence, effect_id)) is Why.APPROVAL_REQUIRED
    stale = refused(approve(world, effect_id, doubt=0))
    assert (stale.why, stale.extra["doubt"]) == (Why.STALE_STATE, 1)
    assert "doubt is 1, not 0" in stale.sentence
    approved(world, effect_id, doubt=1)
    assert isinstance(transitions.execute(keyed(world), granted.fence, effect_id), Permitted)


def test_an_approval_that_ran_out_is_none(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    approved(world, effect_id, expires_in_seconds=60)
    run_out(effect_id)
    answer = refused(transitions.execute(keyed(world), granted.fence, effect_id))
    assert answer.why is Why.APPROVAL_REQUIRED
    assert "ran out" in answer.sentence


@pytest.mark.parametrize(
    "changed",
    [
        {"payload_digest": "sha256:" + "0" * 64},
        {"claim_generation": 99},
        {"scheduler_epoch": 1},
        {"doubt": 7},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_an_approval_of_anything_but_what_is_true_now_is_stale(
    world: World, changed: dict[str, object]
) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    world.raise_epoch()
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    with no_change(granted.fence.task_id):
        assert why(approve(world, effect_id, **changed)) is Why.STALE_STATE
    assert refusals_of(granted.fence.task_id) == [("approve", "STALE_STATE")]


@pytest.mark.parametrize("seconds", [59, 86_401])
def test_an_approval_holds_from_a_minute_to_a_day(world: World, seconds: int) -> None:
    effect_id = prepared(world, with_effect(world, **ONCE_ONLY))
    assert why(approve(world, effect_id, expires_in_seconds=seconds)) is Why.MALFORMED


def test_an_approval_of_an_earlier_claim_gives_no_permit_to_the_next(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    approved(world, effect_id)
    transitions.release(world.caller(), granted.fence, "night")
    assert approvals(effect_id) == ["VOID"]
    again = world.claimed(task_id=granted.fence.task_id)
    assert why(transitions.execute(keyed(world), again.fence, effect_id)) is Why.APPROVAL_REQUIRED


def test_nobody_approves_what_no_claim_could_send(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    world.raise_epoch()
    assert why(approve(world, effect_id)) is Why.STALE_STATE, "the claim is of an ended epoch"
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    transitions.release(world.caller(), granted.fence, "night")
    assert why(approve(world, effect_id)) is Why.STALE_STATE, "nobody holds the task"


def test_only_a_prepared_effect_that_cannot_be_replayed_is_approved(world: World) -> None:
    replayable = prepared(world, with_effect(world))
    assert why(approve(world, replayable)) is Why.UNPROCESSABLE
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    permitted(world, granted, effect_id)
    assert why(approve(world, effect_id)) is Why.STALE_STATE


def test_what_was_said_to_have_happened_is_not_approved(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id, permit = unknown(world, granted)
    long_ago(effect_id, 3_600)
    operator = world.person(world.operator)
    version = effect_row(effect_id).version
    transitions.reconcile_as_operator(
        operator, effect_id, Look(Said.DID_NOT_HAPPEN, etag=etag_of(effect_id)), version
    )
    transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
    assert why(approve(world, effect_id)) is Why.MUST_RECONCILE


def test_neither_the_runners_owner_nor_the_preparer_approves(world: World) -> None:
    for person in (world.owner, world.preparer):
        Membership.objects.create(pool=world.pool, person=person, right=Right.ADMIN)
    granted = with_effect(world, by_preparer=True, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    digest = effect_row(effect_id).payload_digest
    for person in (world.owner, world.preparer):
        with no_change(granted.fence.task_id):
            assert why(approve(world, effect_id, world.person(person))) is Why.SELF_REVIEW
            refusal = transitions.refuse(world.person(person), effect_id, digest, "no")
            assert why(refusal) is Why.SELF_REVIEW
            assert why(transitions.revoke(world.person(person), effect_id, "no")) is Why.SELF_REVIEW


def test_who_owned_the_runner_at_the_grant_and_who_owns_it_now_do_not_approve(world: World) -> None:
    Membership.objects.create(pool=world.pool, person=world.owner, right=Right.REVIEWER)
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    Agent.objects.filter(id=world.agents[0].id).update(owner=world.reviewer)
    assert why(approve(world, effect_id, world.person(world.owner))) is Why.SELF_REVIEW
    assert why(approve(world, effect_id, world.person(world.reviewer))) is Why.SELF_REVIEW


def test_only_a_reviewer_at_hand_approves(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    by_token = replace(world.person(world.reviewer), source=Source.API)
    for caller, expected in (
        (world.person(world.operator), Why.NOT_REVIEWER),
        (world.person(world.preparer), Why.NOT_REVIEWER),
        (by_token, Why.NOT_FOUND),
        (world.caller(), Why.NOT_FOUND),
    ):
        with no_change(granted.fence.task_id):
            assert why(approve(world, effect_id, caller)) is expected
            assert why(transitions.refuse(caller, effect_id, "", "no")) is expected
            assert why(transitions.revoke(caller, effect_id, "no")) is expected
    seen = {"claim_generation": 1, "scheduler_epoch": 1, "doubt": 0}
    nothing = transitions.approve(world.person(world.reviewer), "0" * 64, "", **seen)
    assert why(nothing) is Why.NOT_FOUND


def test_a_new_approval_replaces_the_one_before(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    approved(world, effect_id)
    approved(world, effect_id)
    assert approvals(effect_id) == ["VOID", "GRANTED"]


def test_a_refusal_ends_an_approval_and_tells_the_runner_why(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    approved(world, effect_id)
    digest = effect_row(effect_id).payload_digest
    reviewer = world.person(world.reviewer)
    with no_change(granted.fence.task_id):
        assert why(transitions.refuse(reviewer, effect_id, digest, " ")) is Why.UNPROCESSABLE
        assert why(transitions.refuse(reviewer, effect_id, "sha256:" + "0" * 64, "no")) is Why.STALE_STATE
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        answer = transitions.refuse(reviewer, effect_id, digest, "the address is wrong")
    assert isinstance(answer, Approved)
    assert (answer.state, answer.expires_at) == (ApprovalState.REFUSED, None)
    assert approvals(effect_id) == ["VOID", "REFUSED"]
    execute = refused(transitions.execute(keyed(world), granted.fence, effect_id))
    assert execute.why is Why.APPROVAL_REQUIRED
    assert "the address is wrong" in execute.sentence
    approved(world, effect_id)
    assert isinstance(transitions.execute(keyed(world), granted.fence, effect_id), Permitted)


def test_an_approval_is_taken_back_until_a_permit_consumed_it(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    reviewer = world.person(world.reviewer)
    assert why(transitions.revoke(reviewer, effect_id, "no")) is Why.STALE_STATE, "there is none"
    first = approved(world, effect_id)
    second = approved(world, effect_id)
    with no_change(granted.fence.task_id):
        assert why(transitions.revoke(reviewer, effect_id, "no", first.approval_id)) is Why.STALE_STATE
        assert why(transitions.revoke(reviewer, effect_id, " ")) is Why.UNPROCESSABLE
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        answer = transitions.revoke(reviewer, effect_id, "too early", second.approval_id)
    assert isinstance(answer, Approved)
    assert approvals(effect_id) == ["VOID", "REVOKED"]
    execute = refused(transitions.execute(keyed(world), granted.fence, effect_id))
    assert (execute.why, "taken back" in execute.sentence) == (Why.APPROVAL_REQUIRED, True)
    permitted(world, granted, effect_id)
    assert why(transitions.revoke(reviewer, effect_id, "too late")) is Why.STALE_STATE


def test_abandoning_voids_the_approval(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    approved(world, effect_id)
    assert isinstance(transitions.abandon(world.caller(), granted.fence, effect_id, ""), EffectMoved)
    assert approvals(effect_id) == ["VOID"]


def test_an_answer_is_one_row_of_history_that_names_what_it_is_bound_to(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    approved(world, effect_id, note="looks right")
    row = Approval.objects.get(effect_id=effect_id)
    effect = Effect.objects.get(id=effect_id)
    assert (row.payload_digest, row.doubt, row.note) == (effect.payload_digest, 0, "looks right")
    assert (row.claim_generation, row.scheduler_epoch) == (granted.fence.claim_generation, world.epoch)
    assert row.person_id == world.reviewer.id
