"""When a task opens, and when what it was opened with is no longer current (claim.v1 section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from claims.decide.changes import Change, refuse
from claims.decide.rows import Predecessor, TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import AttemptOutcome, EffectState, Right, State, Verb

_WITH_AUTHORITY = (State.CLAIMED, State.DELIVERED)
_OPENED = (State.OPEN, State.CLAIMED, State.DELIVERED, State.HELD)


def may_open(seen: TaskAsRead) -> bool:
    """Whether the newest revision of every predecessor is DONE, and the task still waits for that."""
    return seen.task.state is State.BLOCKED and all(one.state is State.DONE for one in seen.predecessors)


def open_up(seen: TaskAsRead, input_digest: str) -> Change:
    """BLOCKED -> OPEN. In the canonical commit of the last predecessor; the input is pinned for good."""
    pins = {one.node_id: one.result_digest for one in seen.predecessors}
    return Change(
        Verb.OPEN,
        State.OPEN,
        columns={"input_digest": input_digest},
        body={"inputDigest": input_digest, "predecessors": pins},
    )


def outdate(seen: TaskAsRead, pins: Mapping[UUID, UUID]) -> Change | None:
    """OPEN, CLAIMED, DELIVERED, HELD -> HELD; DONE -> DONE, marked. A predecessor has a newer result.

    ``pins`` maps a predecessor's lineage to the revision the task was opened with. None when
    every pin is still the newest, or the task is marked already.
    """
    newer = [
        one
        for one in seen.predecessors
        if one.state is State.DONE and pins.get(one.lineage_id, one.task_id) != one.task_id
    ]
    if not newer or seen.task.is_stale or seen.task.state not in (*_OPENED, State.DONE):
        return None
    body = {"newer": [f"T-{one.number}" for one in newer]}
    if seen.task.state is State.DONE:
        return Change(Verb.OUTDATE, State.DONE, columns={"is_stale": True}, body=body)
    return Change(
        Verb.OUTDATE,
        State.HELD,
        reason=f"STALE_INPUT: {_names(newer)} replaced a result this was opened with. Requeue it to make its next revision.",
        ends=AttemptOutcome.SUPERSEDED if seen.task.state in _WITH_AUTHORITY else None,
        columns={"is_stale": True, "delivery_id": None},
        body=body,
    )


def revise(
    seen: TaskAsRead, newest: Predecessor, expected_state_version: int, next_id: UUID
) -> Change | Refused:
    """Not final or CANCELLED -> SUPERSEDED; DONE -> DONE. The lineage goes on in a new row.

    Refused with NOT_FOUND, FORBIDDEN, or STALE_STATE, which names the newest revision.
    """
    refused = may_prepare(seen) or _is_not_newest(seen, newest, expected_state_version)
    if refused:
        return refused
    return superseded(seen, Verb.REVISE, next_id)


def superseded(seen: TaskAsRead, verb: Verb, next_id: UUID) -> Change:
    """The step of a row that is followed by another; a DONE one stays DONE."""
    body = {"nextRevision": str(next_id)}
    if seen.task.state is State.DONE:
        return Change(verb, State.DONE, body=body)
    return Change(
        verb,
        State.SUPERSEDED,
        ends=AttemptOutcome.SUPERSEDED if seen.task.state in _WITH_AUTHORITY else None,
        columns={"delivery_id": None} if seen.task.delivery_id else {},
        body=body,
    )


def cancel(seen: TaskAsRead, newest: Predecessor, reason: str) -> Change | Refused | None:
    """Not final -> CANCELLED; the cancel generation rises. None when it is cancelled already.

    Refused with TOO_LATE after the canonical commit, and STALE_STATE for a superseded row.
    """
    refused = may_prepare(seen)
    if refused:
        return refused
    if seen.task.state is State.CANCELLED:
        return None
    if seen.task.state is State.DONE:
        return refuse(seen, Why.TOO_LATE)
    if seen.task.state is State.SUPERSEDED:
        return refuse(
            seen,
            Why.STALE_STATE,
            f"A newer revision replaced it: T-{newest.number}.",
            newest=str(newest.task_id),
        )
    if not reason.strip():
        return refuse(seen, Why.UNPROCESSABLE, "Say why; the reason is kept in the history.")
    generation = seen.task.cancel_generation + 1
    return Change(
        Verb.CANCEL,
        State.CANCELLED,
        ends=AttemptOutcome.CANCELLED if seen.task.state in _WITH_AUTHORITY else None,
        columns={"cancel_generation": generation, **({"delivery_id": None} if seen.task.delivery_id else {})},
        body={"reason": reason, "cancelGeneration": generation},
    )


def acknowledge(seen: TaskAsRead, effect_id: str, counts: bool, reason: str) -> Change | Refused:
    """No change of state. A preparer says of an earlier revision's effect whether it counts (section 5)."""
    refused = may_prepare(seen)
    if refused:
        return refused
    if seen.task.state in (State.DONE, State.CANCELLED, State.SUPERSEDED):
        return refuse(
            seen, Why.STALE_STATE, f"The task is {seen.task.state}; nothing about it can be changed."
        )
    earlier = [effect for effect in seen.earlier_effects if effect.id == effect_id]
    if not earlier:
        return refuse(seen, Why.UNPROCESSABLE, "No earlier revision of this task has an effect with this id.")
    if earlier[0].state is not EffectState.COMMITTED and not earlier[0].has_happened:
        return refuse(
            seen,
            Why.UNPROCESSABLE,
            f"The effect is {earlier[0].state}; only one that happened is acknowledged.",
        )
    if earlier[0].counts is not None:
        return refuse(seen, Why.STALE_STATE, "This effect has been acknowledged for this revision already.")
    return Change(
        Verb.ACKNOWLEDGE,
        seen.task.state,
        reason=seen.task.reason,
        body={"effectId": effect_id, "counts": counts, "reason": reason},
    )


def may_prepare(seen: TaskAsRead) -> Refused | None:
    """NOT_FOUND for a stranger, FORBIDDEN without the right of a preparer or an operator."""
    if not seen.person.rights:
        return Refused(Why.NOT_FOUND)
    if not seen.person.rights & {Right.PREPARER, Right.OPERATOR}:
        return refuse(seen, Why.FORBIDDEN, "Only a preparer or an operator of the pool can do this.")
    return None


def _is_not_newest(seen: TaskAsRead, newest: Predecessor, expected_state_version: int) -> Refused | None:
    if newest.task_id != seen.task.id:
        return refuse(
            seen,
            Why.STALE_STATE,
            f"Only the newest revision can be revised: T-{newest.number}.",
            newest=str(newest.task_id),
        )
    if expected_state_version != seen.task.state_version:
        return refuse(
            seen,
            Why.STALE_STATE,
            f"The task is at state version {seen.task.state_version}, not {expected_state_version}.",
        )
    return None


def _names(predecessors: list[Predecessor]) -> str:
    return ", ".join(f"T-{one.number}" for one in predecessors[:10])
