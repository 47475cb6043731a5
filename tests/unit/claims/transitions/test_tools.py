"""A tool server asks before it acts; only a fence that is current is accepted."""

from __future__ import annotations

import pytest

from claims import transitions
from claims.models import Agent, ToolAcceptance
from claims.outcomes import Refused, ToolAccepted, Why
from tests.support.records import no_change, why
from tests.support.world import World, a_world, expire, fence_but

pytestmark = pytest.mark.django_db

ARGS = f"sha256:{'a' * 64}"


def test_an_agent_asks_for_its_own_fence_and_what_was_compared_is_kept(world: World) -> None:
    fence = world.claimed().fence
    with no_change(fence.task_id):
        answer = transitions.accept_tool(world.caller(), fence, "git.push", ARGS)
    assert isinstance(answer, ToolAccepted)
    kept = ToolAcceptance.objects.get(attempt_id=fence.attempt_id)
    assert (kept.tool, kept.args_digest, kept.agent_id) == ("git.push", ARGS, world.agents[0].id)
    assert kept.validated == f"{fence.scheduler_epoch}.{fence.claim_generation}.{fence.cancel_generation}"
    assert kept.at == answer.accepted_at


def test_a_gateway_asks_for_the_runner_whose_fence_it_was_shown(world: World) -> None:
    fence = world.claimed().fence
    gateway = world.caller(world.agents[1])
    answer = transitions.accept_tool(gateway, fence, "git.push", ARGS, is_gateway=True)
    assert isinstance(answer, ToolAccepted)
    assert ToolAcceptance.objects.get(attempt_id=fence.attempt_id).agent_id == world.agents[1].id


def test_an_agent_that_is_no_gateway_cannot_ask_for_anothers_fence(world: World) -> None:
    fence = world.claimed().fence
    answer = transitions.accept_tool(world.caller(world.agents[1]), fence, "git.push", ARGS)
    assert isinstance(answer, Refused)
    assert (answer.why, answer.extra["lost"]) == (Why.FENCED, ["runner"])


def test_a_gateway_of_another_pool_and_a_disabled_one_see_nothing(world: World) -> None:
    fence = world.claimed().fence
    elsewhere = a_world()
    foreign = elsewhere.caller()
    assert why(transitions.accept_tool(foreign, fence, "git.push", ARGS, is_gateway=True)) is Why.NOT_FOUND
    Agent.objects.filter(id=world.agents[1].id).update(is_disabled=True)
    disabled = world.caller(world.agents[1])
    assert why(transitions.accept_tool(disabled, fence, "git.push", ARGS, is_gateway=True)) is Why.NOT_FOUND


@pytest.mark.parametrize("field", ["attempt_id", "scheduler_epoch", "claim_generation", "cancel_generation"])
@pytest.mark.parametrize("is_gateway", [False, True])
def test_every_field_of_the_fence_is_compared(world: World, field: str, is_gateway: bool) -> None:
    fence, other = world.claimed().fence, world.claimed().fence
    changed = other.attempt_id if field == "attempt_id" else getattr(fence, field) + 1
    wrong = fence_but(fence, **{field: changed})
    caller = world.caller(world.agents[1] if is_gateway else None)
    expected = Why.CANCELLED if field == "cancel_generation" else Why.FENCED
    assert why(transitions.accept_tool(caller, wrong, "git.push", ARGS, is_gateway)) is expected
    assert not ToolAcceptance.objects.exists()


def test_a_quiet_claim_still_accepts_tools_and_a_released_one_does_not(world: World) -> None:
    fence = world.claimed().fence
    expire(fence.task_id)
    assert isinstance(transitions.accept_tool(world.caller(), fence, "shell", ARGS), ToolAccepted)
    transitions.release(world.caller(), fence, "night")
    gateway = world.caller(world.agents[1])
    assert why(transitions.accept_tool(gateway, fence, "shell", ARGS, is_gateway=True)) is Why.FENCED


def test_a_delivered_claim_accepts_no_tool(world: World) -> None:
    granted = world.claimed()
    world.delivered(granted=granted)
    assert why(transitions.accept_tool(world.caller(), granted.fence, "shell", ARGS)) is Why.ALREADY_DELIVERED


@pytest.mark.parametrize("tool", ["", "Git", "a b", "x" * 121, "git\n"])
def test_a_tool_has_a_plain_name(world: World, tool: str) -> None:
    assert why(transitions.accept_tool(world.caller(), world.claimed().fence, tool, ARGS)) is Why.MALFORMED


@pytest.mark.parametrize("digest", ["", "a" * 64, f"sha256:{'A' * 64}", f"sha256:{'a' * 63}"])
def test_arguments_are_named_by_their_digest(world: World, digest: str) -> None:
    fence = world.claimed().fence
    assert why(transitions.accept_tool(world.caller(), fence, "shell", digest)) is Why.MALFORMED


def test_a_person_has_no_fence(world: World) -> None:
    fence = world.claimed().fence
    answer = transitions.accept_tool(world.person(world.operator), fence, "shell", ARGS, is_gateway=True)
    assert why(answer) is Why.NOT_FOUND
