"""claim-next: preferred by the runner first, then priority, then age; only what the agent may have."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from claims import transitions
from claims.models import Agent, IdempotencyKey, Pool
from claims.outcomes import Grants, Why
from claims.vocabulary import ActorKind, Gate, ReclaimPolicy, Verdict
from tests.support.records import refusals_of, task_row, why
from tests.support.world import World, a_specification, a_world, expire, grants_of, judgement

pytestmark = pytest.mark.django_db


def next_of(world: World, number: int = 1, agent: Agent | None = None) -> list[UUID]:
    answer = transitions.claim_next(world.caller(agent), world.pool.name, world.epoch, number)
    return [granted.fence.task_id for granted in grants_of(answer)]


@pytest.mark.parametrize("at_once", [1, 10], ids=["one by one", "many at once"])
def test_the_lower_priority_number_goes_first_and_then_the_older_task(world: World, at_once: int) -> None:
    late, early = world.task(priority=2), world.task(priority=2)
    urgent, idle = world.task(priority=0), world.task(priority=9)
    taken = next_of(world, 10) if at_once == 10 else [next_of(world)[0] for _ in range(4)]
    assert taken == [urgent, late, early, idle]


@pytest.mark.parametrize("at_once", [1, 10], ids=["one by one", "many at once"])
def test_what_is_kept_for_this_runner_goes_before_what_is_urgent(world: World, at_once: int) -> None:
    kept = sent_back_while_draining(world)
    urgent = world.task(priority=0)
    taken = next_of(world, 10) if at_once == 10 else [next_of(world)[0] for _ in range(2)]
    assert taken == [kept, urgent]


def test_what_is_kept_for_one_runner_is_in_line_for_the_others(world: World) -> None:
    kept, urgent = sent_back_while_draining(world), world.task(priority=0)
    assert next_of(world, 10, world.agents[1]) == [urgent, kept]
    assert task_row(kept).preferred_runner_id is None


def test_an_agent_is_given_only_tasks_whose_labels_it_has(world: World) -> None:
    photographed = world.task(input=a_specification(access=["browser"]), priority=0)
    plain = world.task()
    assert next_of(world, 10) == [plain]
    assert next_of(world, 10, world.agent("browser", "gpu")) == [photographed]


def test_a_task_is_not_given_out_before_its_time(world: World) -> None:
    world.task(not_before=timezone.now() + timedelta(hours=1))
    due = world.task(not_before=timezone.now() - timedelta(hours=1))
    assert next_of(world, 10) == [due]


def test_an_expired_auto_claim_is_left_to_the_sweep(world: World) -> None:
    granted = world.claimed(world.agents[1], reclaim_policy=ReclaimPolicy.AUTO)
    expire(granted.fence.task_id)
    assert next_of(world) == []
    transitions.lapse(world.person(world.operator), granted.fence.task_id)
    assert next_of(world) == [granted.fence.task_id]


def test_no_more_are_given_than_were_asked_for(world: World) -> None:
    world.tasks(5)
    assert len(next_of(world, 3)) == 3


def test_an_empty_answer_burns_no_key(world: World) -> None:
    caller = world.caller(key="k1", request_digest="sha256:1")
    empty = transitions.claim_next(caller, world.pool.name, world.epoch)
    assert empty == Grants(())
    assert not IdempotencyKey.objects.filter(key="k1").exists()
    task_id = world.task()
    answer = transitions.claim_next(caller, world.pool.name, world.epoch)
    assert [granted.fence.task_id for granted in grants_of(answer)] == [task_id]


@pytest.mark.parametrize("has_tasks", [True, False])
def test_an_old_epoch_or_a_closed_gate_is_said_also_when_there_is_nothing(
    world: World, has_tasks: bool
) -> None:
    if has_tasks:
        world.task()
    assert why(transitions.claim_next(world.caller(), world.pool.name, world.epoch - 1)) is Why.OLD_EPOCH
    Pool.objects.filter(id=world.pool.id).update(gate=Gate.DRAINING)
    assert why(transitions.claim_next(world.caller(), world.pool.name, world.epoch - 1)) is Why.OLD_EPOCH
    assert why(transitions.claim_next(world.caller(), world.pool.name, world.epoch)) is Why.GATE_CLOSED


@pytest.mark.parametrize("has_tasks", [True, False])
def test_an_agent_of_another_pool_and_a_person_see_no_pool_at_all(world: World, has_tasks: bool) -> None:
    if has_tasks:
        world.task()
    stranger = a_world().caller()
    for caller in (stranger, world.person(world.operator)):
        assert why(transitions.claim_next(caller, world.pool.name, world.epoch)) is Why.NOT_FOUND
        assert why(transitions.claim_next(caller, world.pool.name, world.epoch - 1)) is Why.NOT_FOUND
    assert why(transitions.claim_next(world.caller(), "no-such-pool", 1)) is Why.NOT_FOUND


def test_a_disabled_agent_is_given_nothing(world: World) -> None:
    task_id = world.task()
    transitions.disable_agent(world.person(world.owner), world.agents[0].id)
    assert why(transitions.claim_next(world.caller(), world.pool.name, world.epoch)) is Why.NOT_ELIGIBLE
    assert next_of(world, 1, world.agents[1]) == [task_id]


@pytest.mark.parametrize("seconds", [0, -1, 3_601])
def test_a_lease_out_of_the_pools_bounds_is_not_given(world: World, seconds: int) -> None:
    task_id = world.task()
    answer = transitions.claim_next(world.caller(), world.pool.name, world.epoch, 1, seconds)
    assert why(answer) is Why.MALFORMED
    assert task_row(task_id).attempts_used == 0


def test_a_person_whose_number_is_an_agents_cannot_act_in_its_name(world: World) -> None:
    granted = world.claimed()
    person = world.person(world.operator)
    double = person.__class__(
        person.actor.__class__(ActorKind.PERSON, world.agents[0].id, "somebody"), person.source
    )
    open_task = task_row(world.task())
    assert why(transitions.claim(double, open_task.id, 1, world.epoch)) is Why.NOT_FOUND
    assert why(transitions.claim_next(double, world.pool.name, world.epoch)) is Why.NOT_FOUND
    assert why(transitions.renew(double, granted.fence, 60)) is Why.NOT_FOUND
    assert why(transitions.release(double, granted.fence, "mine now")) is Why.NOT_FOUND
    assert why(transitions.deliver(double, granted.fence, granted.input_digest)) is Why.NOT_FOUND
    assert refusals_of(granted.fence.task_id) == []


def sent_back_while_draining(world: World) -> UUID:
    """A task whose changes its runner could not take at once, so that it is kept for that runner."""
    delivery = world.delivered(priority=5)
    Pool.objects.filter(id=world.pool.id).update(gate=Gate.DRAINING)
    answer = judgement(delivery, Verdict.NOT_MET, "say it louder")
    transitions.request_changes(world.person(world.reviewer), delivery.id, answer)
    Pool.objects.filter(id=world.pool.id).update(gate=Gate.OPEN)
    assert task_row(delivery.task_id).preferred_runner_id == world.agents[0].id
    return delivery.task_id
