"""What a decision orders: one change of one task, for ``kernel.advance`` to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from claims.decide.rows import AgentRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import AttemptOutcome, State, Verb


@dataclass(frozen=True, slots=True)
class NewGrant:
    """A claim to hand out. ``is_counted``: requested changes make an attempt that is not."""

    agent: AgentRow
    ttl_seconds: int
    is_counted: bool = True


@dataclass(frozen=True, slots=True)
class NewExpiry:
    """A lease to move, and which of its marks to set."""

    expires_at: datetime
    is_extension: bool = False
    is_nudge: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One step along an edge. ``columns`` are further columns of the task; ``body`` is history."""

    verb: Verb
    target: State
    reason: str = ""
    ends: AttemptOutcome | None = None
    grant: NewGrant | None = None
    expiry: NewExpiry | None = None
    columns: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)


def refuse(seen: TaskAsRead, why: Why, detail: str = "", *reasons: str, **extra: object) -> Refused:
    """A refusal that carries what is true now."""
    return Refused(why, detail, seen.current(), reasons, extra)


def out_of_bounds(seen: TaskAsRead, name: str, seconds: int | None) -> Refused | None:
    """MALFORMED for a length of time the pool does not give; absent is never out of bounds."""
    longest = seen.pool.max_ttl_seconds
    if seconds is None or 1 <= seconds <= longest:
        return None
    return refuse(seen, Why.MALFORMED, f"{name} is from 1 to {longest} in this pool, not {seconds}.")


def open_or_held(seen: TaskAsRead, verb: Verb, ends: AttemptOutcome, because: str, **body: object) -> Change:
    """The edge to OPEN, which goes to HELD instead when the attempts are used up (section 2)."""
    if not seen.attempts_are_used_up:
        return Change(verb, State.OPEN, ends=ends, columns=_released(seen), body=body)
    used = f"{seen.task.attempts_used} of {seen.task.max_attempts} attempts are used up ({because}). An operator can requeue it."
    return Change(verb, State.HELD, reason=used, ends=ends, columns=_released(seen), body=body)


def _released(seen: TaskAsRead) -> dict[str, object]:
    """An ended claim leaves no delivery behind as the current one."""
    return {"delivery_id": None} if seen.task.delivery_id else {}
