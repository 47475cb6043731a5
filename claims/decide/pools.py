"""When a pool's epoch may be raised and its gate moved (claim.v1 sections 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from claims.decide.rows import PersonRow, PoolRow
from claims.outcomes import GateSet, Refused, Why
from claims.vocabulary import Gate, Right

LONGEST_REASON = 2_000
"""Characters of a reason, as the pool's events keep it."""


@dataclass(frozen=True, slots=True)
class PoolAsRead:
    """A pool under the exclusive side of its lock, read after that was had, and who asks."""

    now: datetime
    pool: PoolRow
    person: PersonRow


def raise_epoch(seen: PoolAsRead, expected_epoch: int, reason: str) -> Refused | None:
    """Refused with NOT_FOUND, FORBIDDEN, or EPOCH_CONFLICT when the epoch is not the one that was seen."""
    refused = _may_operate(seen, reason)
    if refused:
        return refused
    if expected_epoch != seen.pool.scheduler_epoch:
        return _refuse(
            seen,
            Why.EPOCH_CONFLICT,
            f"The pool's scheduler epoch is {seen.pool.scheduler_epoch}, not {expected_epoch}.",
        )
    return None


def gate(seen: PoolAsRead, wanted: Gate, reason: str) -> GateSet | Refused | None:
    """None where the gate is to be moved; the answer where it stands as wanted already."""
    refused = _may_operate(seen, reason)
    if refused:
        return refused
    if seen.pool.gate is wanted:
        return GateSet(seen.pool.name, wanted, seen.pool.scheduler_epoch)
    return None


def _may_operate(seen: PoolAsRead, reason: str) -> Refused | None:
    if not seen.person.rights:
        return Refused(Why.NOT_FOUND)
    if Right.OPERATOR not in seen.person.rights:
        return _refuse(seen, Why.FORBIDDEN, "Only an operator of the pool can do this.")
    if not reason.strip():
        return _refuse(seen, Why.UNPROCESSABLE, "Say why; the reason is kept among the pool's events.")
    if len(reason) > LONGEST_REASON:
        return _refuse(seen, Why.MALFORMED, f"The reason is at most {LONGEST_REASON} characters long.")
    return None


def _refuse(seen: PoolAsRead, why: Why, detail: str) -> Refused:
    """A refusal that says what is true of the pool now."""
    now = {"schedulerEpoch": seen.pool.scheduler_epoch, "gate": seen.pool.gate.value}
    return Refused(why, detail, extra=now)
