"""Every verb that carries a fence compares every field of it, the short way and the long way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from claims import transitions
from claims.fences import Fence
from claims.models import Agent
from claims.outcomes import Granted, Refused, Why
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy
from tests.support.records import no_change, why
from tests.support.world import World, a_specification

pytestmark = pytest.mark.django_db

Call = Callable[[World, Agent, Granted, Fence], object]
NOTHING = StagedResult({"done": True}, [])


def renew(world: World, agent: Agent, granted: Granted, fence: Fence) -> object:
    return transitions.renew(world.caller(agent), fence, 60)


def renew_with_a_key(world: World, agent: Agent, granted: Granted, fence: Fence) -> object:
    return transitions.renew(world.caller(agent, key="k1"), fence, 60)


def progress(world: World, agent: Agent, granted: Granted, fence: Fence) -> object:
    return transitions.progress(world.caller(agent), fence, "halfway")


def release(world: World, agent: Agent, granted: Granted, fence: Fence) -> object:
    return transitions.release(world.caller(agent), fence, "night")


def fail(world: World, agent: Agent, granted: Granted, fence: Fence) -> object:
    return transitions.fail(world.caller(agent), fence, "no", True)


def deliver(world: World, agent: Agent, granted: Granted, fence: Fence) -> object:
    return transitions.deliver(world.caller(agent), fence, granted.input_digest, staged=NOTHING)


def commit(world: World, agent: Agent, granted: Granted, fence: Fence) -> object:
    return transitions.commit(world.caller(agent), fence, granted.input_digest, staged=NOTHING)


def commit_what_was_staged(world: World, agent: Agent, granted: Granted, fence: Fence) -> object:
    transitions.stage(world.caller(), granted.fence, NOTHING)
    return transitions.commit(world.caller(agent), fence, granted.input_digest, NOTHING.digest)


VERBS: list[Call] = [
    renew,
    renew_with_a_key,
    progress,
    release,
    fail,
    deliver,
    commit,
    commit_what_was_staged,
]
every_verb = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)


@pytest.fixture
def granted(sandbox: World) -> Granted:
    return sandbox.claimed(review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))


def refused(world: World, verb: Call, granted: Granted, fence: Fence, agent: Agent | None = None) -> Why:
    transitions.stage(world.caller(), granted.fence, NOTHING)
    with no_change(granted.fence.task_id):
        return why(verb(world, agent or world.agents[0], granted, fence))


@every_verb
def test_the_whole_fence_is_let_through(sandbox: World, granted: Granted, verb: Call) -> None:
    assert not isinstance(verb(sandbox, sandbox.agents[0], granted, granted.fence), Refused)


@every_verb
@pytest.mark.parametrize("by", [-1, 1])
def test_a_fence_of_another_scheduler_epoch_changes_nothing(
    sandbox: World, granted: Granted, verb: Call, by: int
) -> None:
    other = replace(granted.fence, scheduler_epoch=granted.fence.scheduler_epoch + by)
    assert refused(sandbox, verb, granted, other) is Why.FENCED


@every_verb
@pytest.mark.parametrize("by", [-1, 1])
def test_a_fence_of_another_claim_generation_changes_nothing(
    sandbox: World, granted: Granted, verb: Call, by: int
) -> None:
    other = replace(granted.fence, claim_generation=granted.fence.claim_generation + by)
    assert refused(sandbox, verb, granted, other) is Why.FENCED


@every_verb
@pytest.mark.parametrize("by", [-1, 1])
def test_a_fence_of_another_cancel_generation_changes_nothing(
    sandbox: World, granted: Granted, verb: Call, by: int
) -> None:
    other = replace(granted.fence, cancel_generation=granted.fence.cancel_generation + by)
    assert refused(sandbox, verb, granted, other) is Why.CANCELLED


@every_verb
def test_a_fence_in_another_runners_hands_changes_nothing(
    sandbox: World, granted: Granted, verb: Call
) -> None:
    assert refused(sandbox, verb, granted, granted.fence, sandbox.agents[1]) is Why.FENCED


@pytest.mark.parametrize("verb", VERBS[:-3], ids=lambda verb: verb.__name__)
def test_a_fence_of_another_attempt_changes_nothing(sandbox: World, granted: Granted, verb: Call) -> None:
    other = replace(granted.fence, attempt_id=uuid4())
    assert refused(sandbox, verb, granted, other) is Why.FENCED


@pytest.mark.parametrize("verb", VERBS[-3:], ids=lambda verb: verb.__name__)
def test_a_result_under_the_fence_of_another_attempt_changes_nothing(
    sandbox: World, granted: Granted, verb: Call
) -> None:
    elsewhere = sandbox.claimed(
        sandbox.agents[0], review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[])
    )
    transitions.stage(sandbox.caller(), elsewhere.fence, NOTHING)
    other = replace(granted.fence, attempt_id=elsewhere.fence.attempt_id)
    assert refused(sandbox, verb, granted, other) is Why.FENCED


@every_verb
def test_a_fence_from_before_the_epoch_was_raised_changes_nothing(
    sandbox: World, granted: Granted, verb: Call
) -> None:
    sandbox.raise_epoch()
    assert refused(sandbox, verb, granted, granted.fence) is Why.FENCED


@every_verb
def test_an_attempt_of_an_ended_epoch_changes_nothing_by_naming_the_new_one(
    sandbox: World, granted: Granted, verb: Call
) -> None:
    other = replace(granted.fence, scheduler_epoch=sandbox.raise_epoch())
    assert refused(sandbox, verb, granted, other) is Why.FENCED


@pytest.mark.parametrize("verb", [deliver, commit, commit_what_was_staged], ids=lambda verb: verb.__name__)
def test_a_result_for_another_input_changes_nothing(sandbox: World, granted: Granted, verb: Call) -> None:
    other = replace(granted, input_digest=f"sha256:{'0' * 64}")
    assert refused(sandbox, verb, other, granted.fence) is Why.STALE_INPUT
