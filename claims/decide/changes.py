"""What a decision orders: one change of one task, for ``kernel.advance`` to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from claims.decide.rows import AgentRow, EffectRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import AttemptOutcome, EffectState, State, Verb


@dataclass(frozen=True, slots=True)
class NewGrant:
    """A claim to hand out. ``is_counted``: requested changes make an attempt that is not.

    ``adopted_from`` is the attempt whose evidence goes with it.
    """

    agent: AgentRow
    ttl_seconds: int
    is_counted: bool = True
    adopted_from: UUID | None = None


@dataclass(frozen=True, slots=True)
class NewExpiry:
    """A lease to move, and which of its marks to set."""

    expires_at: datetime
    is_extension: bool = False
    is_nudge: bool = False


@dataclass(frozen=True, slots=True)
class Validated:
    """What a comparison found equal; only the comparison itself makes one (claim.v1 section 1).

    An accepted write is stored with it, and the database refuses one without.
    """

    scheduler_epoch: int
    claim_generation: int
    cancel_generation: int

    def __str__(self) -> str:
        return f"{self.scheduler_epoch}.{self.claim_generation}.{self.cancel_generation}"


@dataclass(frozen=True, slots=True)
class EffectChange:
    """One step of one effect, for the same write. ``columns`` are further columns of its row."""

    effect: EffectRow
    target: EffectState
    columns: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One step along an edge. ``columns`` are further columns of the task; ``body`` is history.

    ``validated`` is there where a fence, or a claim's epoch, was compared.
    """

    verb: Verb
    target: State
    reason: str = ""
    ends: AttemptOutcome | None = None
    grant: NewGrant | None = None
    expiry: NewExpiry | None = None
    columns: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)
    validated: Validated | None = None
    effect: EffectChange | None = None


def refuse(seen: TaskAsRead, why: Why, detail: str = "", *reasons: str, **extra: object) -> Refused:
    """A refusal that carries what is true now."""
    return Refused(why, detail, seen.current(), reasons, extra)


def out_of_bounds(seen: TaskAsRead, name: str, seconds: int | None) -> Refused | None:
    """MALFORMED for a length of time the pool does not give; absent is never out of bounds."""
    longest = seen.pool.max_ttl_seconds
    if seconds is None or 1 <= seconds <= longest:
        return None
    return refuse(seen, Why.MALFORMED, f"{name} is from 1 to {longest} in this pool, not {seconds}.")


def open_or_held(
    seen: TaskAsRead,
    verb: Verb,
    ends: AttemptOutcome,
    because: str,
    validated: Validated | None = None,
    *,
    backs_off: bool = False,
    **body: object,
) -> Change:
    """The edge to OPEN, which goes to HELD instead when the attempts are used up (section 2).

    ``backs_off``: after a failure or a lapse the task waits before it may be claimed again.
    """
    if not seen.attempts_are_used_up:
        waits = {"not_before": _backed_off(seen)} if backs_off and seen.pool.backoff_seconds else {}
        return Change(
            verb, State.OPEN, ends=ends, columns={**_released(seen), **waits}, body=body, validated=validated
        )
    used = f"{seen.task.attempts_used} of {seen.task.max_attempts} attempts are used up ({because}). An operator can requeue it."
    return Change(
        verb, State.HELD, reason=used, ends=ends, columns=_released(seen), body=body, validated=validated
    )


def _backed_off(seen: TaskAsRead) -> datetime:
    """When the task may be claimed again: the pool's back-off, doubled with every attempt before."""
    doubled = seen.pool.backoff_seconds * 2 ** min(max(seen.task.attempts_used - 1, 0), 20)
    until = seen.now + timedelta(seconds=min(doubled, seen.pool.max_backoff_seconds))
    return max(until, seen.task.not_before or until)


def _released(seen: TaskAsRead) -> dict[str, object]:
    """An ended claim leaves no delivery behind as the current one."""
    return {"delivery_id": None} if seen.task.delivery_id else {}
