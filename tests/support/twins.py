"""Two workers and one task: the first paused past its lease, the second holds the claim now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from claims.callers import Caller
from claims.outcomes import Granted
from claims.vocabulary import ReclaimPolicy
from tests.support.world import World, expire


@dataclass(frozen=True)
class Twins:
    """``slow`` was granted first, ``quick`` took the claim when it had lapsed."""

    task_id: UUID
    slow: Granted
    quick: Granted
    slow_caller: Caller
    quick_caller: Caller


def twins(world: World, **attributes: Any) -> Twins:
    """Let one agent's claim lapse and another take it."""
    slow = world.claimed(reclaim_policy=ReclaimPolicy.AUTO, **attributes)
    expire(slow.fence.task_id)
    quick = world.claimed(world.agents[1], slow.fence.task_id)
    return Twins(slow.fence.task_id, slow, quick, world.caller(), world.caller(world.agents[1]))
