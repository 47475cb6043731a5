"""Outside effects: B07, B35, B36, B37, B47. Real processes and a sink that counts are in tests/day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from claims import transitions
from claims.callers import Caller
from claims.decide import Look
from claims.models import Effect, Permit
from claims.outcomes import EffectMoved, Granted, Permitted, Refused, Why
from claims.vocabulary import EffectState, ReclaimPolicy, Said
from tests.api.conftest import Caller as ApiCaller
from tests.api.conftest import claimed as claimed_over_http
from tests.support.effects import (
    ONCE_ONLY,
    OTHER_PAYLOAD,
    PAYLOAD,
    RECEIPT,
    a_look,
    a_slot,
    approvals,
    approved,
    effect_row,
    etag_of,
    executing,
    keyed,
    long_ago,
    observations,
    permitted,
    prepared,
    state_of,
    with_slots,
)
from tests.support.records import no_change, task_row, why
from tests.support.world import World, expire

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
LONG_AGO_SECONDS = 300


def claimed(world: World, **slot: Any) -> Granted:
    """A claim of a new task with one slot, that another may take once it has run out."""
    return world.claimed(input=with_slots(a_slot(**slot)), reclaim_policy=ReclaimPolicy.AUTO)


def taken_over(world: World, granted: Granted) -> tuple[Granted, Caller]:
    """The second agent's claim of the same task, its runner with a key of its own."""
    expire(granted.fence.task_id)
    return world.claimed(world.agents[1], granted.fence.task_id), keyed(world, world.agents[1])


def test_b07_clevis_215_the_next_runner_of_a_slow_call_is_told_to_look_and_not_to_send(world: World) -> None:
    slow = claimed(world)
    effect_id, permit = executing(world, slow)
    quick, caller = taken_over(world, slow)
    same = transitions.prepare(caller, quick.fence, "mail", PAYLOAD)
    assert isinstance(same, EffectMoved)
    assert (same.effect_id, same.state) == (effect_id, EffectState.UNKNOWN)
    assert (
        why(transitions.execute(keyed(world, world.agents[1]), quick.fence, effect_id)) is Why.MUST_RECONCILE
    )
    assert why(transitions.confirm(world.caller(), slow.fence, effect_id, permit.permit_id, RECEIPT)) is (
        Why.MUST_RECONCILE
    )
    long_ago(effect_id, LONG_AGO_SECONDS)
    looked = transitions.reconcile(
        world.caller(world.agents[1]), quick.fence, effect_id, a_look(effect_id, Said.HAPPENED)
    )
    assert isinstance(looked, EffectMoved)
    assert (state_of(effect_id), Permit.objects.filter(effect_id=effect_id).count()) == (
        EffectState.COMMITTED,
        1,
    )


def test_b07_clevis_215_a_second_call_needs_a_recorded_word_that_the_first_did_not_happen(
    world: World,
) -> None:
    slow = claimed(world)
    effect_id, _ = executing(world, slow)
    quick, caller = taken_over(world, slow)
    long_ago(effect_id, LONG_AGO_SECONDS)
    transitions.reconcile(
        caller, quick.fence, effect_id, a_look(effect_id, Said.DID_NOT_HAPPEN, receipt=None)
    )
    again = transitions.execute(keyed(world, world.agents[1]), quick.fence, effect_id)
    assert isinstance(again, Permitted)
    assert (Said.DID_NOT_HAPPEN, "LOOK_UP", True, True) in observations(effect_id)


def test_b35_openworker_443_a_crash_after_the_call_does_not_reuse_the_approval(world: World) -> None:
    first = claimed(world, **ONCE_ONLY)
    effect_id = prepared(world, first)
    permitted(world, first, effect_id)
    second, caller = taken_over(world, first)
    assert state_of(effect_id) == EffectState.UNKNOWN
    assert why(transitions.execute(caller, second.fence, effect_id)) is Why.MUST_RECONCILE
    look = a_look(effect_id, Said.DID_NOT_HAPPEN)
    assert why(transitions.reconcile(caller, second.fence, effect_id, look)) is Why.FORBIDDEN
    assert approvals(effect_id) == ["CONSUMED"]
    assert Permit.objects.filter(effect_id=effect_id).count() == 1


def test_b35_openworker_443_after_a_doubt_only_an_approval_that_names_it_counts(world: World) -> None:
    first = claimed(world, **ONCE_ONLY)
    effect_id = prepared(world, first)
    permitted(world, first, effect_id)
    second, caller = taken_over(world, first)
    long_ago(effect_id, LONG_AGO_SECONDS)
    operator = world.person(world.operator)
    look = Look(Said.DID_NOT_HAPPEN, etag=etag_of(effect_id), note="The vendor's log has none")
    transitions.reconcile_as_operator(operator, effect_id, look, effect_row(effect_id).version)
    assert why(transitions.execute(caller, second.fence, effect_id)) is Why.APPROVAL_REQUIRED
    effect, task = effect_row(effect_id), task_row(first.fence.task_id)
    seen = (effect.payload_digest, task.claim_generation, world.epoch)
    blind = transitions.approve(world.person(world.reviewer), effect_id, *seen, doubt=0)
    assert why(blind) is Why.STALE_STATE
    approved(world, effect_id)
    assert isinstance(transitions.execute(keyed(world, world.agents[1]), second.fence, effect_id), Permitted)


def test_b36_adyen_commercetools_1305_the_same_intent_of_another_attempt_is_the_same_effect(
    world: World,
) -> None:
    first = claimed(world)
    effect_id = prepared(world, first)
    second, caller = taken_over(world, first)
    assert prepared(world, second, agent=world.agents[1]) == effect_id
    other = transitions.prepare(replace(caller, key="other"), second.fence, "mail", OTHER_PAYLOAD)
    assert isinstance(other, Refused)
    assert (other.why, other.extra["boundPayload"], other.extra["effectId"]) == (
        Why.PAYLOAD_CONFLICT,
        PAYLOAD,
        effect_id,
    )
    assert Effect.objects.filter(task_id=first.fence.task_id).count() == 1


def test_b37_square_mcp_server_31_an_effect_id_that_a_caller_made_up_is_refused(
    world: World, agent: ApiCaller
) -> None:
    grant = claimed_over_http(world, agent, input=with_slots())
    body = {"fence": grant["fence"], "slot": "mail", "payload": PAYLOAD, "effectId": "0" * 64}
    answer = agent.post(f"/attempts/{grant['attemptId']}/effects", body)
    assert (answer.status, answer.code) == (400, "MALFORMED")
    made = agent.post(
        f"/attempts/{grant['attemptId']}/effects", {**body, "effectId": answer.body["effectId"]}
    )
    assert (made.status, made.body["effectId"]) == (200, answer.body["effectId"])


def test_b37_square_mcp_server_31_no_text_asks_for_a_key_that_differs_for_every_request() -> None:
    asks = re.compile(
        r"unique (for|per|to) (every|each) (request|call|retry)|(new|fresh) key for (every|each)",
        re.IGNORECASE,
    )
    assert [path for path in texts() if asks.search(path.read_text(encoding="utf-8"))] == []


def texts() -> Iterator[Path]:
    """What people and agents read, and what the API says of itself."""
    yield from (ROOT / "docs").rglob("*.md")
    for folder in ("claims", "client", "reviews", "templates"):
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".html"))


@pytest.mark.parametrize("moved", ["the generation", "the epoch", "the payload"])
def test_b47_openai_agents_python_4896_an_approval_is_void_once_what_it_was_given_for_has_moved(
    world: World, moved: str
) -> None:
    granted = claimed(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    caller, agent = keyed(world), world.agents[0]
    if moved == "the payload":
        with no_change(granted.fence.task_id):
            answer = transitions.approve(
                world.person(world.reviewer), effect_id, "sha256:" + "0" * 64, 1, world.epoch, 0
            )
        assert why(answer) is Why.STALE_STATE
    else:
        approved(world, effect_id)
        if moved == "the epoch":
            operator = world.person(world.operator)
            transitions.raise_epoch(operator, world.pool.name, world.epoch, "restored")
        granted, caller = taken_over(world, granted)
        agent = world.agents[1]
        assert approvals(effect_id) == ["VOID"]
    assert prepared(world, granted, agent=agent) == effect_id
    assert why(transitions.execute(caller, granted.fence, effect_id)) is Why.APPROVAL_REQUIRED
