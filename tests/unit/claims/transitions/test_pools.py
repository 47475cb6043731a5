"""A new epoch ends every authority of the pool at once; a gate ends new grants and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from claims import transitions
from claims.callers import Actor, Caller
from claims.models import Pool, PoolEvent, Refusal
from claims.outcomes import Decided, EpochRaised, GateSet, Granted, Permitted, Refused, Why
from claims.vocabulary import FENCED_VERBS, ActorKind, EffectState, Gate, Right, Source, Verb, Verdict
from tests.support.effects import (
    PAYLOAD,
    RECEIPT,
    a_look,
    keyed,
    permitted,
    prepared,
    state_of,
    with_effect,
)
from tests.support.records import no_change, task_row, why
from tests.support.world import World, a_world, judgement

pytestmark = pytest.mark.django_db

ARGS = f"sha256:{'a' * 64}"


def raised(world: World) -> EpochRaised:
    outcome = transitions.raise_epoch(
        world.person(world.operator), world.pool.name, world.epoch, "restored from a backup"
    )
    assert isinstance(outcome, EpochRaised), outcome
    return outcome


def closed(world: World, gate: Gate = Gate.DRAINING) -> GateSet:
    outcome = transitions.gate(world.person(world.operator), world.pool.name, gate, "an upgrade")
    assert isinstance(outcome, GateSet), outcome
    return outcome


FENCED: dict[str, Callable[[World, Granted], Any]] = {
    "renew": lambda world, granted: transitions.renew(world.caller(), granted.fence, 60),
    "progress": lambda world, granted: transitions.progress(world.caller(), granted.fence, "still here"),
    "release": lambda world, granted: transitions.release(world.caller(), granted.fence, "night"),
    "fail": lambda world, granted: transitions.fail(world.caller(), granted.fence, "no", True),
    "deliver": lambda world, granted: transitions.deliver(
        world.caller(), granted.fence, granted.input_digest, staged=transitions.StagedResult({}, [])
    ),
    "commit": lambda world, granted: transitions.commit(
        world.caller(), granted.fence, granted.input_digest, staged=transitions.StagedResult({}, [])
    ),
    "accept-tool": lambda world, granted: transitions.accept_tool(
        world.caller(), granted.fence, "shell", ARGS
    ),
    "accept-tool by a gateway": lambda world, granted: transitions.accept_tool(
        world.caller(world.agents[1]), granted.fence, "shell", ARGS, is_gateway=True
    ),
}


@pytest.mark.parametrize("verb", FENCED)
def test_after_a_raise_no_fence_of_the_epoch_before_is_accepted(world: World, verb: str) -> None:
    granted = world.claimed()
    raised(world)
    with no_change(granted.fence.task_id):
        assert why(FENCED[verb](world, granted)) is Why.FENCED


OF_EFFECTS: dict[str, Callable[[World, Granted, str, Permitted], Any]] = {
    "prepare": lambda w, g, effect, permit: transitions.prepare(w.caller(), g.fence, "mail", PAYLOAD),
    "execute": lambda w, g, effect, permit: transitions.execute(keyed(w), g.fence, effect),
    "confirm": lambda w, g, effect, permit: transitions.confirm(
        w.caller(), g.fence, effect, permit.permit_id, RECEIPT
    ),
    "unknown": lambda w, g, effect, permit: transitions.unknown(
        w.caller(), g.fence, effect, permit.permit_id, "cut off"
    ),
    "hand-back": lambda w, g, effect, permit: transitions.hand_back(w.caller(), g.fence, effect, "key-1"),
    "abandon": lambda w, g, effect, permit: transitions.abandon(w.caller(), g.fence, effect, "not wanted"),
    "reconcile": lambda w, g, effect, permit: transitions.reconcile(
        w.caller(), g.fence, effect, a_look(effect)
    ),
}


@pytest.mark.parametrize("verb", OF_EFFECTS)
def test_after_a_raise_no_effect_of_the_epoch_before_moves(world: World, verb: str) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    permit = permitted(world, granted, effect_id, key="key-1")
    raised(world)
    answer = OF_EFFECTS[verb](world, granted, effect_id, permit)
    assert why(answer) in (Why.FENCED, Why.MUST_RECONCILE), answer
    assert state_of(effect_id) is EffectState.EXECUTING, "and reads as UNKNOWN"
    assert task_row(granted.fence.task_id).claim_generation == granted.fence.claim_generation


def test_every_verb_with_a_fence_is_tried_with_one_of_the_epoch_before() -> None:
    tried = {name.split(" ")[0] for name in (*FENCED, *OF_EFFECTS)}
    elsewhere = {Verb.CLAIM, Verb.CLAIM_NEXT, Verb.ACCEPT}
    assert set(FENCED_VERBS) - elsewhere <= {Verb(name) for name in tried}
    in_two_ways = {Verb.RENEW, Verb.DELIVER, Verb.COMMIT}
    asked = {verb.verb for verb in vars(transitions).values() if _takes_a_fence(verb)}
    assert {Verb(name) for name in tried} == asked | in_two_ways


def _takes_a_fence(verb: Any) -> bool:
    """Whether a transition is asked with a fence and may be refused for it."""
    name = getattr(verb, "verb", None)
    takes = "fence" in getattr(getattr(verb, "__wrapped__", None), "__annotations__", {})
    return takes and name not in (Verb.STAGE, Verb.ADD_FILE)


@pytest.mark.parametrize("verb", FENCED)
def test_the_same_fence_was_not_lost_before_the_raise(world: World, verb: str) -> None:
    answer = FENCED[verb](world, world.claimed())
    assert not isinstance(answer, Refused) or answer.why is not Why.FENCED


def test_after_a_raise_a_claim_must_name_the_new_epoch(world: World) -> None:
    before, waiting = world.epoch, world.task()
    raised(world)
    assert why(transitions.claim(world.caller(), waiting, 1, before)) is Why.OLD_EPOCH
    assert why(transitions.claim_next(world.caller(), world.pool.name, before)) is Why.OLD_EPOCH
    assert isinstance(transitions.claim(world.caller(), waiting, 1, world.epoch), Granted)


def test_after_a_raise_a_delivery_can_be_sent_back_but_not_accepted(world: World) -> None:
    delivery = world.delivered()
    raised(world)
    reviewer = world.person(world.reviewer)
    with no_change(delivery.task_id):
        assert why(transitions.accept(reviewer, delivery.id, judgement(delivery))) is Why.FENCED
    sent_back = transitions.request_changes(
        reviewer, delivery.id, judgement(delivery, Verdict.NOT_MET, "again")
    )
    assert isinstance(sent_back, Decided)


def test_a_late_result_of_the_old_epoch_is_kept_apart(world: World) -> None:
    granted = world.claimed()
    raised(world)
    staged = transitions.stage(world.caller(), granted.fence, transitions.StagedResult({"done": True}, []))
    assert getattr(staged, "late", None) is True


def test_a_raise_takes_the_next_epoch_of_all_pools_and_raises_no_generation(world: World) -> None:
    granted, other = world.claimed(), a_world()
    before = world.epoch
    outcome = raised(world)
    assert outcome == EpochRaised(world.pool.name, world.epoch, before)
    assert world.epoch > other.epoch > before
    assert other.epoch == Pool.objects.get(id=other.pool.id).scheduler_epoch
    assert task_row(granted.fence.task_id).claim_generation == granted.fence.claim_generation


def test_a_raise_is_told_with_who_why_from_what_and_to_what(world: World) -> None:
    before = world.epoch
    raised(world)
    event = PoolEvent.objects.get(pool=world.pool)
    assert (event.verb, event.before, event.after) == ("raise-epoch", str(before), str(world.epoch))
    assert (event.actor_name, event.reason) == (world.operator.username, "restored from a backup")


def test_a_raise_from_another_epoch_than_was_seen_says_which_there_is(world: World) -> None:
    seen = world.epoch
    raised(world)
    again = transitions.raise_epoch(world.person(world.operator), world.pool.name, seen, "twice")
    assert isinstance(again, Refused)
    assert again.why is Why.EPOCH_CONFLICT
    assert again.extra["schedulerEpoch"] == world.epoch
    assert str(world.epoch) in again.sentence
    assert PoolEvent.objects.filter(pool=world.pool).count() == 1


def test_a_repeated_key_raises_once(world: World) -> None:
    caller = world.person(world.operator, key="raise-1")
    first = transitions.raise_epoch(caller, world.pool.name, world.epoch, "restored")
    again = transitions.raise_epoch(caller, world.pool.name, world.epoch, "restored")
    assert isinstance(first, EpochRaised)
    assert again == first
    assert PoolEvent.objects.filter(pool=world.pool).count() == 1


def test_a_gate_that_stands_already_is_answered_the_same_and_is_no_event(world: World) -> None:
    first, again = closed(world), closed(world)
    assert first == again == GateSet(world.pool.name, Gate.DRAINING, world.epoch)
    events = PoolEvent.objects.filter(pool=world.pool).values_list("verb", "before", "after")
    assert list(events) == [("gate", "OPEN", "DRAINING")]


def test_a_closed_gate_grants_nothing_and_opens_again(world: World) -> None:
    waiting = world.task()
    closed(world)
    assert why(transitions.claim(world.caller(), waiting, 1, world.epoch)) is Why.GATE_CLOSED
    closed(world, Gate.OPEN)
    assert isinstance(transitions.claim(world.caller(), waiting, 1, world.epoch), Granted)


@pytest.mark.parametrize("right", [Right.VIEWER, Right.PREPARER, Right.REVIEWER])
def test_only_an_operator_moves_a_pool(world: World, right: Right) -> None:
    person = {Right.VIEWER: world.owner, Right.PREPARER: world.preparer, Right.REVIEWER: world.reviewer}[
        right
    ]
    caller, name = world.person(person), world.pool.name
    assert why(transitions.raise_epoch(caller, name, world.epoch, "because")) is Why.FORBIDDEN
    assert why(transitions.gate(caller, name, Gate.DRAINING, "because")) is Why.FORBIDDEN
    assert list(Refusal.objects.filter(pool=world.pool).order_by("id").values_list("verb", "why")) == [
        ("raise-epoch", "FORBIDDEN"),
        ("gate", "FORBIDDEN"),
    ]


def test_a_stranger_and_a_token_see_no_pool(world: World) -> None:
    stranger = world.person(a_world().operator)
    token = Caller(Actor(ActorKind.PERSON, world.operator.id, world.operator.username), Source.API)
    for caller in (stranger, token, world.caller()):
        assert why(transitions.raise_epoch(caller, world.pool.name, world.epoch, "because")) is Why.NOT_FOUND
        assert why(transitions.gate(caller, world.pool.name, Gate.DRAINING, "because")) is Why.NOT_FOUND
    operator = world.person(world.operator)
    assert why(transitions.raise_epoch(operator, "no-such-pool", 1, "because")) is Why.NOT_FOUND


def test_a_pool_is_not_moved_without_a_reason(world: World) -> None:
    caller, name = world.person(world.operator), world.pool.name
    assert why(transitions.raise_epoch(caller, name, world.epoch, " ")) is Why.UNPROCESSABLE
    assert why(transitions.gate(caller, name, Gate.DRAINING, "")) is Why.UNPROCESSABLE
    assert why(transitions.gate(caller, name, Gate.DRAINING, "x" * 2_001)) is Why.MALFORMED
    assert not PoolEvent.objects.filter(pool=world.pool).exists()
