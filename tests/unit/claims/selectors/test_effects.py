"""Effects as people read them: what every decision would find, and the lists that wait for somebody."""

from __future__ import annotations

import pytest

from claims import transitions
from claims.decide import Look
from claims.selectors import effects
from claims.vocabulary import ApprovalState, EffectState, Said
from tests.support.effects import (
    ONCE_ONLY,
    PAYLOAD,
    RECEIPT,
    a_look,
    a_slot,
    approved,
    effect_row,
    etag_of,
    executing,
    fence_of,
    keyed,
    long_ago,
    prepared,
    revised,
    unknown,
    with_effect,
    with_slots,
)
from tests.support.world import World, a_world

pytestmark = pytest.mark.django_db


def seen(effect_id: str) -> effects.EffectSeen:
    found = effects.effect(effect_id)
    assert found is not None
    return found


def test_an_effect_is_read_with_its_permit_and_what_was_said_of_it(world: World) -> None:
    granted = with_effect(world)
    effect_id, permit = executing(world, granted)
    read = seen(effect_id)
    assert (read.state, read.payload, read.task_id) == (
        EffectState.EXECUTING,
        PAYLOAD,
        granted.fence.task_id,
    )
    assert read.permit is not None
    assert (read.permit.permit_id, read.permit.is_live) == (permit.permit_id, True)
    transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
    read = seen(effect_id)
    assert (read.state, read.receipt) == (EffectState.COMMITTED, RECEIPT)
    assert [(each.said, each.via, each.actor) for each in read.observations] == [
        ("HAPPENED", "CONFIRM", world.agents[0].name)
    ]
    assert effects.effect("0" * 64) is None


def test_an_effect_past_its_deadline_or_below_the_epoch_reads_as_unknown(world: World) -> None:
    late, _ = executing(world, with_effect(world))
    long_ago(late, 61)
    assert (seen(late).state, effect_row(late).state) == (EffectState.UNKNOWN, EffectState.EXECUTING)
    below, _ = executing(world, with_effect(world))
    world.raise_epoch()
    read = seen(below)
    assert (read.state, read.permit is not None and read.permit.is_live) == (EffectState.UNKNOWN, False)


def test_the_etag_that_is_read_is_the_one_an_observation_has_to_name(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = unknown(world, granted)
    for seconds in (119, 60):
        long_ago(effect_id, seconds)
        assert seen(effect_id).etag == etag_of(effect_id)
    look = a_look(effect_id, etag=seen(effect_id).etag)
    transitions.reconcile(world.caller(), granted.fence, effect_id, look)
    assert seen(effect_id).state is EffectState.COMMITTED


def test_the_effects_of_a_task_are_its_own_and_those_of_a_lineage_are_of_all_revisions(world: World) -> None:
    granted = world.claimed(input=with_slots(a_slot("first"), a_slot("second")))
    first, second = prepared(world, granted, "first"), prepared(world, granted, "second")
    next_id = revised(world, granted.fence.task_id, with_slots(a_slot("third")))
    third = prepared(world, world.claimed(task_id=next_id), "third")
    assert [each.effect_id for each in effects.of_task(granted.fence.task_id)] == [first, second]
    lineage = [each.effect_id for each in effects.of_lineage(granted.fence.task_id)]
    assert lineage == [first, second, third]


def test_operators_find_what_is_under_way_in_doubt_or_contested_in_their_pools(world: World) -> None:
    under_way, _ = executing(world, with_effect(world))
    doubtful, _ = unknown(world, with_effect(world))
    prepared(world, with_effect(world))
    contested_grant = with_effect(world)
    contested, permit = unknown(world, contested_grant)
    long_ago(contested, 3_600)
    look = a_look(contested, Said.DID_NOT_HAPPEN)
    transitions.reconcile(world.caller(), contested_grant.fence, contested, look)
    transitions.confirm(world.caller(), contested_grant.fence, contested, permit.permit_id, RECEIPT)
    found = [each.effect_id for each in effects.for_operators([world.pool.id])]
    assert found == [under_way, doubtful, contested]
    assert effects.for_operators([a_world().pool.id]) == []


def test_reviewers_find_what_waits_for_a_person(world: World) -> None:
    waits = prepared(world, with_effect(world, **ONCE_ONLY))
    prepared(world, with_effect(world))
    good = prepared(world, with_effect(world, **ONCE_ONLY))
    approved(world, good)
    refused = prepared(world, with_effect(world, **ONCE_ONLY))
    digest = effect_row(refused).payload_digest
    transitions.refuse(world.person(world.reviewer), refused, digest, "the address is wrong")
    left = with_effect(world, **ONCE_ONLY)
    prepared(world, left)
    transitions.release(world.caller(), left.fence, "night")
    assert [each.effect_id for each in effects.for_reviewers([world.pool.id])] == [waits]
    assert effects.for_reviewers([a_world().pool.id]) == []


def test_an_answer_that_was_given_for_another_claim_waits_again(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    digest = effect_row(effect_id).payload_digest
    transitions.refuse(world.person(world.reviewer), effect_id, digest, "not tonight")
    assert effects.for_reviewers([world.pool.id]) == []
    transitions.release(world.caller(), granted.fence, "night")
    world.claimed(task_id=granted.fence.task_id)
    assert [each.effect_id for each in effects.for_reviewers([world.pool.id])] == [effect_id]


def test_an_approval_is_read_as_good_only_while_a_permit_could_consume_it(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    assert seen(effect_id).approval is None
    approved(world, effect_id)
    answer = seen(effect_id).approval
    assert answer is not None
    assert (answer.state, answer.is_good, answer.person) == (
        ApprovalState.GRANTED,
        True,
        world.reviewer.username,
    )
    permitted_now = permitted_after(world, effect_id)
    assert (permitted_now.state, permitted_now.is_good) == (ApprovalState.CONSUMED, False)


def permitted_after(world: World, effect_id: str) -> effects.ApprovalSeen:
    """The answer once a permit has consumed it."""
    transitions.execute(keyed(world), fence_of(effect_row(effect_id).task_id), effect_id)
    answer = seen(effect_id).approval
    assert answer is not None
    return answer


def test_a_doubt_that_was_written_off_is_on_nobodys_list(world: World) -> None:
    effect_id, _ = unknown(world, with_effect(world))
    transitions.write_off(world.person(world.operator), effect_id, "no", effect_row(effect_id).version)
    assert effects.for_operators([world.pool.id]) == []
    assert seen(effect_id).state is EffectState.WRITTEN_OFF


def test_an_operators_look_is_among_the_observations(world: World) -> None:
    effect_id, _ = unknown(world, with_effect(world))
    look = Look(Said.HAPPENED, receipt=RECEIPT, note="asked them")
    version = effect_row(effect_id).version
    transitions.reconcile_as_operator(world.person(world.operator), effect_id, look, version)
    last = seen(effect_id).observations[-1]
    assert (last.said, last.via, last.note, last.is_applied) == ("HAPPENED", "OPERATOR", "asked them", True)


def test_a_list_of_many_effects_takes_as_many_queries_as_one(
    world: World, django_assert_max_num_queries: object
) -> None:
    for _ in range(3):
        unknown(world, with_effect(world))
    with django_assert_max_num_queries(6):  # type: ignore[operator]
        assert len(effects.for_operators([world.pool.id])) == 3
