"""Each attempt's cost is accepted, in work or discarded, and discarded by how it ended."""

from __future__ import annotations

from decimal import Decimal

import pytest

from claims import transitions
from claims.callers import sweep_caller
from claims.outcomes import Granted
from claims.selectors import costs
from claims.selectors.costs import Costs, Sum
from claims.vocabulary import ReclaimPolicy, Verdict
from tests.support.world import World, a_world, expire, judgement

pytestmark = pytest.mark.django_db


def spent(
    world: World, granted: Granted, tokens: int, amount: str = "0.10", currency: str = "EUR"
) -> Granted:
    cost = {"seconds": 1.5, "tokens": tokens, "money": {"amount": amount, "currency": currency}}
    transitions.progress(world.caller(), granted.fence, "working", cost)
    return granted


def tokens_of(found: Costs) -> tuple[int, int, dict[str, int]]:
    return found.accepted.tokens, found.in_work.tokens, {k: v.tokens for k, v in found.discarded.items()}


def test_a_claimed_attempt_is_in_work(world: World) -> None:
    granted = spent(world, world.claimed(), 7)
    assert tokens_of(costs.of_task(granted.fence.task_id)) == (0, 7, {})


def test_what_released_failed_lapsed_fenced_and_cancelled_attempts_cost_is_discarded(world: World) -> None:
    task_id = world.task(max_attempts=9, reclaim_policy=ReclaimPolicy.AUTO)
    for tokens, verb in ((1, "release"), (2, "fail"), (4, "lapse"), (8, "raise"), (16, "cancel")):
        granted = spent(world, world.claimed(task_id=task_id), tokens)
        if verb == "release":
            transitions.release(world.caller(), granted.fence, "night")
        if verb == "fail":
            transitions.fail(world.caller(), granted.fence, "no", True)
        if verb == "lapse":
            expire(task_id)
        if verb == "raise":
            transitions.raise_epoch(
                world.person(world.operator), world.pool.name, world.epoch, "restored from a backup"
            )
        if verb in ("lapse", "raise"):
            transitions.lapse(sweep_caller(), task_id)
        if verb == "cancel":
            transitions.cancel(world.person(world.preparer), task_id, "not wanted")
    ended = {"RELEASED": 1, "FAILED": 2, "LAPSED": 4, "FENCED": 8, "CANCELLED": 16}
    found = costs.of_task(task_id)
    assert tokens_of(found) == (0, 0, ended)
    assert found.wasted == Sum(5, 5, 7.5, 31, {"EUR": Decimal("0.50")})


def test_a_delivery_is_in_work_until_it_is_decided_and_accepted_then(world: World) -> None:
    delivery = world.delivered(granted=spent(world, world.claimed(), 3))
    assert tokens_of(costs.of_task(delivery.task_id)) == (0, 3, {})
    transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert tokens_of(costs.of_task(delivery.task_id)) == (3, 0, {})


def test_a_rejected_delivery_is_discarded_and_one_sent_back_shares_the_fate_of_its_task(world: World) -> None:
    reviewer = world.person(world.reviewer)
    first = world.delivered(granted=spent(world, world.claimed(), 3))
    transitions.reject(reviewer, first.id, judgement(first, Verdict.NOT_MET, "no"))
    second = world.delivered(granted=spent(world, world.claimed(task_id=first.task_id), 5))
    transitions.request_changes(reviewer, second.id, judgement(second, Verdict.NOT_MET, "nearly"))
    third = spent(world, world.regranted(first.task_id), 6)
    assert tokens_of(costs.of_task(first.task_id)) == (0, 11, {"REJECTED": 3})
    last = world.delivered(granted=third, content=b"diff --git a/page.html b/page.html\n")
    transitions.accept(reviewer, last.id, judgement(last))
    assert tokens_of(costs.of_task(first.task_id)) == (11, 0, {"REJECTED": 3})


def test_a_pool_sums_its_own_attempts_by_currency(world: World) -> None:
    other = a_world()
    spent(other, other.claimed(), 1_000)
    spent(world, world.claimed(), 1, "0.10", "EUR")
    spent(world, world.claimed(), 2, "0.20", "EUR")
    spent(world, world.claimed(), 4, "1", "USD")
    world.claimed()
    found = costs.of_pool(world.pool.id)
    assert found == Costs(in_work=Sum(4, 3, 4.5, 7, {"EUR": Decimal("0.30"), "USD": Decimal(1)}))
    told = found.as_json()["inWork"]
    assert isinstance(told, dict)
    assert told["money"] == [{"amount": "0.30", "currency": "EUR"}, {"amount": "1", "currency": "USD"}]


def test_nothing_is_read_of_before_the_days_that_were_asked_for(world: World) -> None:
    spent(world, world.claimed(), 1)
    assert costs.of_pool(world.pool.id, days=1).in_work.tokens == 1
    assert costs.of_pool(world.pool.id, days=-1) == Costs()
