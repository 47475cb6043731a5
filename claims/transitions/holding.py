"""What the holder of a claim does short of handing in a result."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from claims import decide, kernel
from claims.callers import Caller
from claims.fences import Fence
from claims.models import Attempt, Task
from claims.outcomes import Left, Progressed, Refused, Renewed, Why
from claims.transitions.costing import Cost, with_cost
from claims.vocabulary import Verb


def renew(caller: Caller, fence: Fence, extend_seconds: int) -> Renewed | Refused:
    """No edge. The lease runs ``extend_seconds`` from now, never shorter than it ran.

    Also after expiry, while the generation is current: only generations decide who may write.
    Refused with CANCELLED, STALE_INPUT, FENCED, ALREADY_DELIVERED or WINDOW_EXCEEDED.
    """
    return kernel.hot.renew(caller, fence, extend_seconds) or _renew(caller, fence, extend_seconds)


def renew_many(caller: Caller, items: Sequence[tuple[Fence, int]]) -> list[Renewed | Refused]:
    """No edge. Several renewals, one transaction a pool; each has its own answer, in the order of ``items``.

    What is refused, replayed or waited for in vain is looked at on its own, and spoils no other.
    """
    answers: dict[int, Renewed | Refused] = {}
    for places in _by_pool(items).values():
        told = kernel.hot.renew_many(caller, [items[place] for place in places])
        each = [told] * len(places) if isinstance(told, Refused) else told
        answers |= {place: answer for place, answer in zip(places, each, strict=True) if answer is not None}
    return [
        answers[place] if place in answers else _renew(_numbered(caller, place), *item)
        for place, item in enumerate(items)
    ]


def _by_pool(items: Sequence[tuple[Fence, int]]) -> dict[int | None, list[int]]:
    """The places of the items by their pool, those of one pool in the order of their tasks: the order of all locks."""
    pools = dict(
        Task.objects.filter(id__in={fence.task_id for fence, _ in items}).values_list("id", "pool_id")
    )
    groups: dict[int | None, list[int]] = {}
    for place in sorted(range(len(items)), key=lambda place: items[place][0].task_id):
        groups.setdefault(pools.get(items[place][0].task_id), []).append(place)
    return groups


def _numbered(caller: Caller, place: int) -> Caller:
    """Each renewal of a call has a key of its own: one key has one answer, and would answer for them all."""
    if caller.key is None:
        return caller
    return replace(caller, key=hashlib.sha256(f"renewals {place} {caller.key}".encode()).hexdigest())


@kernel.verb(Verb.RENEW)
def _renew(caller: Caller, fence: Fence, extend_seconds: int) -> Renewed | Refused:
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    answer = decide.renew(seen, fence, caller.actor.id, extend_seconds)
    if isinstance(answer, Refused):
        return answer

    renewed, validated = answer
    kernel.keep_lease(seen, renewed.lease_expires_at, validated)
    return renewed


@kernel.verb(Verb.PROGRESS)
def progress(caller: Caller, fence: Fence, note: str, cost: Cost | None = None) -> Progressed | Refused:
    """No edge. The runner says what it is doing, and what it has cost so far.

    From a lost fence: refused as ever, but what the ended attempt cost is kept on its own row.
    """
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    standing = with_cost(caller, fence, cost, decide.claimed(seen, fence, caller.actor.id))
    if isinstance(standing, Refused):
        return standing

    Attempt.objects.filter(id=fence.attempt_id).update(
        note=note, noted_at=seen.now, noted_under=str(standing)
    )
    return Progressed(fence.attempt_id)


@kernel.verb(Verb.RELEASE, "CLAIMED -> OPEN", "CLAIMED -> HELD")
def release(caller: Caller, fence: Fence, reason: str, cost: Cost | None = None) -> Left | Refused:
    """CLAIMED -> OPEN, CLAIMED -> HELD. The runner gives the task back, unharmed."""
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = with_cost(caller, fence, cost, decide.release(seen, fence, caller.actor.id, reason))
    if isinstance(change, Refused):
        return change

    advanced = kernel.advance(caller, seen, change)
    return Left(fence.task_id, advanced.state, advanced.state_version, change.reason)


@kernel.verb(Verb.FAIL, "CLAIMED -> OPEN", "CLAIMED -> HELD")
def fail(
    caller: Caller, fence: Fence, reason: str, retryable: bool, cost: Cost | None = None
) -> Left | Refused:
    """CLAIMED -> OPEN, CLAIMED -> HELD. The runner could not do it; ``retryable``: another may."""
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = with_cost(caller, fence, cost, decide.fail(seen, fence, caller.actor.id, reason, retryable))
    if isinstance(change, Refused):
        return change

    advanced = kernel.advance(caller, seen, change)
    return Left(fence.task_id, advanced.state, advanced.state_version, change.reason)
