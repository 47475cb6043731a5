"""Idempotency keys: same key and request, same answer, one execution (claim.v1 section 4)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db.models import F

from claims import kernel, transitions
from claims.callers import Caller
from claims.models import Attempt, Delivery, IdempotencyKey
from claims.outcomes import Committed, Delivered, Granted, Why
from claims.vocabulary import ReclaimPolicy, ReviewPolicy
from tests.support.records import no_change, task_row, verbs_of, why
from tests.support.world import World, expire, grants_of, judgement

pytestmark = pytest.mark.django_db


def keyed(world: World, key: str = "k1", body: str = "1") -> Caller:
    return world.caller(key=key, request_digest=f"sha256:{body}")


def test_a_claim_asked_again_under_its_key_is_the_same_grant(world: World) -> None:
    task_id = world.task()
    first = transitions.claim(keyed(world), task_id, 1, world.epoch)
    with no_change(task_id):
        again = transitions.claim(keyed(world), task_id, 1, world.epoch)
    assert isinstance(first, Granted)
    assert again == first
    assert Attempt.objects.filter(task_id=task_id).count() == 1


def test_a_claim_next_asked_again_under_its_key_is_the_same_grant(world: World) -> None:
    world.tasks(2)
    first = grants_of(transitions.claim_next(keyed(world), world.pool.name, world.epoch))
    again = grants_of(transitions.claim_next(keyed(world), world.pool.name, world.epoch))
    assert [granted.fence for granted in again] == [granted.fence for granted in first]
    assert [granted.lease_expires_at for granted in again] == [granted.lease_expires_at for granted in first]


def test_the_answer_is_the_same_after_the_claim_lapsed_and_went_to_another(world: World) -> None:
    task_id = world.task(reclaim_policy=ReclaimPolicy.AUTO)
    first = transitions.claim(keyed(world), task_id, 1, world.epoch)
    expire(task_id)
    world.claimed(world.agents[1], task_id)
    assert transitions.claim(keyed(world), task_id, 1, world.epoch) == first


def test_the_answer_is_the_same_after_the_task_is_final(world: World) -> None:
    granted = world.claimed()
    staged = world.staged(granted)
    first = transitions.deliver(keyed(world), granted.fence, granted.input_digest, staged=staged)
    assert isinstance(first, Delivered)
    decided = transitions.accept(
        world.person(world.reviewer, key="k2"), first.delivery_id, judgement(world_delivery(first))
    )
    assert task_row(granted.fence.task_id).state == "DONE"
    again = transitions.deliver(keyed(world), granted.fence, granted.input_digest, staged=staged)
    assert again == first
    repeated = transitions.accept(
        world.person(world.reviewer, key="k2"), first.delivery_id, judgement(world_delivery(first))
    )
    assert repeated == decided


@pytest.mark.parametrize("inline", [True, False])
def test_a_commit_asked_again_under_its_key_is_committed_again(sandbox: World, inline: bool) -> None:
    granted = sandbox.claimed(review_policy=ReviewPolicy.NONE)
    staged = sandbox.staged(granted)
    if not inline:
        transitions.stage(sandbox.caller(), granted.fence, staged)
    first, again = (
        transitions.commit(
            keyed(sandbox), granted.fence, granted.input_digest, staged.digest, staged if inline else None
        )
        for _ in range(2)
    )
    assert isinstance(first, Committed)
    assert again == first


def test_a_key_of_another_verb_is_reused(world: World) -> None:
    granted = transitions.claim(keyed(world), world.task(), 1, world.epoch)
    assert isinstance(granted, Granted)
    with no_change(granted.fence.task_id):
        assert why(transitions.release(keyed(world), granted.fence, "night")) is Why.KEY_REUSED
        assert why(transitions.renew(keyed(world), granted.fence, 60)) is Why.KEY_REUSED


def test_a_key_of_another_body_is_reused(world: World) -> None:
    task_id = world.task()
    transitions.claim(keyed(world), task_id, 1, world.epoch)
    assert why(transitions.claim(keyed(world, body="2"), task_id, 1, world.epoch)) is Why.KEY_REUSED


def test_a_refusal_burns_no_key(world: World) -> None:
    task_id = world.task()
    assert why(transitions.claim(keyed(world), task_id, 7, world.epoch)) is Why.STALE_STATE
    assert not IdempotencyKey.objects.exists()
    assert isinstance(transitions.claim(keyed(world), task_id, 1, world.epoch), Granted)


def test_keys_of_two_agents_and_of_a_person_never_meet(world: World) -> None:
    first, second = world.task(), world.task()
    mine = transitions.claim(keyed(world), first, 1, world.epoch)
    other = transitions.claim(
        world.caller(world.agents[1], key="k1", request_digest="sha256:2"), second, 1, world.epoch
    )
    assert isinstance(mine, Granted)
    assert isinstance(other, Granted)
    adjusted = transitions.adjust(world.person(world.preparer, key="k1"), second, {"priority": 0})
    assert why_not(adjusted) is None
    assert IdempotencyKey.objects.filter(key="k1").count() == 3


def test_a_key_is_kept_for_a_day_and_then_guarded_by_the_state_alone(world: World) -> None:
    task_id = world.task()
    first = transitions.claim(keyed(world), task_id, 1, world.epoch)
    IdempotencyKey.objects.update(used_at=F("used_at") - timedelta(hours=23, minutes=59))
    assert transitions.claim(keyed(world), task_id, 1, world.epoch) == first
    IdempotencyKey.objects.update(used_at=F("used_at") - timedelta(minutes=2))
    assert why(transitions.claim(keyed(world), task_id, 1, world.epoch)) is Why.STALE_STATE


def test_a_key_older_than_a_day_may_be_used_for_something_else(world: World) -> None:
    granted = transitions.claim(keyed(world), world.task(), 1, world.epoch)
    assert isinstance(granted, Granted)
    IdempotencyKey.objects.update(used_at=F("used_at") - timedelta(hours=25))
    transitions.release(keyed(world), granted.fence, "night")
    assert verbs_of(granted.fence.task_id)[-1] == "release"
    assert IdempotencyKey.objects.get(key="k1").verb == "release"


def test_old_keys_are_forgotten_and_young_ones_kept(world: World) -> None:
    transitions.claim(keyed(world, "old"), world.task(), 1, world.epoch)
    IdempotencyKey.objects.update(used_at=F("used_at") - timedelta(hours=25))
    transitions.claim(keyed(world, "young"), world.task(), 1, world.epoch)
    assert kernel.expire_keys() == 1
    assert [row.key for row in IdempotencyKey.objects.all()] == ["young"]


def test_disabling_an_agent_under_a_key_holds_every_task_it_has(world: World) -> None:
    held = [world.claimed().fence.task_id for _ in range(3)]
    caller = replace(world.person(world.owner, key="k1"), request_digest="sha256:1")
    transitions.disable_agent(caller, world.agents[0].id)
    assert [task_row(task_id).state for task_id in held] == ["HELD"] * 3


def why_not(answer: object) -> object:
    return getattr(answer, "why", None)


def world_delivery(first: Delivered) -> Delivery:
    return Delivery.objects.get(id=first.delivery_id)
