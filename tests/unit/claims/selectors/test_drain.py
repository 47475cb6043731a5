"""A pool is drained when nothing can write, nothing is in doubt, and nothing awaits its commit."""

from __future__ import annotations

from typing import Any

import pytest

from claims import transitions
from claims.models import Effect, Permit
from claims.models.columns import new_id
from claims.outcomes import Granted
from claims.selectors import drain
from claims.selectors.drain import DrainStatus
from claims.vocabulary import EffectMode, EffectState, Gate
from tests.support.world import World, a_world, expire, judgement

pytestmark = pytest.mark.django_db


def status(world: World) -> DrainStatus:
    return drain.status(world.pool.id)


def counts(world: World) -> tuple[int, int, int, int]:
    found = status(world)
    return found.claims.count, found.quiet, found.effects.count, found.deliveries.count


def an_effect(world: World, granted: Granted, state: EffectState, slot: str = "mail") -> None:
    """An effect under way, as its row stands."""
    permit_id, now = new_id(), granted.lease_expires_at
    common: dict[str, Any] = {"task_id": granted.fence.task_id, "mode": EffectMode.QUERYABLE}
    effect = Effect.objects.create(
        **common, id=f"{permit_id.hex:0<64}", pool_id=world.pool.id, lineage_id=granted.fence.task_id, slot=slot,
        target="mail", serial_key="mail", is_required=False, permit_seconds=60, settle_seconds=60,
        payload_digest=f"sha256:{'a' * 64}", payload={}, prepared_by=granted.fence.attempt_id, prepared_at=now,
        state=state, state_since=now, permit_id=permit_id, permits=1,
    )  # fmt: skip
    Permit.objects.create(
        **common, id=permit_id, effect=effect, attempt_id=granted.fence.attempt_id, agent_id=world.agents[0].id, number=1,
        key=permit_id.hex, claim_generation=granted.fence.claim_generation, granted_at=now, deadline=now,
        scheduler_epoch=granted.fence.scheduler_epoch, cancel_generation=granted.fence.cancel_generation,
    )  # fmt: skip


def test_a_pool_without_work_is_drained(world: World) -> None:
    world.task()
    assert counts(world) == (0, 0, 0, 0)
    assert status(world).is_drained


def test_a_claim_counts_also_when_it_is_quiet(world: World) -> None:
    live, quiet = world.claimed(title="Live"), world.claimed(title="Quiet")
    expire(quiet.fence.task_id)
    assert counts(world) == (2, 1, 0, 0)
    assert not status(world).is_drained
    told = {blocker.title: (blocker.what, blocker.runner) for blocker in status(world).claims.blockers}
    name = world.agents[0].name
    assert told == {"Live": ("live", name), "Quiet": ("quiet", name)}
    assert live.fence.task_id != quiet.fence.task_id


def test_a_claim_and_a_delivery_below_the_epoch_can_no_longer_write(world: World) -> None:
    world.claimed()
    world.delivered()
    assert counts(world) == (1, 0, 0, 1)
    transitions.raise_epoch(world.person(world.operator), world.pool.name, world.epoch, "restored")
    assert counts(world) == (0, 0, 0, 0)


def test_a_delivery_counts_until_it_is_decided(world: World) -> None:
    delivery = world.delivered()
    found = status(world)
    assert (found.claims.count, found.deliveries.count) == (0, 1)
    assert found.deliveries.blockers[0].what == "round 1"
    transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert status(world).is_drained


@pytest.mark.parametrize("state", list(EffectState))
def test_an_effect_counts_while_it_is_under_way_or_in_doubt(world: World, state: EffectState) -> None:
    granted = world.claimed()
    an_effect(world, granted, state)
    transitions.cancel(world.person(world.preparer), granted.fence.task_id, "not wanted")
    found = status(world)
    is_open = state in (EffectState.EXECUTING, EffectState.UNKNOWN)
    assert (found.claims.count, found.effects.count) == (0, int(is_open))
    assert found.is_drained is not is_open
    if is_open:
        assert found.effects.blockers[0].what == f"mail is {state}"
        assert found.effects.blockers[0].runner == world.agents[0].name


def test_another_pools_work_is_not_in_the_way(world: World) -> None:
    other = a_world()
    other.claimed()
    other.delivered()
    assert status(world).is_drained


def test_the_oldest_are_named_and_all_are_counted(world: World) -> None:
    tasks = world.tasks(drain.NAMED + 2)
    for task_id in tasks:
        world.claimed(task_id=task_id)
    found = status(world).claims
    assert found.count == drain.NAMED + 2
    assert len(found.blockers) == drain.NAMED
    since = [blocker.since for blocker in found.blockers]
    assert since == sorted(since)


def test_the_status_says_the_gate_and_names_each_in_words(world: World) -> None:
    world.claimed(title="Empty state")
    transitions.gate(world.person(world.operator), world.pool.name, Gate.DRAINING, "an upgrade")
    found = status(world)
    assert "not drained: 1 claims can write (0 quiet)" in found.sentence
    assert found.sentence.endswith("gate DRAINING.")
    assert f"T-{found.claims.blockers[0].number} Empty state (live, " in str(found.claims.blockers[0])


def test_the_answer_of_the_api_has_the_three_conditions(world: World) -> None:
    world.claimed()
    told: Any = status(world).as_json()
    assert told["drained"] is False
    assert (told["claims"]["count"], told["claims"]["quiet"]) == (1, 0)
    assert told["effects"] == told["deliveries"] == {"count": 0, "blockers": []}


def test_a_pool_that_is_not_there_has_no_status() -> None:
    with pytest.raises(LookupError):
        drain.status(0)
