"""Canaries: every stale write is refused, a missing check lets one through, and nobody else sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from claims import canaries, checking, transitions
from claims.checking import CANARY_POOL, POINTS, Certificate
from claims.decide import fence as comparing
from claims.kernel import reading
from claims.models import AgentPool, CanaryRun, Effect, Membership, Pool, Refusal, Task
from claims.selectors import board, drain
from claims.selectors.inbox import Seat, waiting
from claims.selectors.seen import pools_of
from claims.vocabulary import FINAL, EffectState, Gate, Verb
from tests.support.world import World, grants_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forgotten_pools() -> None:
    """A process remembers pools by name; here the canaries' pool is made anew for each test."""
    reading._known_pool_named.cache_clear()


WITHOUT_A_GENERATION = {Verb.CLAIM_NEXT}
WITHOUT_A_FENCE = {Verb.CLAIM, Verb.CLAIM_NEXT, Verb.ACCEPT}
LIVE_PERMITS = {Verb.CONFIRM, Verb.UNKNOWN}
"""A permit of an ended epoch is not live: a second check that refuses them."""


def fence_without(field: str) -> Callable[..., list[str]]:
    """The comparison of a fence with one of its fields left out."""
    whole = comparing.lost_fields

    def lost_fields(*given: Any) -> list[str]:
        return [lost for lost in whole(*given) if lost != field]

    return lost_fields


def test_every_point_refuses_a_stale_epoch_and_a_stale_generation() -> None:
    runs = canaries.run()
    assert [str(run) for run in runs if not run.was_refused] == []
    sent = {(run.point, run.stale) for run in runs}
    expected = {(point, stale) for point in POINTS for stale in (canaries.EPOCH, canaries.GENERATION)}
    assert expected - sent == {(point, canaries.GENERATION) for point in WITHOUT_A_GENERATION}
    assert len(sent) == len(runs) == CanaryRun.objects.count()


@pytest.mark.parametrize("point", [point for point in POINTS if point not in WITHOUT_A_FENCE])
def test_a_canary_gets_through_where_the_generation_is_not_compared(
    monkeypatch: pytest.MonkeyPatch, point: Verb
) -> None:
    monkeypatch.setattr(comparing, "lost_fields", fence_without("claimGeneration"))
    got_through = {run.stale: not run.was_refused for run in canaries.run([point])}
    assert got_through[canaries.GENERATION], point


@pytest.mark.parametrize(
    "point", [point for point in POINTS if point not in {*WITHOUT_A_FENCE, *LIVE_PERMITS} - {Verb.ACCEPT}]
)
def test_a_canary_gets_through_where_the_epoch_is_not_compared(
    monkeypatch: pytest.MonkeyPatch, point: Verb
) -> None:
    monkeypatch.setattr(comparing, "lost_fields", fence_without("schedulerEpoch"))
    got_through = {run.stale: not run.was_refused for run in canaries.run([point])}
    assert got_through[canaries.EPOCH], point


def test_canaries_can_be_sent_again_and_leave_nothing_open_or_in_doubt() -> None:
    canaries.run()
    canaries.run()
    pool = Pool.objects.get(name=CANARY_POOL)
    assert set(Task.objects.filter(pool=pool).values_list("state", flat=True)) <= FINAL
    in_doubt = Effect.objects.filter(pool=pool, state__in=[EffectState.EXECUTING, EffectState.UNKNOWN])
    assert not in_doubt.exists()
    assert drain.status(pool.pk).claims.count == 0
    found = checking.check(CANARY_POOL)
    assert isinstance(found, Certificate), found


def test_nobody_else_sees_the_work_of_canaries(world: World) -> None:
    canaries.run([Verb.RENEW])
    pool = Pool.objects.get(name=CANARY_POOL)
    own = {canaries.CANARY_POOL}
    people = Membership.objects.filter(pool=pool).values_list("person__username", flat=True)
    assert set(people) == own
    assert set(AgentPool.objects.filter(pool=pool).values_list("agent__name", flat=True)) == own
    for person in (world.preparer, world.reviewer, world.operator, world.owner):
        seen = pools_of(person.pk)
        assert pool.pk not in {each.id for each in seen}
        assert not waiting(Seat(person.pk, seen)).filter(pool=pool).exists()
        shown = board.columns(board.BoardFilter(tuple(each.id for each in seen)), cards=50)
        assert not [card for column in shown for card in column.cards if card.pool_id == pool.pk]


def test_claim_next_of_another_pool_never_hands_out_a_canary(world: World) -> None:
    canaries.run([Verb.RENEW])
    mine = world.task()
    granted = grants_of(transitions.claim_next(world.caller(), world.pool.name, world.epoch, max_grants=100))
    assert [grant.fence.task_id for grant in granted] == [mine]
    answer = transitions.claim_next(world.caller(), CANARY_POOL, world.epoch, max_grants=2)
    assert not hasattr(answer, "grants"), "the agent does not work there"


def test_nobody_can_sign_in_as_an_account_of_the_canaries() -> None:
    canaries.run([Verb.RENEW])
    accounts = Membership.objects.filter(pool__name=CANARY_POOL).values_list("person__password", flat=True)
    assert all(password.startswith("!") for password in accounts)
    assert not AgentPool.objects.filter(pool__name=CANARY_POOL, agent__tokens__isnull=False).exists()


def test_a_scene_that_cannot_be_set_is_a_fault_and_no_canary() -> None:
    canaries.run([Verb.RENEW])
    Pool.objects.filter(name=CANARY_POOL).update(gate=Gate.DRAINING)
    with pytest.raises(canaries.CanaryFailed, match="could not be set"):
        canaries.run([Verb.RENEW])


def test_how_a_canary_was_answered_is_kept_for_ever() -> None:
    run = canaries.run([Verb.RENEW])[0]
    assert Refusal.objects.filter(verb=Verb.RENEW, task__pool__name=CANARY_POOL).exists()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        CanaryRun.objects.filter(pk=run.pk).update(was_refused=False)
