"""Handing out claims: the only ways for an agent to get authority by itself."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from claims import decide, kernel
from claims.callers import Caller
from claims.decide.rows import PoolRow
from claims.models import Agent
from claims.outcomes import Granted, Grants, Refused, Why
from claims.vocabulary import Gate, Verb

MAX_GRANTS = 100


@kernel.verb(Verb.CLAIM, "OPEN -> CLAIMED", "CLAIMED -> CLAIMED")
def claim(
    caller: Caller,
    task_id: UUID,
    expected_state_version: int,
    scheduler_epoch: int,
    ttl_seconds: int | None = None,
) -> Granted | Refused:
    """OPEN -> CLAIMED, CLAIMED -> CLAIMED. One agent gets the task and a generation of its own.

    ``ttl_seconds`` is the lease's length, the task's own when absent. Refused with OLD_EPOCH,
    GATE_CLOSED, CANCELLED, STALE_STATE, NOT_CLAIMABLE or NOT_ELIGIBLE, checked in that order.
    """
    seen = kernel.take(caller, task_id, grant_to=caller.actor.id) if caller.is_agent else None
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = decide.claim(seen, expected_state_version, scheduler_epoch, ttl_seconds)
    if isinstance(change, Refused):
        return change

    return kernel.advance(caller, seen, change).granted(seen.task.input_digest)


def claim_next(
    caller: Caller, pool_name: str, scheduler_epoch: int, max_grants: int = 1, ttl_seconds: int | None = None
) -> Grants | Refused:
    """OPEN -> CLAIMED. Up to ``max_grants`` (1 to 100) tasks: preferred first, then priority, then age.

    Empty when nothing is claimable by this agent now. Tasks that others are looking at are
    passed over, so two agents never wait for each other here.
    """
    at_once = claim_at_once(caller, pool_name, scheduler_epoch, ttl_seconds) if max_grants == 1 else None
    if at_once is not None:
        return at_once
    pool_id = kernel.pool_named(pool_name)
    if pool_id is None:
        return Refused(Why.NOT_FOUND)
    return _claim_next(caller, pool_id, scheduler_epoch, max_grants, ttl_seconds)


def claim_at_once(
    caller: Caller, pool_name: str, scheduler_epoch: int, ttl_seconds: int | None = None
) -> Grants | Refused | None:
    """OPEN -> CLAIMED. One task in one round trip; None where there is anything else to say, and nothing was changed."""
    pool_id = kernel.pool_named(pool_name)
    granted = (
        None if pool_id is None else kernel.hot.claim_next(caller, pool_id, scheduler_epoch, ttl_seconds)
    )
    return Grants((granted,)) if isinstance(granted, Granted) else granted


@kernel.verb(Verb.CLAIM_NEXT, "OPEN -> CLAIMED")
def _claim_next(
    caller: Caller, pool_id: int, scheduler_epoch: int, max_grants: int, ttl_seconds: int | None
) -> Grants | Refused:
    labels = _labels_of(caller, pool_id)
    if labels is None:
        return Refused(Why.NOT_FOUND)
    seen = kernel.next_claimable(pool_id, caller.actor, labels, max_grants)
    pool = seen if isinstance(seen, PoolRow) else seen[0].pool
    refused = _gives_nothing(pool, scheduler_epoch)
    if refused or isinstance(seen, PoolRow):
        return refused or Grants(())

    grants: list[Granted] = []
    for task in seen:
        change = decide.claim(task, None, scheduler_epoch, ttl_seconds, Verb.CLAIM_NEXT)
        if isinstance(change, Refused):
            return replace(change, current=None)
        grants.append(kernel.advance(caller, task, change).granted(task.task.input_digest))
    return Grants(tuple(grants))


def _labels_of(caller: Caller, pool_id: int) -> list[str] | None:
    """The labels of an agent that works in the pool; None for everybody else."""
    if not caller.is_agent:
        return None
    here = Agent.objects.filter(id=caller.actor.id, agent_pools__pool_id=pool_id)
    return here.values_list("labels", flat=True).first()


def _gives_nothing(pool: PoolRow, scheduler_epoch: int) -> Refused | None:
    """Why a pool gives nothing to anybody; what is current is the pool's, for no task was asked for."""
    current = {"schedulerEpoch": pool.scheduler_epoch, "gate": pool.gate.value}
    if scheduler_epoch != pool.scheduler_epoch:
        detail = f"The pool's scheduler epoch is {pool.scheduler_epoch}, not {scheduler_epoch}."
        return Refused(Why.OLD_EPOCH, detail, extra={"current": current})
    if pool.gate is Gate.DRAINING:
        return Refused(Why.GATE_CLOSED, extra={"current": current})
    return None
