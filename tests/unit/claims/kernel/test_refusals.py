"""Refusals go to their own table, written outside the rolled-back transaction (claim.v1 section 3)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from claims import transitions
from claims.models import Refusal
from claims.outcomes import Why
from claims.vocabulary import ActorKind, Verdict
from tests.support.records import no_change, refusals_of, why
from tests.support.world import World, fence_but, judgement

pytestmark = pytest.mark.django_db


def test_a_fenced_write_is_recorded_with_what_was_presented_and_what_is_current(world: World) -> None:
    granted = world.claimed()
    wrong = fence_but(granted.fence, claim_generation=granted.fence.claim_generation + 1)
    with no_change(granted.fence.task_id):
        assert why(transitions.renew(world.caller(), wrong, 60)) is Why.FENCED
    refusal = Refusal.objects.get(task_id=granted.fence.task_id)
    assert (refusal.verb, refusal.why, refusal.pool_id) == ("renew", "FENCED", world.pool.id)
    assert refusal.presented == wrong.as_json()
    assert refusal.current["claimGeneration"] == granted.fence.claim_generation
    assert (refusal.actor_kind, refusal.actor_id) == (ActorKind.AGENT, world.agents[0].id)
    assert refusal.attempt_id == granted.fence.attempt_id


def test_every_runners_verb_with_a_lost_fence_is_recorded_on_the_task(world: World) -> None:
    granted = world.claimed()
    lost = fence_but(granted.fence, claim_generation=0)
    caller = world.caller()
    with no_change(granted.fence.task_id):
        transitions.renew(caller, lost, 60)
        transitions.progress(caller, lost, "still here")
        transitions.release(caller, lost, "night")
        transitions.fail(caller, lost, "no", True)
        transitions.deliver(caller, lost, granted.input_digest)
        transitions.commit(caller, lost, granted.input_digest)
    verbs = ["renew", "progress", "release", "fail", "deliver", "commit"]
    assert refusals_of(granted.fence.task_id) == [(verb, "FENCED") for verb in verbs]


def test_a_refused_decision_is_recorded_on_its_task(world: World) -> None:
    delivery = world.delivered()
    stale = judgement(delivery, subject_digest=f"sha256:{'0' * 64}")
    transitions.accept(world.person(world.reviewer), delivery.id, stale)
    transitions.reject(world.person(world.owner), delivery.id, judgement(delivery, Verdict.NOT_MET, "no"))
    assert refusals_of(delivery.task_id) == [("accept", "STALE_DELIVERY"), ("reject", "NOT_REVIEWER")]


def test_a_refused_operator_is_recorded_on_the_task(world: World) -> None:
    task_id = world.claimed().fence.task_id
    transitions.release_quiet(world.person(world.operator), task_id, world.sighting(task_id))
    assert refusals_of(task_id) == [("release-quiet", "NOT_QUIET")]


def test_arguments_by_name_are_recorded_as_well(world: World) -> None:
    granted = world.claimed()
    wrong = fence_but(granted.fence, claim_generation=0)
    transitions.release(world.caller(), fence=wrong, reason="night")
    assert refusals_of(granted.fence.task_id) == [("release", "FENCED")]


def test_what_does_not_exist_leaves_no_trace(world: World) -> None:
    granted = world.claimed()
    nowhere = fence_but(granted.fence, task_id=uuid4())
    assert why(transitions.renew(world.caller(), nowhere, 60)) is Why.NOT_FOUND
    assert (
        why(transitions.accept(world.person(world.reviewer), uuid4(), judgement(world.delivered())))
        is Why.NOT_FOUND
    )
    assert Refusal.objects.count() == 0


def test_a_refused_change_writes_no_history_and_burns_no_version(world: World) -> None:
    task_id = world.task()
    with no_change(task_id):
        assert why(transitions.claim(world.caller(), task_id, 1, world.epoch + 1)) is Why.OLD_EPOCH
        assert (
            why(transitions.adjust(world.person(world.reviewer), task_id, {"priority": 0})) is Why.FORBIDDEN
        )
    assert refusals_of(task_id) == [("claim", "OLD_EPOCH"), ("adjust", "FORBIDDEN")]
