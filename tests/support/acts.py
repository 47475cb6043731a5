"""Keyed calls of the verbs, made in a world where each can succeed once; for tests that lose an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from claims import transitions
from claims.models import Attempt, CanonicalCommit, History, Permit, PoolEvent
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy
from tests.support.effects import PAYLOAD, a_key, prepared, with_effect
from tests.support.proxy import COMMIT
from tests.support.world import World, a_specification, judgement

BIND = b"B"
"""How the message begins that runs a prepared statement."""

UNREVIEWED = {"input": a_specification(evidence=[]), "review_policy": ReviewPolicy.NONE}


@dataclass(frozen=True)
class Act:
    """One keyed call, made as often as wanted, and how often it has happened.

    ``function`` is the one function of the database that does all of it in one round trip, where there is one.
    """

    call: Callable[[], Any]
    happened: Callable[[], int]
    function: bytes = b""
    replays: bool = True

    def commits(self, message: bytes) -> bool:
        """Whether this message is the one after whose answer it has happened."""
        if self.function:
            return message.startswith(BIND) and self.function in message
        return COMMIT in message


def keyed(world: World) -> Any:
    """The first agent's call with a key of its own."""
    return world.caller(key=a_key(), request_digest="sha256:1")


def rows(task_id: UUID, verb: str) -> Callable[[], int]:
    """How many rows of history a task has of a verb."""
    return lambda: History.objects.filter(task_id=task_id, verb=verb).count()


def claim(world: World) -> Act:
    task_id = world.task()
    call = partial(transitions.claim, keyed(world), task_id, 1, world.epoch)
    return Act(call, rows(task_id, "claim"))


def claim_next(world: World) -> Act:
    before = Attempt.objects.filter(agent=world.agents[0]).count()
    world.task()
    call = partial(transitions.claim_next, keyed(world), world.pool.name, world.epoch)
    granted = Attempt.objects.filter(agent=world.agents[0])
    return Act(call, lambda: granted.count() - before, b"claims_claim_next\x00")


def release(world: World) -> Act:
    fence = world.claimed().fence
    return Act(partial(transitions.release, keyed(world), fence, "no time"), rows(fence.task_id, "release"))


def deliver(world: World) -> Act:
    granted = world.claimed()
    call = partial(
        transitions.deliver,
        keyed(world),
        granted.fence,
        granted.input_digest,
        staged=world.staged(granted),
    )
    return Act(call, rows(granted.fence.task_id, "deliver"))


def commit(world: World, caller: Any = None) -> Act:
    """In one round trip."""
    granted = world.claimed(**UNREVIEWED)
    task_id, staged = granted.fence.task_id, StagedResult({"done": True}, [])
    call = partial(
        transitions.commit, caller or keyed(world), granted.fence, granted.input_digest, staged=staged
    )
    commits = CanonicalCommit.objects.filter(task_id=task_id)
    return Act(call, lambda: commits.count(), b"claims_commit\x00")


def commit_without_a_key(world: World) -> Act:
    return commit(world, world.caller())


def commit_with_evidence(world: World) -> Act:
    granted = world.claimed(review_policy=ReviewPolicy.NONE)
    call = partial(
        transitions.commit, keyed(world), granted.fence, granted.input_digest, staged=world.staged(granted)
    )
    return Act(call, rows(granted.fence.task_id, "commit"))


def accept(world: World) -> Act:
    delivery = world.delivered()
    reviewer = world.person(world.reviewer, key=a_key())
    call = partial(transitions.accept, reviewer, delivery.id, judgement(delivery))
    return Act(call, rows(delivery.task_id, "accept"))


def cancel(world: World) -> Act:
    task_id = world.task()
    call = partial(transitions.cancel, world.person(world.preparer, key=a_key()), task_id, "not wanted")
    return Act(call, rows(task_id, "cancel"))


def prepare(world: World) -> Act:
    fence = with_effect(world).fence
    call = partial(transitions.prepare, keyed(world), fence, "mail", PAYLOAD)
    return Act(call, rows(fence.task_id, "prepare"))


def execute(world: World) -> Act:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    call = partial(transitions.execute, keyed(world), granted.fence, effect_id)
    permits = Permit.objects.filter(effect_id=effect_id)
    return Act(call, lambda: permits.count(), replays=False)


def raise_epoch(world: World) -> Act:
    operator = world.person(world.operator, key=a_key())
    call = partial(transitions.raise_epoch, operator, world.pool.name, world.epoch, "restored")
    raised = PoolEvent.objects.filter(pool=world.pool, verb="raise-epoch")
    before = raised.count()
    return Act(call, lambda: raised.count() - before)


ACTS = {
    act.__name__: act
    for act in (
        claim, claim_next, release, deliver, commit, commit_without_a_key, commit_with_evidence, accept, cancel,
        prepare, execute, raise_epoch,
    )
}  # fmt: skip
"""Every one of them, by its name."""
