"""Taking over evidence that has lost its claim: of an old epoch, or of a late attempt (section 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from claims.decide.changes import Change, refuse
from claims.decide.granting import grant, not_eligible
from claims.decide.operating import Sighting
from claims.decide.rows import AgentRow, DeliveryRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import AttemptOutcome, DeliveryState, Gate, Right, State, Verb

_SOURCES = (State.DELIVERED, State.OPEN, State.HELD)


@dataclass(frozen=True, slots=True)
class Adoption:
    """Whose evidence is to be taken over: an attempt of this task, and its delivery if it made one.

    ``result_digest`` is that of the delivery, else of what it staged last; None where there is nothing.
    """

    attempt_id: UUID
    result_digest: str | None
    delivery: DeliveryRow | None = None


def adopt(seen: TaskAsRead, sighting: Sighting, adoption: Adoption | None) -> Change | Refused:
    """DELIVERED, OPEN, HELD -> CLAIMED. The named runner goes on from evidence that is there.

    ``adoption`` is None where this task has no such delivery or attempt. A person decided it, so
    it is granted, and counted, also when the attempts are used up.
    """
    refused = _may_adopt(seen, sighting) or _is_not_to_be_adopted(seen, adoption)
    if refused:
        return refused
    agent = _runner(seen)
    if isinstance(agent, Refused) or adoption is None:
        return agent if isinstance(agent, Refused) else refuse(seen, Why.UNPROCESSABLE)
    change = grant(seen, Verb.ADOPT, agent, None)
    return replace(
        change,
        ends=_ending(seen),
        grant=replace(change.grant, adopted_from=adoption.attempt_id) if change.grant else None,
        columns={**change.columns, **({"delivery_id": None} if seen.task.delivery_id else {})},
        body={
            "reason": sighting.reason,
            "adoptedFrom": str(adoption.attempt_id),
            "resultDigest": adoption.result_digest,
        },
    )


def _ending(seen: TaskAsRead) -> AttemptOutcome | None:
    """How a delivered attempt ends when its delivery is closed undecided.

    Below the epoch it is FENCED: that is what took its authority (section 2). In the current epoch
    nothing did before this grant, which puts another's evidence in its place: SUPERSEDED.
    """
    if seen.task.state is not State.DELIVERED:
        return None
    return AttemptOutcome.FENCED if seen.is_below_epoch else AttemptOutcome.SUPERSEDED


def _may_adopt(seen: TaskAsRead, sighting: Sighting) -> Refused | None:
    """The operator's right, then the order of checks of a claim (section 4)."""
    if not seen.person.rights:
        return Refused(Why.NOT_FOUND)
    if Right.OPERATOR not in seen.person.rights:
        return refuse(seen, Why.FORBIDDEN, "Only an operator of the pool can do this.")
    if not sighting.reason.strip():
        return refuse(seen, Why.UNPROCESSABLE, "Say why; the reason is kept in the history.")
    task = seen.task
    if seen.pool.gate is Gate.DRAINING:
        return refuse(seen, Why.GATE_CLOSED)
    if task.state is State.CANCELLED:
        return refuse(seen, Why.CANCELLED)
    if task.state_version != sighting.expected_state_version:
        return refuse(
            seen,
            Why.STALE_STATE,
            f"The task is at state version {task.state_version}, not {sighting.expected_state_version}.",
        )
    if task.state is State.SUPERSEDED or (task.state is State.HELD and task.is_stale):
        return refuse(
            seen,
            Why.STALE_INPUT,
            "This evidence was made for an input that is no longer current; requeue it.",
        )
    if task.state not in _SOURCES:
        return refuse(
            seen,
            Why.NOT_CLAIMABLE,
            f"The task is {task.state}; evidence is adopted for one that is open, held or delivered.",
        )
    return None


def _is_not_to_be_adopted(seen: TaskAsRead, adoption: Adoption | None) -> Refused | None:
    if adoption is None:
        return refuse(seen, Why.UNPROCESSABLE, "This task has no such delivery or attempt.")
    if adoption.result_digest is None:
        return refuse(seen, Why.UNPROCESSABLE, "This attempt has staged nothing that could be adopted.")
    delivery = adoption.delivery
    can_be_decided = (
        delivery is not None
        and delivery.state is DeliveryState.PENDING
        and delivery.id == seen.task.delivery_id
        and not seen.is_below_epoch
    )
    if can_be_decided:
        return refuse(seen, Why.UNPROCESSABLE, "This delivery waits for its decision; a reviewer decides it.")
    return None


def _runner(seen: TaskAsRead) -> AgentRow | Refused:
    """The named runner, if it may have the task. Attempts that are used up do not stand in the way."""
    agent = seen.agent
    if agent is None or not agent.works_here:
        return refuse(seen, Why.NOT_ELIGIBLE, "There is no such agent in this pool.")
    unfit = not_eligible(seen, agent)
    return refuse(seen, Why.NOT_ELIGIBLE, " ".join(unfit), *unfit) if unfit else agent
