"""Leases, fencing and double execution: B03, B04, B05, B06, B11, B13, B15, B16, B17."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from claims import transitions
from claims.callers import sweep_caller
from claims.models import Attempt, CanonicalCommit, Delivery, EvidenceFile, Lease, StagedResult, Token
from claims.outcomes import Committed, Left, Renewed, Staged, Why
from claims.vocabulary import ReclaimPolicy, ReviewPolicy, State
from tests.support.records import no_change, refusals_of, task_row, verbs_of, why
from tests.support.twins import twins
from tests.support.world import World, expire

pytestmark = pytest.mark.django_db


def test_b03_bull_308_a_slow_worker_whose_lease_lapsed_cannot_complete_the_job_twice(sandbox: World) -> None:
    pair = twins(sandbox, review_policy=ReviewPolicy.NONE)
    committed = transitions.commit(
        pair.quick_caller,
        pair.quick.fence,
        pair.quick.input_digest,
        staged=sandbox.staged(pair.quick, sandbox.agents[1]),
    )
    assert isinstance(committed, Committed)
    with no_change(pair.task_id):
        answer = transitions.commit(
            pair.slow_caller,
            pair.slow.fence,
            pair.slow.input_digest,
            staged=sandbox.staged(pair.slow, content=b"other"),
        )
    assert why(answer) is Why.FENCED
    commit = CanonicalCommit.objects.get(task_id=pair.task_id)
    assert (commit.commit_id, commit.attempt_id) == (committed.result_commit_id, pair.quick.fence.attempt_id)


def test_b04_bull_1416_the_losers_failure_is_not_written_on_the_job_of_the_other(world: World) -> None:
    pair = twins(world)
    caller, fence = pair.slow_caller, pair.slow.fence
    before = Attempt.objects.filter(task_id=pair.task_id).order_by("id").values()
    expected = [{**row, "cost": {"tokens": 1}} if row["id"] == fence.attempt_id else row for row in before]
    with no_change(pair.task_id):
        answers = [
            transitions.fail(caller, fence, "boom", True),
            transitions.fail(caller, fence, "boom", False),
            transitions.release(caller, fence, "night"),
            transitions.renew(caller, fence, 60),
            transitions.progress(caller, fence, "99 %", {"tokens": 1}),
            transitions.deliver(caller, fence, pair.slow.input_digest, staged=world.staged(pair.slow)),
            transitions.commit(caller, fence, pair.slow.input_digest, staged=world.staged(pair.slow)),
        ]
    assert [why(answer) for answer in answers] == [Why.FENCED] * len(answers)
    assert list(Attempt.objects.filter(task_id=pair.task_id).order_by("id").values()) == expected, (
        "only what its own ended attempt cost is kept"
    )
    assert len(refusals_of(pair.task_id)) == len(answers)


def test_b05_dpxdt_46_an_upload_that_finishes_late_is_not_linked_to_the_new_claim(world: World) -> None:
    pair = twins(world)
    late = world.staged(pair.slow, content=b"late picture")
    assert transitions.stage(pair.slow_caller, pair.slow.fence, late) == Staged(late.digest, late=True)
    delivered = world.delivered(world.agents[1], pair.quick)
    assert (
        why(transitions.deliver(pair.slow_caller, pair.slow.fence, pair.slow.input_digest, late.digest))
        is Why.FENCED
    )
    assert Delivery.objects.get(task_id=pair.task_id).id == delivered.id
    kept = EvidenceFile.objects.get(sha256=late.evidence[0].sha256)
    assert (kept.attempt_id, kept.late) == (pair.slow.fence.attempt_id, True)
    assert not StagedResult.objects.filter(
        attempt_id=pair.quick.fence.attempt_id, result_digest=late.digest
    ).exists()


def test_b06_lion_reader_917_a_delayed_heartbeat_does_not_steal_a_reclaimed_lease_back(world: World) -> None:
    pair = twins(world)
    before = Lease.objects.filter(task_id=pair.task_id).values().get()
    assert why(transitions.renew(pair.slow_caller, pair.slow.fence, 3_600)) is Why.FENCED
    assert Lease.objects.filter(task_id=pair.task_id).values().get() == before


@pytest.mark.parametrize("since", ["renewed", "committed", "claimed again"])
def test_b11_river_1302_the_sweep_acts_on_what_is_not_on_what_it_saw(sandbox: World, since: str) -> None:
    granted = sandbox.claimed(reclaim_policy=ReclaimPolicy.AUTO, review_policy=ReviewPolicy.NONE)
    task_id = granted.fence.task_id
    expire(task_id)
    if since == "renewed":
        assert isinstance(transitions.renew(sandbox.caller(), granted.fence, 60), Renewed)
    elif since == "committed":
        staged = sandbox.staged(granted)
        transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=staged)
    else:
        sandbox.claimed(sandbox.agents[1], task_id)
    with no_change(task_id):
        assert transitions.lapse(sweep_caller(), task_id) is None


def test_b11_river_1302_a_second_sweep_of_the_same_claim_finds_nothing_to_do(world: World) -> None:
    task_id = world.claimed(reclaim_policy=ReclaimPolicy.AUTO).fence.task_id
    expire(task_id)
    assert isinstance(transitions.lapse(sweep_caller(), task_id), Left)
    with no_change(task_id):
        assert transitions.lapse(sweep_caller(), task_id) is None


def test_b13_procrastinate_1518_a_claim_lapses_although_its_workers_tokens_are_gone(world: World) -> None:
    task_id = world.claimed(reclaim_policy=ReclaimPolicy.AUTO).fence.task_id
    Token.objects.filter(agent=world.agents[0]).delete()
    world.agents[0].agent_pools.all().delete()
    expire(task_id)
    left = transitions.lapse(sweep_caller(), task_id)
    assert isinstance(left, Left)
    assert left.state is State.OPEN


def test_b13_geolens_624_a_new_process_of_the_same_name_does_not_keep_a_dead_claim_alive(
    world: World,
) -> None:
    dead = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    expire(dead.fence.task_id)
    other = world.claimed()
    assert isinstance(transitions.renew(world.caller(), other.fence, 600), Renewed)
    left = transitions.lapse(sweep_caller(), dead.fence.task_id)
    assert isinstance(left, Left)
    assert left.state is State.OPEN


def test_b15_hindsight_2675_a_task_that_kills_its_workers_is_held_and_not_given_out_again(
    world: World,
) -> None:
    task_id = world.task(reclaim_policy=ReclaimPolicy.AUTO, max_attempts=3)
    for number in (1, 2, 3):
        world.claimed(task_id=task_id)
        assert task_row(task_id).attempts_used == number
        expire(task_id)
        transitions.lapse(sweep_caller(), task_id)
    task = task_row(task_id)
    assert task.state == State.HELD
    assert "3 of 3 attempts are used up" in task.reason
    grants = transitions.claim_next(world.caller(), world.pool.name, world.epoch)
    assert getattr(grants, "grants", None) == ()
    answer = transitions.claim(world.caller(), task_id, task.state_version, world.epoch)
    assert why(answer) is Why.NOT_CLAIMABLE


def test_b15_hindsight_2675_the_last_lapsed_claim_cannot_be_taken_over_instead(world: World) -> None:
    task_id = world.claimed(reclaim_policy=ReclaimPolicy.AUTO, max_attempts=1).fence.task_id
    expire(task_id)
    version = task_row(task_id).state_version
    answer = transitions.claim(world.caller(world.agents[1]), task_id, version, world.epoch)
    assert why(answer) is Why.NOT_CLAIMABLE


def test_b16_octo_smart_summary_249_a_wedged_worker_cannot_renew_without_end(world: World) -> None:
    granted = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    task_id = granted.fence.task_id
    past = timedelta(seconds=world.pool.window_seconds - 30)
    Lease.objects.filter(task_id=task_id).update(window_ends_at=F("window_ends_at") - past)
    assert isinstance(transitions.renew(world.caller(), granted.fence, 20), Renewed)
    assert why(transitions.renew(world.caller(), granted.fence, 40)) is Why.WINDOW_EXCEEDED
    expire(task_id)
    assert isinstance(transitions.lapse(sweep_caller(), task_id), Left)


def test_b17_superset_43462_a_release_with_an_old_claim_leaves_the_new_one(world: World) -> None:
    pair = twins(world)
    with no_change(pair.task_id):
        assert why(transitions.release(pair.slow_caller, pair.slow.fence, "night")) is Why.FENCED


def test_b17_superset_43462_an_operator_who_clicks_twice_releases_one_claim(world: World) -> None:
    task_id = world.claimed().fence.task_id
    expire(task_id)
    operator, seen = world.person(world.operator), world.sighting(task_id)
    assert isinstance(transitions.release_quiet(operator, task_id, seen), Left)
    assert why(transitions.release_quiet(operator, task_id, seen)) is Why.NOT_CLAIMED
    world.claimed(world.agents[1], task_id)
    expire(task_id)
    with no_change(task_id):
        assert why(transitions.release_quiet(operator, task_id, seen)) is Why.STALE_STATE
    assert verbs_of(task_id).count("release-quiet") == 1
