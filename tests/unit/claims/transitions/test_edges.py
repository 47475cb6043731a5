"""Every edge of the contract, walked by the real verbs: one history row, the generation raised where it must."""

from __future__ import annotations

from uuid import UUID

import pytest

from claims import transitions
from claims.callers import sweep_caller
from claims.lifecycle import EDGES, Edge
from claims.models import Attempt, Lease, Pool
from claims.outcomes import Granted, Refused
from claims.vocabulary import AttemptOutcome, Gate, ReclaimPolicy, ReviewPolicy, State, Verb, Verdict
from tests.support import walks_of_effects, walks_of_graphs  # noqa: F401 - each registers the edges it walks
from tests.support.records import task_row
from tests.support.walks import WALKED, Walk, walks
from tests.support.world import World, a_world, expire, grants_of, judgement

pytestmark = pytest.mark.django_db

LAST = {"max_attempts": 1}
AUTO = {"reclaim_policy": ReclaimPolicy.AUTO}


@walks(State.OPEN, Verb.CLAIM, State.CLAIMED)
def _(world: World) -> Walk:
    task_id = world.task()
    return task_id, lambda: world.claimed(task_id=task_id)


@walks(State.OPEN, Verb.CLAIM_NEXT, State.CLAIMED)
def _(world: World) -> Walk:
    task_id = world.task()
    return task_id, lambda: grants_of(transitions.claim_next(world.caller(), world.pool.name, world.epoch))[0]


@walks(State.OPEN, Verb.REASSIGN, State.CLAIMED)
def _(world: World) -> Walk:
    task_id = world.task()
    return task_id, lambda: reassign(world, task_id)


@walks(State.CLAIMED, Verb.CLAIM, State.CLAIMED)
def _(world: World) -> Walk:
    task_id = quiet(world, **AUTO)
    return task_id, lambda: world.claimed(world.agents[1], task_id)


@walks(State.CLAIMED, Verb.REASSIGN, State.CLAIMED)
def _(world: World) -> Walk:
    task_id = quiet(world)
    return task_id, lambda: reassign(world, task_id)


@walks(State.DELIVERED, Verb.REQUEST_CHANGES, State.CLAIMED)
def _(world: World) -> Walk:
    return send_back(world)


@walks(State.DELIVERED, Verb.REQUEST_CHANGES, State.OPEN)
def _(world: World) -> Walk:
    walk = send_back(world)
    Pool.objects.filter(id=world.pool.id).update(gate=Gate.DRAINING)
    return walk


@walks(State.DELIVERED, Verb.REQUEST_CHANGES, State.HELD)
def _(world: World) -> Walk:
    walk = send_back(world, **LAST)
    Pool.objects.filter(id=world.pool.id).update(gate=Gate.DRAINING)
    return walk


@walks(State.CLAIMED, Verb.RELEASE, State.OPEN)
def _(world: World) -> Walk:
    granted = world.claimed()
    return granted.fence.task_id, lambda: transitions.release(world.caller(), granted.fence, "night")


@walks(State.CLAIMED, Verb.RELEASE, State.HELD)
def _(world: World) -> Walk:
    granted = world.claimed(**LAST)
    return granted.fence.task_id, lambda: transitions.release(world.caller(), granted.fence, "night")


@walks(State.CLAIMED, Verb.FAIL, State.OPEN)
def _(world: World) -> Walk:
    granted = world.claimed()
    return granted.fence.task_id, lambda: transitions.fail(world.caller(), granted.fence, "no network", True)


@walks(State.CLAIMED, Verb.FAIL, State.HELD)
def _(world: World) -> Walk:
    granted = world.claimed()
    return granted.fence.task_id, lambda: transitions.fail(world.caller(), granted.fence, "no way", False)


@walks(State.CLAIMED, Verb.RELEASE_QUIET, State.OPEN)
def _(world: World) -> Walk:
    task_id = quiet(world)
    return task_id, lambda: release_quiet(world, task_id)


@walks(State.CLAIMED, Verb.RELEASE_QUIET, State.HELD)
def _(world: World) -> Walk:
    task_id = quiet(world, **LAST)
    return task_id, lambda: release_quiet(world, task_id)


@walks(State.CLAIMED, Verb.LAPSE, State.OPEN)
def _(world: World) -> Walk:
    task_id = quiet(world, **AUTO)
    return task_id, lambda: transitions.lapse(sweep_caller(), task_id)


@walks(State.CLAIMED, Verb.LAPSE, State.HELD)
def _(world: World) -> Walk:
    task_id = quiet(world, **AUTO, **LAST)
    return task_id, lambda: transitions.lapse(sweep_caller(), task_id)


@walks(State.CLAIMED, Verb.DISABLE_AGENT, State.HELD)
def _(world: World) -> Walk:
    granted = world.claimed()
    agent = world.agents[0]
    return granted.fence.task_id, lambda: transitions.disable_agent(world.person(world.owner), agent.id)


@walks(State.CLAIMED, Verb.COMMIT, State.DONE)
def _(world: World) -> Walk:
    granted = world.claimed(review_policy=ReviewPolicy.NONE)
    staged = world.staged(granted)
    return granted.fence.task_id, lambda: transitions.commit(
        world.caller(), granted.fence, granted.input_digest, staged=staged
    )


@walks(State.CLAIMED, Verb.DELIVER, State.DELIVERED)
def _(world: World) -> Walk:
    granted = world.claimed()
    return granted.fence.task_id, lambda: world.delivered(granted=granted)


@walks(State.DELIVERED, Verb.ACCEPT, State.DONE)
def _(world: World) -> Walk:
    delivery = world.delivered()
    return delivery.task_id, lambda: transitions.accept(
        world.person(world.reviewer), delivery.id, judgement(delivery)
    )


@walks(State.DELIVERED, Verb.REJECT, State.OPEN)
def _(world: World) -> Walk:
    return reject(world)


@walks(State.DELIVERED, Verb.REJECT, State.HELD)
def _(world: World) -> Walk:
    return reject(world, **LAST)


@walks(State.HELD, Verb.REQUEUE, State.OPEN)
def _(world: World) -> Walk:
    task_id = held(world)
    return task_id, lambda: transitions.requeue(
        world.person(world.operator), task_id, world.sighting(task_id)
    )


@walks(State.OPEN, Verb.ADJUST, State.OPEN)
def _(world: World) -> Walk:
    return adjust(world, world.task())


@walks(State.CLAIMED, Verb.ADJUST, State.CLAIMED)
def _(world: World) -> Walk:
    return adjust(world, world.claimed().fence.task_id)


@walks(State.DELIVERED, Verb.ADJUST, State.DELIVERED)
def _(world: World) -> Walk:
    return adjust(world, world.delivered().task_id)


@walks(State.HELD, Verb.ADJUST, State.HELD)
def _(world: World) -> Walk:
    return adjust(world, held(world))


@walks(State.CLAIMED, Verb.EXTEND_ONCE, State.CLAIMED)
def _(world: World) -> Walk:
    task_id = quiet(world)
    return task_id, lambda: transitions.extend_once(
        world.person(world.operator), task_id, world.sighting(task_id)
    )


@walks(State.CLAIMED, Verb.NUDGE, State.CLAIMED)
def _(world: World) -> Walk:
    task_id = quiet(world)
    return task_id, lambda: transitions.nudge(world.person(world.operator), task_id, world.sighting(task_id))


REACHABLE = [edge for edge in EDGES if edge.source is not None]


@pytest.mark.parametrize("edge", REACHABLE, ids=lambda edge: f"{edge.verb}: {edge}")
def test_an_edge_writes_one_history_row_and_raises_the_generation_where_the_table_says_so(edge: Edge) -> None:
    assert edge.source is not None
    WALKED[edge.source, edge.verb, edge.target](a_world(allows_unreviewed=True), edge.raises)


def test_every_edge_that_is_walked_is_in_the_table() -> None:
    assert set(WALKED) == {(edge.source, edge.verb, edge.target) for edge in REACHABLE}


def test_every_edge_that_grants_makes_one_attempt_with_a_lease_of_its_own(world: World) -> None:
    granted = world.claimed()
    attempt, lease = (
        Attempt.objects.get(id=granted.fence.attempt_id),
        Lease.objects.get(task_id=granted.fence.task_id),
    )
    assert attempt.outcome is None
    assert (lease.attempt_id, lease.claim_generation) == (attempt.id, granted.fence.claim_generation)
    assert attempt.owner_id == world.owner.id


def test_taking_an_expired_auto_claim_ends_one_authority_and_raises_once(world: World) -> None:
    task_id = quiet(world, **AUTO)
    before = task_row(task_id)
    granted = world.claimed(world.agents[1], task_id)
    assert granted.fence.claim_generation == before.claim_generation + 1
    assert Attempt.objects.get(id=before.attempt_id).outcome == AttemptOutcome.LAPSED
    assert Lease.objects.filter(task_id=task_id).count() == 1


def test_a_delivery_ends_the_lease_and_keeps_the_fence(world: World) -> None:
    granted = world.claimed()
    world.delivered(granted=granted)
    task = task_row(granted.fence.task_id)
    assert not Lease.objects.filter(task_id=task.id).exists()
    assert (task.attempt_id, task.claim_generation) == (
        granted.fence.attempt_id,
        granted.fence.claim_generation,
    )


def quiet(world: World, **attributes: object) -> UUID:
    granted = world.claimed(**attributes)  # type: ignore[arg-type]
    expire(granted.fence.task_id)
    return granted.fence.task_id


def held(world: World) -> UUID:
    granted = world.claimed()
    transitions.fail(world.caller(), granted.fence, "no way", False)
    return granted.fence.task_id


def send_back(world: World, **attributes: object) -> Walk:
    delivery = world.delivered(**attributes)  # type: ignore[arg-type]
    answer = judgement(delivery, Verdict.NOT_MET, "say it louder")
    return delivery.task_id, lambda: transitions.request_changes(
        world.person(world.reviewer), delivery.id, answer
    )


def reject(world: World, **attributes: object) -> Walk:
    delivery = world.delivered(**attributes)  # type: ignore[arg-type]
    answer = judgement(delivery, Verdict.NOT_MET, "not wanted")
    return delivery.task_id, lambda: transitions.reject(world.person(world.reviewer), delivery.id, answer)


def adjust(world: World, task_id: UUID) -> Walk:
    return task_id, lambda: transitions.adjust(world.person(world.preparer), task_id, {"priority": 0})


def reassign(world: World, task_id: UUID) -> Granted | Refused:
    return transitions.reassign(
        world.person(world.operator), task_id, world.sighting(task_id), world.agents[1].name
    )


def release_quiet(world: World, task_id: UUID) -> object:
    return transitions.release_quiet(world.person(world.operator), task_id, world.sighting(task_id))
