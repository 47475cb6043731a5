"""What runners say of the calls they were permitted: settled in time, kept when too late."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from claims import sweeps, transitions
from claims.models import Approval, Observation
from claims.outcomes import EffectMoved, Granted, Permitted, Refused, Why
from claims.vocabulary import EffectState, ReclaimPolicy, Said, State
from tests.support.effects import (
    ONCE_ONLY,
    RECEIPT,
    a_look,
    a_slot,
    approvals,
    approved,
    effect_row,
    executing,
    keyed,
    long_ago,
    observations,
    permitted,
    prepared,
    revised,
    state_of,
    unknown,
    with_effect,
    with_slots,
)
from tests.support.invariants import check
from tests.support.records import no_change, one_change, task_row, verbs_of, why
from tests.support.world import World, a_specification, expire

pytestmark = pytest.mark.django_db

KEPT_HAPPENED = ("HAPPENED", "CONFIRM", False, False)
KEPT_DOUBT = ("CANNOT_TELL", "UNKNOWN", False, False)


def refused(answer: object) -> Refused:
    assert isinstance(answer, Refused), answer
    return answer


def confirm(world: World, granted: Granted, permit: Permitted, **changes: object) -> EffectMoved | Refused:
    return transitions.confirm(
        world.caller(), granted.fence, permit.effect_id, permit.permit_id, RECEIPT, **changes
    )  # type: ignore[arg-type]


def test_a_confirm_with_the_fence_and_the_live_permit_commits_the_effect(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        moved = confirm(world, granted, permit, resource_etag='W/"3"')
    assert isinstance(moved, EffectMoved)
    effect = effect_row(effect_id)
    assert (effect.state, effect.receipt, effect.resource_etag) == ("COMMITTED", RECEIPT, 'W/"3"')
    assert observations(effect_id) == [("HAPPENED", "CONFIRM", True, True)]
    check(granted.fence.task_id)


def test_the_same_confirm_again_has_the_same_answer_also_after_the_claim_has_ended(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    confirm(world, granted, permit)
    with no_change(granted.fence.task_id):
        assert isinstance(confirm(world, granted, permit), EffectMoved)
    world.delivered(granted=granted)
    with no_change(granted.fence.task_id):
        assert isinstance(confirm(world, granted, permit), EffectMoved)
    assert len(observations(effect_id)) == 1


def test_another_receipt_for_a_committed_effect_is_kept_and_changes_nothing(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    confirm(world, granted, permit)
    other = transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, {"id": "msg-2"})
    assert why(other) is Why.MUST_RECONCILE
    effect = effect_row(effect_id)
    assert (effect.state, effect.receipt, effect.has_happened) == ("COMMITTED", RECEIPT, False)
    assert observations(effect_id)[1] == KEPT_HAPPENED


def test_a_runner_that_cannot_tell_leaves_the_effect_in_doubt(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        moved = transitions.unknown(world.caller(), granted.fence, effect_id, permit.permit_id, "cut off")
    assert isinstance(moved, EffectMoved)
    effect = effect_row(effect_id)
    assert (effect.state, effect.doubts) == (EffectState.UNKNOWN, 1)
    assert observations(effect_id) == [("CANNOT_TELL", "UNKNOWN", True, True)]
    with no_change(granted.fence.task_id):
        again = transitions.unknown(world.caller(), granted.fence, effect_id, permit.permit_id, "cut off")
        assert isinstance(again, EffectMoved)


def test_a_confirm_on_an_unknown_effect_is_kept_and_not_applied(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = unknown(world, granted)
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        answer = refused(confirm(world, granted, permit))
    assert answer.why is Why.MUST_RECONCILE
    assert answer.current is not None
    assert answer.current.state_version == task_row(granted.fence.task_id).state_version
    assert answer.extra["etag"] == f"{effect_row(effect_id).version}.0", "the etag is the one it has now"
    assert state_of(effect_id) is EffectState.UNKNOWN
    assert effect_row(effect_id).has_happened
    assert observations(effect_id)[-1] == KEPT_HAPPENED
    assert verbs_of(granted.fence.task_id)[-1] == "observe"
    with no_change(granted.fence.task_id):
        assert why(confirm(world, granted, permit)) is Why.MUST_RECONCILE, "it is not written twice"
    assert len(observations(effect_id)) == 2


def test_a_confirm_after_the_permits_deadline_is_kept_and_not_applied(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    long_ago(effect_id, 61)
    assert why(confirm(world, granted, permit)) is Why.MUST_RECONCILE
    assert (state_of(effect_id), effect_row(effect_id).has_happened) == (EffectState.EXECUTING, True)
    assert observations(effect_id) == [KEPT_HAPPENED]
    late = transitions.unknown(world.caller(), granted.fence, effect_id, permit.permit_id, "late")
    assert why(late) is Why.MUST_RECONCILE
    assert observations(effect_id)[-1] == KEPT_DOUBT


def test_a_confirm_from_a_lost_fence_is_kept_and_not_applied(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    transitions.release(world.caller(), granted.fence, "night")
    with one_change(granted.fence.task_id, raises=0, to=State.OPEN):
        assert why(confirm(world, granted, permit)) is Why.MUST_RECONCILE
    assert (state_of(effect_id), effect_row(effect_id).has_happened) == (EffectState.UNKNOWN, True)
    check(granted.fence.task_id)


@pytest.mark.parametrize("ending", ["cancel", "revise", "hold"])
def test_a_late_confirm_is_kept_in_every_state_of_the_task(world: World, ending: str) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    task_id = granted.fence.task_id
    if ending == "cancel":
        transitions.cancel(world.person(world.preparer), task_id, "not wanted")
    elif ending == "revise":
        revised(world, task_id, a_specification())
    else:
        transitions.fail(world.caller(), granted.fence, "no way", False)
    before = task_row(task_id)
    assert why(confirm(world, granted, permit)) is Why.MUST_RECONCILE
    after = task_row(task_id)
    assert (after.state, after.reason) == (before.state, before.reason)
    assert observations(effect_id) == [KEPT_HAPPENED]
    check(task_id)


def test_the_next_attempt_of_the_same_agent_does_not_settle_the_earlier_ones_permit(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    transitions.release(world.caller(), granted.fence, "night")
    again = world.claimed(task_id=granted.fence.task_id)
    assert why(confirm(world, again, permit)) is Why.MUST_RECONCILE
    assert state_of(effect_id) is EffectState.UNKNOWN


def test_another_permit_than_the_last_one_settles_nothing(world: World) -> None:
    granted = with_effect(world)
    effect_id, first = unknown(world, granted)
    long_ago(effect_id, 3_600)
    look = a_look(effect_id, Said.DID_NOT_HAPPEN)
    assert isinstance(transitions.reconcile(world.caller(), granted.fence, effect_id, look), EffectMoved)
    second = permitted(world, granted, effect_id)
    assert why(confirm(world, granted, first)) is Why.MUST_RECONCILE
    assert state_of(effect_id) is EffectState.EXECUTING
    assert isinstance(confirm(world, granted, second), EffectMoved)


def test_a_stranger_says_nothing_of_anybodys_effect(world: World) -> None:
    granted, other = with_effect(world), with_effect(world, world.agents[1])
    effect_id, permit = executing(world, granted)
    stranger = world.caller(world.agents[1])
    with no_change(granted.fence.task_id):
        for fence in (granted.fence, other.fence):
            answer = transitions.confirm(stranger, fence, effect_id, permit.permit_id, RECEIPT)
            assert why(answer) is Why.NOT_FOUND
        assert why(
            transitions.confirm(world.caller(), other.fence, effect_id, permit.permit_id, RECEIPT)
        ) is (Why.NOT_FOUND)
        nothing = transitions.confirm(world.caller(), granted.fence, effect_id, uuid4(), RECEIPT)
        assert why(nothing) is Why.NOT_FOUND
        person = world.person(world.operator)
        assert (
            why(transitions.confirm(person, granted.fence, effect_id, permit.permit_id, {})) is Why.NOT_FOUND
        )
    assert observations(effect_id) == []


def test_handing_back_leaves_the_effect_in_doubt(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    permitted(world, granted, effect_id, key="lost-answer")
    with one_change(granted.fence.task_id, raises=0, to=State.CLAIMED):
        moved = transitions.hand_back(world.caller(), granted.fence, effect_id, "lost-answer")
    assert isinstance(moved, EffectMoved)
    assert (moved.state, effect_row(effect_id).doubts) == (EffectState.UNKNOWN, 1)
    assert observations(effect_id) == [("CANNOT_TELL", "HAND_BACK", True, True)]
    with no_change(granted.fence.task_id):
        again = transitions.hand_back(world.caller(), granted.fence, effect_id, "lost-answer")
        assert isinstance(again, EffectMoved)


def test_handing_back_after_the_deadline_writes_the_doubt_down(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    permitted(world, granted, effect_id, key="lost-answer")
    long_ago(effect_id, 61)
    assert isinstance(
        transitions.hand_back(world.caller(), granted.fence, effect_id, "lost-answer"), EffectMoved
    )
    assert state_of(effect_id) is EffectState.UNKNOWN


def test_handing_back_from_a_lost_fence_is_only_kept(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    permitted(world, granted, effect_id, key="lost-answer")
    transitions.release(world.caller(), granted.fence, "night")
    again = world.claimed(task_id=granted.fence.task_id)
    answer = transitions.hand_back(world.caller(), again.fence, effect_id, "lost-answer")
    assert why(answer) is Why.MUST_RECONCILE
    assert observations(effect_id) == [("CANNOT_TELL", "HAND_BACK", False, False)]


def test_only_what_was_permitted_under_that_key_can_be_handed_back(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    with no_change(granted.fence.task_id):
        assert why(transitions.hand_back(world.caller(), granted.fence, effect_id, "another")) is (
            Why.UNPROCESSABLE
        )
        assert why(transitions.hand_back(world.caller(), granted.fence, "0" * 64, "another")) is Why.NOT_FOUND


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"receipt": {"id": float("nan")}}, Why.MALFORMED),
        ({"receipt": {"id": "x" * 65_536}}, Why.TOO_LARGE),
        ({"resource_etag": "x" * 201}, Why.MALFORMED),
    ],
)
def test_a_receipt_that_cannot_be_kept_is_refused(
    world: World, changes: dict[str, object], reason: Why
) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    said = {"receipt": RECEIPT, **changes}
    answer = transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, **said)  # type: ignore[arg-type]
    assert why(answer) is reason


Loss = Callable[[World, Granted], None]


def _release(world: World, granted: Granted) -> None:
    transitions.release(world.caller(), granted.fence, "night")


def _fail(world: World, granted: Granted) -> None:
    transitions.fail(world.caller(), granted.fence, "no network", True)


def _lapse(world: World, granted: Granted) -> None:
    expire(granted.fence.task_id)
    sweeps.lapse_due()


def _release_quiet(world: World, granted: Granted) -> None:
    expire(granted.fence.task_id)
    task_id = granted.fence.task_id
    transitions.release_quiet(world.person(world.operator), task_id, world.sighting(task_id))


def _reassign(world: World, granted: Granted) -> None:
    expire(granted.fence.task_id)
    task_id, other = granted.fence.task_id, world.agents[1].name
    transitions.reassign(world.person(world.operator), task_id, world.sighting(task_id), other)


def _cancel(world: World, granted: Granted) -> None:
    transitions.cancel(world.person(world.preparer), granted.fence.task_id, "not wanted")


def _revise(world: World, granted: Granted) -> None:
    revised(world, granted.fence.task_id, with_slots(a_slot()))


def _disable(world: World, granted: Granted) -> None:
    transitions.disable_agent(world.person(world.owner), world.agents[0].id)


def _take(world: World, granted: Granted) -> None:
    expire(granted.fence.task_id)
    world.claimed(world.agents[1], granted.fence.task_id)


def _end_epoch(world: World, granted: Granted) -> None:
    world.raise_epoch()
    sweeps.lapse_due()


LOSSES = [
    _release, _fail, _lapse, _release_quiet, _reassign, _cancel, _revise, _disable, _take, _end_epoch,
]  # fmt: skip


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__.strip("_"))
def test_every_loss_of_authority_leaves_what_was_being_sent_in_doubt(world: World, lose: Loss) -> None:
    granted = world.claimed(
        input=with_slots(a_slot(), a_slot("once", **ONCE_ONLY)), reclaim_policy=ReclaimPolicy.AUTO
    )
    effect_id, _ = executing(world, granted)
    once = prepared(world, granted, "once")
    approved(world, once)
    lose(world, granted)
    effect = effect_row(effect_id)
    assert (effect.state, effect.doubts) == (EffectState.UNKNOWN, 1)
    assert (state_of(once), approvals(once)) == (EffectState.PREPARED, ["VOID"])
    assert Approval.objects.get(effect_id=once).ended_at is not None
    check(granted.fence.task_id)


def test_below_the_epoch_an_effect_reads_as_unknown_before_any_sweep(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    world.raise_epoch()
    answer = refused(confirm(world, granted, permit))
    assert (answer.why, answer.extra["effectState"]) == (Why.MUST_RECONCILE, "UNKNOWN")
    assert observations(effect_id) == [KEPT_HAPPENED]


def test_while_it_is_said_to_have_happened_nobody_executes_or_abandons_it(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = unknown(world, granted)
    long_ago(effect_id, 3_600)
    look = a_look(effect_id, Said.DID_NOT_HAPPEN)
    transitions.reconcile(world.caller(), granted.fence, effect_id, look)
    confirm(world, granted, permit)
    assert (state_of(effect_id), effect_row(effect_id).has_happened) == (EffectState.PREPARED, True)
    answer = refused(transitions.execute(keyed(world), granted.fence, effect_id))
    assert answer.why is Why.MUST_RECONCILE
    assert "an operator has to reconcile" in answer.sentence
    assert why(transitions.abandon(world.caller(), granted.fence, effect_id, "")) is Why.MUST_RECONCILE


def test_an_observation_tells_who_said_what_of_which_permit(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    confirm(world, granted, permit)
    row = Observation.objects.get(effect_id=effect_id)
    assert (row.permit_id, row.attempt_id) == (permit.permit_id, granted.fence.attempt_id)
    assert (row.actor_name, row.receipt, row.task_id) == (
        world.agents[0].name,
        RECEIPT,
        UUID(str(granted.fence.task_id)),
    )
