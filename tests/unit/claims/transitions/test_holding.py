"""What the tables show of leases, attempts and operators' acts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from claims import transitions
from claims.models import AgentPool, Attempt, Lease
from claims.outcomes import Granted, Left, Noted, Renewed, Why
from claims.vocabulary import AttemptOutcome, ReclaimPolicy, State
from tests.support.records import no_change, task_row, why
from tests.support.world import World, a_world, expire

pytestmark = pytest.mark.django_db


def renewed(world: World, granted: Granted, seconds: int = 300) -> Renewed:
    answer = transitions.renew(world.caller(), granted.fence, seconds)
    assert isinstance(answer, Renewed), answer
    return answer


@pytest.mark.parametrize("key", [None, "k1"], ids=["short way", "long way"])
def test_a_renewal_after_expiry_is_recovered_and_moves_no_version(world: World, key: str | None) -> None:
    granted = world.claimed()
    before = task_row(granted.fence.task_id)
    expire(granted.fence.task_id)
    answer = transitions.renew(replace(world.caller(), key=key), granted.fence, 120)
    assert isinstance(answer, Renewed)
    assert answer.recovered
    after = task_row(granted.fence.task_id)
    assert (after.state_version, after.claim_generation) == (before.state_version, before.claim_generation)
    lease = Lease.objects.get(task_id=granted.fence.task_id)
    assert (lease.expires_at, lease.renewals) == (answer.lease_expires_at, 1)


@pytest.mark.parametrize("key", [None, "k1"], ids=["short way", "long way"])
def test_a_renewal_never_shortens_the_lease_in_the_table(world: World, key: str | None) -> None:
    granted = world.claimed(ttl_seconds=900)
    answer = transitions.renew(replace(world.caller(), key=key), granted.fence, 1)
    assert isinstance(answer, Renewed)
    assert answer.lease_expires_at == granted.lease_expires_at
    assert Lease.objects.get(task_id=granted.fence.task_id).expires_at == granted.lease_expires_at


@pytest.mark.parametrize("seconds", [0, -5, 3_601])
def test_a_renewal_out_of_bounds_is_malformed_the_short_way_too(world: World, seconds: int) -> None:
    granted = world.claimed()
    with no_change(granted.fence.task_id):
        assert why(transitions.renew(world.caller(), granted.fence, seconds)) is Why.MALFORMED


def test_a_nudge_is_told_once(world: World) -> None:
    granted = world.claimed()
    task_id = granted.fence.task_id
    expire(task_id)
    noted = transitions.nudge(world.person(world.operator), task_id, world.sighting(task_id))
    assert isinstance(noted, Noted)
    assert renewed(world, granted).nudged
    assert not renewed(world, granted).nudged


def test_a_claim_is_extended_once_and_a_new_grant_may_be_extended_again(world: World) -> None:
    granted = world.claimed()
    task_id, operator = granted.fence.task_id, world.person(world.operator)
    for expected in (Noted, None):
        expire(task_id)
        answer = transitions.extend_once(operator, task_id, world.sighting(task_id))
        assert isinstance(answer, expected) if expected else why(answer) is Why.ALREADY_EXTENDED
    transitions.reassign(operator, task_id, world.sighting(task_id), world.agents[1].name)
    expire(task_id)
    assert isinstance(transitions.extend_once(operator, task_id, world.sighting(task_id)), Noted)


def test_extending_takes_no_authority_away(world: World) -> None:
    granted = world.claimed()
    expire(granted.fence.task_id)
    transitions.extend_once(
        world.person(world.operator), granted.fence.task_id, world.sighting(granted.fence.task_id)
    )
    assert not renewed(world, granted).recovered


def test_a_quiet_manual_claim_is_left_alone_by_claims_and_sweeps(world: World) -> None:
    granted = world.claimed()
    task_id = granted.fence.task_id
    expire(task_id, seconds=86_400)
    with no_change(task_id):
        assert transitions.lapse(world.person(world.operator), task_id) is None
        version = task_row(task_id).state_version
        answer = transitions.claim(world.caller(world.agents[1]), task_id, version, world.epoch)
    assert why(answer) is Why.NOT_CLAIMABLE
    assert renewed(world, granted).recovered


def test_an_auto_claim_that_lapsed_counts_its_attempt_and_then_is_held(world: World) -> None:
    task_id = world.task(reclaim_policy=ReclaimPolicy.AUTO, max_attempts=2)
    for state in (State.OPEN, State.HELD):
        world.claimed(task_id=task_id)
        expire(task_id)
        left = transitions.lapse(world.person(world.operator), task_id)
        assert isinstance(left, Left)
        assert left.state is state
    assert task_row(task_id).reason == (
        "2 of 2 attempts are used up (the last one lapsed). An operator can requeue it."
    )
    outcomes = Attempt.objects.filter(task_id=task_id).values_list("outcome", flat=True)
    assert list(outcomes) == [AttemptOutcome.LAPSED] * 2


def test_requeueing_starts_the_attempts_anew(world: World) -> None:
    granted = world.claimed(max_attempts=1)
    task_id = granted.fence.task_id
    transitions.release(world.caller(), granted.fence, "night")
    assert task_row(task_id).state == State.HELD
    transitions.requeue(world.person(world.operator), task_id, world.sighting(task_id))
    task = task_row(task_id)
    assert (task.state, task.reason, task.attempts_used) == (State.OPEN, "", 0)
    assert world.claimed(task_id=task_id).fence.claim_generation == granted.fence.claim_generation + 2


def test_a_claim_below_the_epoch_is_ended_as_fenced_by_the_sweep(world: World) -> None:
    auto = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    manual = world.claimed()
    world.raise_epoch()
    for granted, state in ((auto, State.OPEN), (manual, State.HELD)):
        left = transitions.lapse(world.person(world.operator), granted.fence.task_id)
        assert isinstance(left, Left)
        assert left.state is state
        assert Attempt.objects.get(id=granted.fence.attempt_id).outcome == AttemptOutcome.FENCED
        assert task_row(granted.fence.task_id).claim_generation == granted.fence.claim_generation + 1


def test_a_fence_of_an_old_epoch_is_fenced_before_any_sweep_ran(world: World) -> None:
    granted = world.claimed()
    world.raise_epoch()
    with no_change(granted.fence.task_id):
        assert why(transitions.renew(world.caller(), granted.fence, 60)) is Why.FENCED
        assert why(transitions.release(world.caller(), granted.fence, "night")) is Why.FENCED
        delivered = transitions.deliver(
            world.caller(), granted.fence, granted.input_digest, staged=world.staged(granted)
        )
        assert why(delivered) is Why.FENCED


def test_releasing_a_quiet_claim_fences_its_runner_from_then_on(world: World) -> None:
    granted = world.claimed()
    task_id = granted.fence.task_id
    expire(task_id)
    transitions.release_quiet(world.person(world.operator), task_id, world.sighting(task_id))
    assert why(transitions.renew(world.caller(), granted.fence, 60)) is Why.FENCED
    assert (
        world.claimed(world.agents[1], task_id).fence.claim_generation == granted.fence.claim_generation + 2
    )


def test_the_lease_counts_from_the_databases_clock_after_the_lock(world: World) -> None:
    granted = world.claimed(ttl_seconds=77)
    attempt = Attempt.objects.get(id=granted.fence.attempt_id)
    assert granted.lease_expires_at - attempt.started_at == timedelta(seconds=77)
    assert granted.window_ends_at - attempt.started_at == timedelta(seconds=world.pool.window_seconds)


def test_progress_is_kept_on_the_attempt_alone(world: World) -> None:
    granted = world.claimed()
    before = task_row(granted.fence.task_id).state_version
    transitions.progress(world.caller(), granted.fence, "halfway", {"tokens": 12})
    attempt = Attempt.objects.get(id=granted.fence.attempt_id)
    assert (attempt.note, attempt.cost) == ("halfway", {"tokens": 12})
    assert task_row(granted.fence.task_id).state_version == before


def test_several_renewals_answer_each_for_itself_in_the_order_they_were_asked(world: World) -> None:
    first, lost, last = world.claimed(), world.claimed(), world.claimed()
    given_back = transitions.release(world.caller(), lost.fence, "not mine")
    assert isinstance(given_back, Left)
    items = [(granted.fence, 900) for granted in (last, lost, first)]
    answers = transitions.renew_many(world.caller(), items)
    assert [type(answer).__name__ for answer in answers] == ["Renewed", "Refused", "Renewed"]
    assert why(answers[1]) is Why.FENCED
    expiries = [Lease.objects.get(task_id=granted.fence.task_id).expires_at for granted in (last, first)]
    assert expiries == [answers[0].lease_expires_at, answers[2].lease_expires_at]  # type: ignore[union-attr]


@pytest.mark.django_db(transaction=True)
def test_several_renewals_are_one_transaction_a_pool() -> None:
    billing, sandbox = a_world(), a_world()
    AgentPool.objects.create(agent=billing.agents[0], pool=sandbox.pool)
    agent = billing.agents[0]
    grants = [world.claimed(agent) for world in (billing, sandbox, billing, sandbox)]
    answers = transitions.renew_many(billing.caller(), [(granted.fence, 900) for granted in grants])
    assert all(isinstance(answer, Renewed) for answer in answers)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.pool_id, count(DISTINCT l.xmin::text), count(*) FROM claims_lease l JOIN claims_task t ON t.id = l.task_id GROUP BY 1"
        )
        assert sorted(row[1:] for row in cursor.fetchall()) == [(1, 2), (1, 2)]
        cursor.execute("SELECT count(DISTINCT xmin::text) FROM claims_lease")
        assert cursor.fetchone() == (2,)
