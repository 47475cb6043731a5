"""What an operator may do with a claim that has gone quiet, or a task that is held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from claims.decide.changes import Change, NewExpiry, open_or_held, refuse
from claims.decide.granting import grant, not_eligible
from claims.decide.graph import superseded
from claims.decide.holding import lease_of
from claims.decide.rows import TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import AttemptOutcome, Gate, ReclaimPolicy, Right, State, Verb


@dataclass(frozen=True, slots=True)
class Sighting:
    """What the operator saw: the state version and the lease's end on the page."""

    expected_state_version: int
    lease_expires_at: datetime | None
    reason: str
    even_if_live: bool = False


def release_quiet(seen: TaskAsRead, sighting: Sighting) -> Change | Refused:
    """CLAIMED -> OPEN. A person ends a claim whose runner does not answer."""
    refused = _may_operate(seen, sighting) or _is_not_quiet(seen, sighting)
    if refused:
        return refused
    return open_or_held(
        seen, Verb.RELEASE_QUIET, _ending(seen), "the last one went quiet", reason=sighting.reason
    )


def reassign(seen: TaskAsRead, sighting: Sighting) -> Change | Refused:
    """CLAIMED -> CLAIMED, OPEN -> CLAIMED. A person gives the task to a named runner."""
    refused = _may_operate(seen, sighting)
    if refused:
        return refused
    if seen.task.state not in (State.CLAIMED, State.OPEN):
        return refuse(
            seen,
            Why.NOT_CLAIMED,
            f"The task is {seen.task.state}; only an open or claimed task can be reassigned.",
        )
    refused = _is_not_quiet(seen, sighting) if seen.task.state is State.CLAIMED else None
    if refused:
        return refused
    if seen.task.state_version != sighting.expected_state_version:
        return _moved(seen, sighting)
    if seen.pool.gate is Gate.DRAINING:
        return refuse(seen, Why.GATE_CLOSED)
    agent = seen.agent
    if agent is None or not agent.works_here:
        return refuse(seen, Why.UNPROCESSABLE, "There is no such agent in this pool.")
    unfit = not_eligible(seen, agent)
    if seen.attempts_are_used_up:
        unfit.append(f"Its {seen.task.max_attempts} attempts are used up; raise maxAttempts first.")
    if unfit:
        return refuse(seen, Why.NOT_ELIGIBLE, " ".join(unfit), *unfit)
    change = grant(seen, Verb.REASSIGN, agent, None)
    return Change(
        change.verb,
        change.target,
        ends=_ending(seen) if change.ends else None,
        grant=change.grant,
        columns=change.columns,
        body={"reason": sighting.reason},
    )


def extend_once(seen: TaskAsRead, sighting: Sighting) -> Change | Refused:
    """CLAIMED -> CLAIMED. A person gives a quiet runner one more term; only once a claim."""
    refused = _may_operate(seen, sighting) or _is_not_quiet(seen, sighting)
    if refused:
        return refused
    lease = lease_of(seen)
    if lease.extended_at is not None:
        return refuse(seen, Why.ALREADY_EXTENDED)
    until = max(seen.now + timedelta(seconds=lease.ttl_seconds), lease.expires_at)
    if until > lease.window_ends_at:
        return refuse(seen, Why.WINDOW_EXCEEDED, windowEndsAt=lease.window_ends_at.isoformat())
    return Change(
        Verb.EXTEND_ONCE,
        State.CLAIMED,
        expiry=NewExpiry(until, is_extension=True),
        body={"reason": sighting.reason, "leaseExpiresAt": until.isoformat()},
    )


def nudge(seen: TaskAsRead, sighting: Sighting) -> Change | Refused:
    """CLAIMED -> CLAIMED. The runner's next renewal is told that an operator asks for it."""
    refused = _may_operate(seen, sighting) or _is_not_quiet(seen, sighting)
    if refused:
        return refused
    return Change(
        Verb.NUDGE,
        State.CLAIMED,
        expiry=NewExpiry(lease_of(seen).expires_at, is_nudge=True),
        body={"reason": sighting.reason},
    )


def requeue(seen: TaskAsRead, sighting: Sighting, next_id: UUID) -> Change | Refused:
    """HELD -> OPEN. The attempts start anew. HELD -> SUPERSEDED by ``next_id`` where the input is stale."""
    refused = _may_operate(seen, sighting)
    if refused:
        return refused
    if seen.task.state is not State.HELD:
        return refuse(seen, Why.NOT_HELD, f"The task is {seen.task.state}, not held.")
    if seen.task.state_version != sighting.expected_state_version:
        return _moved(seen, sighting)
    if seen.task.is_stale:
        change = superseded(seen, Verb.REQUEUE, next_id)
        return replace(change, body={**change.body, "reason": sighting.reason})
    return Change(Verb.REQUEUE, State.OPEN, columns={"attempts_used": 0}, body={"reason": sighting.reason})


def lapse(seen: TaskAsRead) -> Change | None:
    """CLAIMED -> OPEN for an expired AUTO claim; for one below the epoch also CLAIMED -> HELD.

    None when there is nothing to do: it was renewed, delivered or taken since the sweep looked.
    """
    if seen.task.state is not State.CLAIMED or not seen.is_expired:
        return None
    if seen.task.reclaim_policy is ReclaimPolicy.AUTO:
        return open_or_held(seen, Verb.LAPSE, _ending(seen), "the last one lapsed", backs_off=True)
    if not seen.is_below_epoch:
        return None
    return Change(
        Verb.LAPSE,
        State.HELD,
        reason="Its claim was granted under an epoch that has ended. An operator can requeue it.",
        ends=AttemptOutcome.FENCED,
    )


def disable_agent(seen: TaskAsRead, agent_name: str) -> Change | None:
    """CLAIMED -> HELD. The runner was disabled; what it delivered before stays reviewable."""
    if seen.task.state is not State.CLAIMED:
        return None
    return Change(
        Verb.DISABLE_AGENT,
        State.HELD,
        reason=f"The agent {agent_name} was disabled while it held the task. An operator can requeue it.",
        ends=AttemptOutcome.FENCED,
    )


def _ending(seen: TaskAsRead) -> AttemptOutcome:
    return AttemptOutcome.FENCED if seen.is_below_epoch else AttemptOutcome.LAPSED


def _may_operate(seen: TaskAsRead, sighting: Sighting) -> Refused | None:
    if not seen.person.rights:
        return Refused(Why.NOT_FOUND)
    if Right.OPERATOR not in seen.person.rights:
        return refuse(seen, Why.FORBIDDEN, "Only an operator of the pool can do this.")
    if not sighting.reason.strip():
        return refuse(seen, Why.UNPROCESSABLE, "Say why; the reason is kept in the history.")
    return None


def _is_not_quiet(seen: TaskAsRead, sighting: Sighting) -> Refused | None:
    """The claim must be the one that was seen, and still quiet unless told otherwise."""
    if seen.task.state is not State.CLAIMED or seen.lease is None:
        return refuse(seen, Why.NOT_CLAIMED, f"The task is {seen.task.state}.")
    if seen.task.state_version != sighting.expected_state_version:
        return _moved(seen, sighting)
    if sighting.even_if_live:
        return None
    if not seen.is_expired or seen.lease.expires_at != sighting.lease_expires_at:
        runner = seen.attempt.agent_name if seen.attempt else "The runner"
        return refuse(
            seen,
            Why.NOT_QUIET,
            f"{runner} renewed since you looked; its lease runs until {seen.lease.expires_at:%H:%M:%S UTC}.",
        )
    return None


def _moved(seen: TaskAsRead, sighting: Sighting) -> Refused:
    return refuse(
        seen,
        Why.STALE_STATE,
        f"The task is at state version {seen.task.state_version}, not {sighting.expected_state_version}.",
    )
