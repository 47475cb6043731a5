"""What an attempt cost is kept with the verb that tells it, also where its claim was lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from claims import transitions
from claims.models import Attempt, IdempotencyKey
from claims.outcomes import Committed, Delivered, Granted, Left, Progressed, Why
from claims.vocabulary import ReviewPolicy, State
from tests.support.records import no_change, refusals_of, task_row, why
from tests.support.world import World, fence_but

pytestmark = pytest.mark.django_db

COST = {"seconds": 12.5, "tokens": 900, "money": {"amount": "0.42", "currency": "EUR"}}
RESULT = transitions.StagedResult({"done": True}, [])
NOTHING_ASKED = {"task": "Count", "acceptance": [], "evidence": []}


def cost_of(granted: Granted) -> Any:
    return Attempt.objects.get(id=granted.fence.attempt_id).cost


def _progress(world: World, granted: Granted, cost: Any, key: str | None = None) -> Any:
    return transitions.progress(world.caller(key=key), granted.fence, "halfway", cost)


VERBS: dict[str, tuple[type, Callable[[World, Granted, Any], Any]]] = {
    "progress": (Progressed, _progress),
    "release": (Left, lambda world, g, cost: transitions.release(world.caller(), g.fence, "night", cost)),
    "fail": (Left, lambda world, g, cost: transitions.fail(world.caller(), g.fence, "no", True, cost)),
    "deliver": (
        Delivered,
        lambda world, g, cost: transitions.deliver(
            world.caller(), g.fence, g.input_digest, staged=RESULT, cost=cost
        ),
    ),
    "commit": (
        Committed,
        lambda world, g, cost: transitions.commit(
            world.caller(), g.fence, g.input_digest, staged=RESULT, cost=cost
        ),
    ),
}


def a_claim(sandbox: World) -> Granted:
    return sandbox.claimed(input=NOTHING_ASKED, review_policy=ReviewPolicy.NONE)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_ends_or_tells_an_attempt_keeps_its_cost(sandbox: World, verb: str) -> None:
    granted = a_claim(sandbox)
    kind, call = VERBS[verb]
    assert isinstance(call(sandbox, granted, COST), kind)
    assert cost_of(granted) == COST


@pytest.mark.parametrize("verb", VERBS)
def test_a_cost_that_is_none_changes_nothing(sandbox: World, verb: str) -> None:
    granted = a_claim(sandbox)
    _, call = VERBS[verb]
    with no_change(granted.fence.task_id):
        assert why(call(sandbox, granted, {"tokens": -1})) is Why.MALFORMED
    assert cost_of(granted) is None


@pytest.mark.parametrize("verb", VERBS)
def test_a_total_that_falls_changes_nothing(sandbox: World, verb: str) -> None:
    granted = a_claim(sandbox)
    _progress(sandbox, granted, COST)
    _, call = VERBS[verb]
    with no_change(granted.fence.task_id):
        answer = call(sandbox, granted, {"tokens": 899})
    assert why(answer) is Why.MALFORMED
    assert "900" in answer.sentence
    assert cost_of(granted) == COST


@pytest.mark.parametrize("verb", VERBS)
def test_a_lost_fence_stays_refused_and_its_own_attempt_keeps_what_it_cost(sandbox: World, verb: str) -> None:
    lost = a_claim(sandbox)
    sighting = sandbox.sighting(lost.fence.task_id, even_if_live=True)
    taken = transitions.reassign(
        sandbox.person(sandbox.operator), lost.fence.task_id, sighting, sandbox.agents[1].name
    )
    assert isinstance(taken, Granted)
    _, call = VERBS[verb]
    with no_change(lost.fence.task_id):
        assert why(call(sandbox, lost, COST)) is Why.FENCED
    assert cost_of(lost) == COST
    assert cost_of(taken) is None
    assert refusals_of(lost.fence.task_id) == [(verb, "FENCED")]


def test_a_cancelled_runner_tells_what_it_cost_too(world: World) -> None:
    granted = world.claimed()
    transitions.cancel(world.person(world.preparer), granted.fence.task_id, "not wanted")
    assert why(_progress(world, granted, COST)) is Why.CANCELLED
    assert cost_of(granted) == COST
    assert task_row(granted.fence.task_id).state == State.CANCELLED


def test_the_cost_of_a_lost_fence_does_not_fall_and_is_refused_as_ever(world: World) -> None:
    granted = world.claimed()
    _progress(world, granted, COST)
    transitions.release(world.caller(), granted.fence, "night")
    assert why(_progress(world, granted, {"tokens": 1})) is Why.FENCED
    assert cost_of(granted) == COST


def test_a_fence_that_was_never_granted_keeps_no_cost(world: World) -> None:
    granted = world.claimed()
    for wrong in (
        fence_but(granted.fence, claim_generation=granted.fence.claim_generation + 1),
        fence_but(granted.fence, scheduler_epoch=granted.fence.scheduler_epoch + 1),
    ):
        assert why(transitions.progress(world.caller(), wrong, "hm", COST)) is Why.FENCED
    stranger = world.caller(world.agents[1])
    assert why(transitions.progress(stranger, granted.fence, "hm", COST)) is Why.FENCED
    assert cost_of(granted) is None


def test_a_refusal_that_keeps_a_cost_burns_no_key(world: World) -> None:
    granted = world.claimed()
    transitions.release(world.caller(), granted.fence, "night")
    assert why(_progress(world, granted, COST, key="told-1")) is Why.FENCED
    assert not IdempotencyKey.objects.filter(key="told-1").exists()


def test_a_repeated_delivery_has_its_first_answer_whatever_cost_it_tells(world: World) -> None:
    granted = world.claimed(input=NOTHING_ASKED)
    first = transitions.deliver(world.caller(), granted.fence, granted.input_digest, staged=RESULT, cost=COST)
    again = transitions.deliver(
        world.caller(), granted.fence, granted.input_digest, staged=RESULT, cost={"tokens": 1}
    )
    assert isinstance(first, Delivered)
    assert again == first
    assert cost_of(granted) == COST
