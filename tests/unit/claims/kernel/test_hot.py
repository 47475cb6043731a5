"""The short way of the hot verbs says and writes what the long way does, on random rows."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from claims import kernel, transitions
from claims.canonical import result_digest
from claims.models import (
    Agent,
    Attempt,
    CanonicalCommit,
    History,
    IdempotencyKey,
    Lease,
    Pool,
    StagedResult,
    Task,
)
from claims.outcomes import Committed, Decided, Grants, Refused, Renewed
from claims.selectors.chain import verify_chain
from claims.transitions import StagedResult as Staged
from claims.transitions import delivering, granting, holding
from claims.transitions.results import prepare
from claims.vocabulary import ReclaimPolicy, ReviewPolicy, Verdict
from tests.support.world import World, a_world, expire, fence_but, judgement, next_epoch

pytestmark = pytest.mark.django_db

SAMPLES = 20_000 if os.environ.get("FENCEPOST_LONG") else 100


class _Undo(Exception):
    """Ends a savepoint."""


def _undone(what: Callable[[], Any]) -> Any:
    """What ``what`` returned, with everything it wrote taken back."""
    kept = None
    try:
        with transaction.atomic():
            connection.atomic_blocks[-1]._from_testcase = True  # a verb's own transaction may nest in it
            kept = what()
            raise _Undo
    except _Undo:
        return kept


TIMES = {
    "at",
    "state_since",
    "started_at",
    "ended_at",
    "expires_at",
    "window_ends_at",
    "renewed_at",
    "staged_at",
    "committed_at",
    "used_at",
    "noted_at",
}
NAMES = {"id", "attempt_id", "commit_id", "result_commit_id", "hash", "history_hash", "transaction_id"}


def _written(world: World) -> list[dict[str, Any]]:
    """Every row of the world, without the moments and the random names in it."""
    tasks = list(Task.objects.filter(pool=world.pool).values_list("id", flat=True))
    rows: list[dict[str, Any]] = []
    for table in (Task, Lease, Attempt, History, StagedResult, CanonicalCommit):
        key = "id__in" if table is Task else "task_id__in"
        for row in table.objects.filter(**{key: tasks}).order_by("pk").values():
            cleaned = {name: value for name, value in row.items() if name not in TIMES | NAMES}
            cleaned["has"] = {name: row[name] is not None for name in sorted((TIMES | NAMES) & set(row))}
            if "body" in cleaned:
                cleaned["body"] = {
                    name: value
                    for name, value in cleaned["body"].items()
                    if name not in ("commit", "endedAttempt")
                }
            rows.append(cleaned)
    rows += list(IdempotencyKey.objects.order_by("pk").values("holder", "key", "verb", "request_digest"))
    assert all(verify_chain(task) is None for task in tasks)
    return rows


@dataclass(frozen=True)
class Draw:
    """One random situation."""

    dice: random.Random

    def sometimes(self, share: float = 0.12) -> bool:
        return self.dice.random() < share

    def set_up(self, world: World, agent: Agent) -> None:
        if self.sometimes(0.5):
            return
        if self.sometimes():
            Pool.objects.filter(id=world.pool.id).update(gate="DRAINING")
        if self.sometimes():
            Pool.objects.filter(id=world.pool.id).update(scheduler_epoch=next_epoch())
        if self.sometimes():
            Pool.objects.filter(id=world.pool.id).update(allows_unreviewed=False)
        if self.sometimes():
            Agent.objects.filter(id=agent.id).update(is_disabled=True)
        if self.sometimes():
            agent.agent_pools.all().delete()

    def attributes(self) -> dict[str, Any]:
        return {
            "title": self.dice.choice(["Plain", 'Quotes " and \\ and / and é', "Tab\tand\u2028line"]),
            "priority": self.dice.randint(0, 9),
            "max_attempts": self.dice.randint(1, 3),
            "reclaim_policy": self.dice.choice(list(ReclaimPolicy)),
            "review_policy": ReviewPolicy.REVIEW if self.sometimes() else ReviewPolicy.NONE,
            "input": {
                "task": "x",
                "access": self.dice.choice([[], [], ["python"], ["browser"]]),
                **self.evidence(),
            },
            "ttl_seconds": self.dice.choice([None, 30, 60]),
        }

    def evidence(self) -> dict[str, Any]:
        return {"evidence": [{"kind": "diff"}]} if self.sometimes() else {}


@pytest.mark.parametrize("seed", range(SAMPLES // 50))
def test_claim_next_is_the_same_both_ways(seed: int) -> None:
    for position in range(50):
        draw = Draw(random.Random(f"claim {seed} {position}"))
        _undone(lambda draw=draw: _claim_both_ways(draw))


def _claim_both_ways(draw: Draw) -> None:
    world = a_world(allows_unreviewed=True)
    agent = world.agent(*draw.dice.choice([(), ("python",), ("python", "browser")]))
    for _ in range(draw.dice.randint(0, 3)):
        world.task(**draw.attributes())
    if draw.sometimes(0.3):
        _prefer(world, agent, draw)
    epoch = world.epoch
    draw.set_up(world, agent)
    caller = world.caller(agent, key=uuid4().hex if draw.sometimes(0.5) else None, request_digest="sha256:1")
    ttl = draw.dice.choice([None, 45])
    short = _undone(lambda: (kernel.hot.claim_next(caller, world.pool.id, epoch, ttl), _written(world)))
    long = _undone(lambda: (granting._claim_next(caller, world.pool.id, epoch, 1, ttl), _written(world)))
    granted = isinstance(long[0], Grants) and bool(long[0].grants)
    assert (short[0] is not None) is granted, long[0]
    if granted:
        assert short[1] == long[1]
        fields = {"fence": None, "lease_expires_at": None, "window_ends_at": None, "task": None}
        assert replace(short[0], **fields) == replace(long[0].grants[0], **fields)


def _prefer(world: World, agent: Agent, draw: Draw) -> None:
    """A task that was sent back while the gate was closed waits for its runner first."""
    delivery = world.delivered(agent, priority=draw.dice.randint(0, 9))
    Pool.objects.filter(id=world.pool.id).update(gate="DRAINING")
    sent_back = transitions.request_changes(
        world.person(world.reviewer), delivery.id, judgement(delivery, Verdict.NOT_MET, "once more")
    )
    assert isinstance(sent_back, Decided)
    Pool.objects.filter(id=world.pool.id).update(gate="OPEN")


@pytest.mark.parametrize("seed", range(SAMPLES // 50))
def test_renew_and_commit_are_the_same_both_ways(seed: int) -> None:
    for position in range(50):
        draw = Draw(random.Random(f"write {seed} {position}"))
        _undone(lambda draw=draw: _write_both_ways(draw))


def _write_both_ways(draw: Draw) -> None:
    world = a_world(allows_unreviewed=True)
    agent = world.agent("python", "browser")
    granted = world.claimed(agent, **draw.attributes())
    fence = granted.fence
    if draw.sometimes():
        world.delivered(agent, granted)
    if draw.sometimes(0.3) and Lease.objects.filter(task_id=fence.task_id).exists():
        expire(fence.task_id, draw.dice.randint(1, 100))
    if draw.sometimes():
        Lease.objects.filter(task_id=fence.task_id).update(window_ends_at="2020-01-01T00:00Z")
    if draw.sometimes(0.3):
        Lease.objects.filter(task_id=fence.task_id).update(nudged_at="2020-01-01T00:00Z")
    draw.set_up(world, agent)
    field = draw.dice.choice(["scheduler_epoch", "claim_generation", "cancel_generation"])
    if draw.sometimes(0.4):
        fence = fence_but(fence, **{field: getattr(fence, field) + draw.dice.choice([-1, 1])})
    elif draw.sometimes(0.5):  # also where the epoch was raised: it is no secret, and names no authority
        fence = fence_but(fence, scheduler_epoch=Pool.objects.get(pk=world.pool.pk).scheduler_epoch)
    if draw.sometimes(0.1):
        fence = fence_but(fence, attempt_id=uuid4())
    who = world.agents[0] if draw.sometimes(0.1) else agent
    _renew_both_ways(draw, world, world.caller(who), fence)
    _commit_both_ways(
        draw,
        world,
        world.caller(who, key=uuid4().hex if draw.sometimes(0.5) else None),
        fence,
        granted.input_digest,
    )


def _renew_both_ways(draw: Draw, world: World, caller: Any, fence: Any) -> None:
    seconds = draw.dice.choice([1, 60, 3_600, 3_601])
    short = _undone(lambda: (kernel.hot.renew(caller, fence, seconds), _written(world)))
    long = _undone(lambda: (holding._renew(caller, fence, seconds), _written(world)))
    assert (short[0] is not None) is isinstance(long[0], Renewed), long[0]
    if short[0] is not None:
        assert short[1] == long[1]
        assert (short[0].recovered, short[0].nudged) == (long[0].recovered, long[0].nudged)
        assert abs(short[0].lease_seconds_remaining - long[0].lease_seconds_remaining) < 5


def _commit_both_ways(draw: Draw, world: World, caller: Any, fence: Any, input_digest: str) -> None:
    digest = "sha256:" + "1" * 64 if draw.sometimes() else input_digest
    result = draw.dice.choice([{"ok": 1}, {"text": 'é "\\'}, [1, 2.5], "done"])
    staged = Staged(result, [])

    def go_long() -> Any:
        prepared = prepare(caller, fence, digest, None, staged)
        assert not isinstance(prepared, Refused)
        return delivering._commit(caller, fence, prepared, None), _written(world)

    short = _undone(
        lambda: (kernel.hot.commit(caller, fence, digest, result, result_digest(result, [])), _written(world))
    )
    long = _undone(go_long)
    if short[0] is None:
        # The short way also leaves to the long one every input that asks for evidence.
        return
    assert isinstance(long[0], Committed), long[0]
    assert short[1] == long[1]
    assert short[0].result_digest == long[0].result_digest
    assert short[0].state_version == long[0].state_version
