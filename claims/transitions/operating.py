"""What operators, and the clock on their behalf, do with claims whose runner does not answer."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from claims import decide, kernel, selectors
from claims.callers import Caller
from claims.decide import Sighting
from claims.decide.rows import TaskAsRead
from claims.models import Agent
from claims.models.columns import new_id
from claims.outcomes import Granted, Left, Noted, Refused, Why
from claims.transitions.revising import next_revision, take_with_graph
from claims.vocabulary import Verb


@kernel.verb(Verb.RELEASE_QUIET, "CLAIMED -> OPEN", "CLAIMED -> HELD")
def release_quiet(caller: Caller, task_id: UUID, sighting: Sighting) -> Left | Refused:
    """CLAIMED -> OPEN, CLAIMED -> HELD. An operator ends a quiet claim; its runner is fenced from then on.

    Refused with FORBIDDEN, NOT_CLAIMED, STALE_STATE, or NOT_QUIET when the claim was renewed
    since the operator looked, unless ``even_if_live``.
    """
    seen = _take(caller, task_id)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = decide.release_quiet(seen, sighting)
    if isinstance(change, Refused):
        return change

    advanced = kernel.advance(caller, seen, change)
    return Left(task_id, advanced.state, advanced.state_version, change.reason)


@kernel.verb(Verb.REASSIGN, "CLAIMED -> CLAIMED", "OPEN -> CLAIMED")
def reassign(caller: Caller, task_id: UUID, sighting: Sighting, runner: str) -> Granted | Refused:
    """CLAIMED -> CLAIMED, OPEN -> CLAIMED. An operator gives the task to the agent named ``runner``."""
    agent_id = Agent.objects.filter(name=runner).values_list("id", flat=True).first()
    seen = _take(caller, task_id, grant_to=agent_id)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = decide.reassign(seen, sighting)
    if isinstance(change, Refused):
        return change

    return kernel.advance(caller, seen, change).granted(seen.task.input_digest)


@kernel.verb(Verb.EXTEND_ONCE, "CLAIMED -> CLAIMED")
def extend_once(caller: Caller, task_id: UUID, sighting: Sighting) -> Noted | Refused:
    """CLAIMED -> CLAIMED. A quiet runner gets one more term of its lease; once a claim."""
    seen = _take(caller, task_id)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = decide.extend_once(seen, sighting)
    if isinstance(change, Refused):
        return change

    advanced = kernel.advance(caller, seen, change)
    return Noted(task_id, advanced.state_version, change.expiry.expires_at if change.expiry else None)


@kernel.verb(Verb.NUDGE, "CLAIMED -> CLAIMED")
def nudge(caller: Caller, task_id: UUID, sighting: Sighting) -> Noted | Refused:
    """CLAIMED -> CLAIMED. The runner's next renewal, and its long poll, say that it is asked for."""
    seen = _take(caller, task_id)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = decide.nudge(seen, sighting)
    if isinstance(change, Refused):
        return change

    advanced = kernel.advance(caller, seen, change)
    return Noted(task_id, advanced.state_version)


@kernel.verb(Verb.REQUEUE, "HELD -> OPEN", "HELD -> SUPERSEDED", "new -> OPEN", "new -> BLOCKED")
def requeue(caller: Caller, task_id: UUID, sighting: Sighting) -> Left | Refused:
    """HELD -> OPEN. An operator lets a held task be claimed again; its attempts start anew.

    HELD -> SUPERSEDED, new -> OPEN where its input is stale: the answer names the next revision,
    which is pinned to the results there are now.
    """
    seen = take_with_graph(caller, task_id) if caller.is_at_hand else None
    if seen is None:
        return Refused(Why.NOT_FOUND)
    next_id = new_id()
    change = decide.requeue(seen, sighting, next_id)
    if isinstance(change, Refused):
        return change

    advanced = kernel.advance(caller, seen, change)
    if not seen.task.is_stale:
        return Left(task_id, advanced.state, advanced.state_version)
    body = selectors.specification_of(task_id) or {}
    new = next_revision(caller, seen, next_id, advanced.claim_generation, Verb.REQUEUE, body)
    return Left(new.task_id, new.state, new.state_version)


@kernel.verb(Verb.LAPSE, "CLAIMED -> OPEN", "CLAIMED -> HELD")
def lapse(caller: Caller, task_id: UUID) -> Left | Refused | None:
    """CLAIMED -> OPEN, CLAIMED -> HELD. The sweep ends an expired AUTO claim, or one of an old epoch.

    None when it was renewed, delivered or taken since the sweep looked.
    """
    seen = kernel.take(caller, task_id)
    change = decide.lapse(seen) if seen else None
    if seen is None or change is None:
        return None

    advanced = kernel.advance(caller, seen, change)
    return Left(task_id, advanced.state, advanced.state_version, change.reason)


def disable_agent(caller: Caller, agent_id: int) -> list[Left] | Refused:
    """CLAIMED -> HELD. The agent gets no grant any more; what it holds waits for an operator.

    Its deliveries stay reviewable. Refused with FORBIDDEN for anybody but its owner, an
    administrator of a pool it works in, or the server.
    """
    agent = Agent.objects.filter(id=agent_id).first()
    if agent is None:
        return Refused(Why.NOT_FOUND)
    if not (caller.is_server or selectors.may_switch_off(caller, agent_id)):
        return Refused(Why.FORBIDDEN, f"Only the owner of {agent.name} or an administrator can disable it.")
    kernel.switch_off(agent_id)
    caller = replace(caller, key=None)
    held = [_hold_task_of(caller, task_id, agent) for task_id in selectors.claimed_by(agent_id)]
    return [left for left in held if isinstance(left, Left)]


@kernel.verb(Verb.DISABLE_AGENT, "CLAIMED -> HELD")
def _hold_task_of(caller: Caller, task_id: UUID, agent: Agent) -> Left | Refused | None:
    """CLAIMED -> HELD. One task of an agent that was disabled."""
    seen = kernel.take(caller, task_id)
    change = decide.disable_agent(seen, agent.name) if seen and seen.task.runner_id == agent.id else None
    if seen is None or change is None:
        return None

    advanced = kernel.advance(caller, seen, change)
    return Left(task_id, advanced.state, advanced.state_version, change.reason)


def _take(caller: Caller, task_id: UUID, grant_to: int | None = None) -> TaskAsRead | None:
    """The task under its lock; None for a caller with a token, which can never operate."""
    return kernel.take(caller, task_id, grant_to=grant_to) if caller.is_at_hand else None
