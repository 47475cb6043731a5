"""Who may be granted a task, and until when (claim.v1 sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from claims.decide.changes import Change, NewGrant, Validated, out_of_bounds, refuse
from claims.decide.rows import AgentRow, Predecessor, TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import AttemptOutcome, Gate, ReclaimPolicy, State, Verb


def claim(
    seen: TaskAsRead,
    expected_state_version: int | None,
    scheduler_epoch: int,
    ttl_seconds: int | None,
    verb: Verb = Verb.CLAIM,
) -> Change | Refused:
    """OPEN -> CLAIMED, or CLAIMED -> CLAIMED of an expired AUTO claim."""
    agent = seen.agent
    if agent is None or not agent.works_here:
        return Refused(Why.NOT_FOUND)
    malformed = out_of_bounds(seen, "ttlSeconds", ttl_seconds)
    if malformed:
        return malformed
    if scheduler_epoch != seen.pool.scheduler_epoch:
        return refuse(
            seen,
            Why.OLD_EPOCH,
            f"The pool's scheduler epoch is {seen.pool.scheduler_epoch}, not {scheduler_epoch}.",
        )
    if seen.pool.gate is Gate.DRAINING:
        return refuse(seen, Why.GATE_CLOSED)
    if seen.task.state is State.CANCELLED:
        return refuse(seen, Why.CANCELLED)
    if expected_state_version is not None and expected_state_version != seen.task.state_version:
        return refuse(
            seen,
            Why.STALE_STATE,
            f"The task is at state version {seen.task.state_version}, not {expected_state_version}.",
        )
    reasons = not_claimable(seen)
    if reasons:
        return refuse(seen, Why.NOT_CLAIMABLE, " ".join(reasons), *reasons)
    unfit = not_eligible(seen, agent)
    if unfit:
        return refuse(seen, Why.NOT_ELIGIBLE, " ".join(unfit), *unfit)
    compared = Validated(scheduler_epoch, seen.task.claim_generation, seen.task.cancel_generation)
    return grant(seen, verb, agent, ttl_seconds, validated=compared)


def grant(
    seen: TaskAsRead,
    verb: Verb,
    agent: AgentRow,
    ttl_seconds: int | None,
    *,
    is_counted: bool = True,
    validated: Validated | None = None,
) -> Change:
    """The change that hands the task to ``agent``; ends the authority there was."""
    ends, longest = None, seen.pool.max_ttl_seconds
    if seen.task.state is State.CLAIMED:
        ends = AttemptOutcome.FENCED if seen.is_below_epoch else AttemptOutcome.LAPSED
    return Change(
        verb,
        State.CLAIMED,
        ends=ends,
        grant=NewGrant(agent, min(ttl_seconds or seen.task.ttl_seconds, longest), is_counted),
        columns={"preferred_runner_id": None} if seen.task.preferred_runner_id else {},
        validated=validated,
    )


def not_claimable(seen: TaskAsRead) -> list[str]:
    """Every reason why nobody can claim the task now, in words."""
    task = seen.task
    reasons = []
    if task.state is State.CLAIMED:
        reasons += _taken(seen)
    elif task.state is State.DELIVERED:
        reasons.append("It has been delivered and waits for a decision.")
    elif task.state is State.BLOCKED:
        reasons.append(f"It is blocked: {blocked_by(seen.predecessors) or task.reason}")
    elif task.state is State.HELD:
        reasons.append(f"It is held: {task.reason}")
    elif task.state is not State.OPEN:
        reasons.append(f"It is {task.state}.")
    if task.not_before is not None and task.not_before > seen.now:
        reasons.append(f"It may not be claimed before {_utc(task.not_before)}.")
    if seen.attempts_are_used_up and task.state in (State.OPEN, State.CLAIMED):
        reasons.append(f"Its {task.max_attempts} attempts are used up.")
    return reasons


def blocked_by(predecessors: Sequence[Predecessor]) -> str:
    """Which predecessors a task waits for, by name, and where each of them is; empty for none."""
    waits = [f"T-{one.number} ({one.state.lower()})" for one in predecessors if one.state is not State.DONE]
    return f"it waits for {', '.join(waits[:20])}{' and more' if len(waits) > 20 else ''}." if waits else ""


def _taken(seen: TaskAsRead) -> list[str]:
    runner = seen.attempt.agent_name if seen.attempt else "another agent"
    if seen.lease is None or not seen.is_expired:
        until = f" until {_utc(seen.lease.expires_at)}" if seen.lease else ""
        return [f"It is claimed by {runner}{until}."]
    if seen.task.reclaim_policy is ReclaimPolicy.AUTO:
        return []
    if seen.is_below_epoch:
        return [f"The claim of {runner} was granted under an epoch that has ended; the sweep holds the task."]
    return [
        f"The claim of {runner} is quiet since {_utc(seen.lease.expires_at)}; an operator decides about it."
    ]


def not_eligible(seen: TaskAsRead, agent: AgentRow) -> list[str]:
    """Every reason why this agent in particular cannot have the task."""
    reasons = []
    if agent.is_disabled:
        reasons.append(f"The agent {agent.name} is disabled.")
    missing = sorted(set(seen.task.access) - agent.labels)
    if missing:
        reasons.append(f"The agent {agent.name} lacks the label {', '.join(missing)}.")
    return reasons


def _utc(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")
