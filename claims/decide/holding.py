"""What the holder of a claim may do with it short of delivering (claim.v1 section 4)."""

from __future__ import annotations

from datetime import timedelta

from claims.decide.changes import Change, Validated, open_or_held, out_of_bounds, refuse
from claims.decide.fence import claimed
from claims.decide.rows import LeaseRow, TaskAsRead
from claims.fences import Fence
from claims.outcomes import Refused, Renewed, Why
from claims.vocabulary import AttemptOutcome, State, Verb


def renew(
    seen: TaskAsRead, fence: Fence, agent_id: int, extend_seconds: int
) -> tuple[Renewed, Validated] | Refused:
    """From now, never shorter. After expiry it succeeds while the generation is current."""
    standing = out_of_bounds(seen, "extendSeconds", extend_seconds) or claimed(seen, fence, agent_id)
    if isinstance(standing, Refused):
        return standing
    lease = lease_of(seen)
    asked = seen.now + timedelta(seconds=extend_seconds)
    if asked > lease.window_ends_at:
        return refuse(seen, Why.WINDOW_EXCEEDED, windowEndsAt=lease.window_ends_at.isoformat())
    until = max(asked, lease.expires_at)
    renewed = Renewed(
        lease_expires_at=until,
        window_ends_at=lease.window_ends_at,
        recovered=lease.expires_at <= seen.now,
        nudged=lease.nudged_at is not None,
        lease_seconds_remaining=(until - seen.now).total_seconds(),
    )
    return renewed, standing


def release(seen: TaskAsRead, fence: Fence, agent_id: int, reason: str) -> Change | Refused:
    """CLAIMED -> OPEN. The runner gives the task back."""
    standing = claimed(seen, fence, agent_id)
    if isinstance(standing, Refused):
        return standing
    return open_or_held(
        seen, Verb.RELEASE, AttemptOutcome.RELEASED, "the last one was given back", standing, reason=reason
    )


def fail(seen: TaskAsRead, fence: Fence, agent_id: int, reason: str, retryable: bool) -> Change | Refused:
    """CLAIMED -> OPEN when another try may help, after the pool's back-off; else CLAIMED -> HELD."""
    standing = claimed(seen, fence, agent_id)
    if isinstance(standing, Refused):
        return standing
    if retryable:
        ends, because = AttemptOutcome.FAILED, "the last one failed"
        return open_or_held(
            seen, Verb.FAIL, ends, because, standing, backs_off=True, reason=reason, retryable=True
        )
    said = f"{_lease_runner(seen)} failed for good: {reason}".rstrip(" .")
    return Change(
        Verb.FAIL,
        State.HELD,
        reason=f"{said[:420]}. An operator can requeue it.",
        ends=AttemptOutcome.FAILED,
        body={"reason": reason, "retryable": False},
        validated=standing,
    )


def lease_of(seen: TaskAsRead) -> LeaseRow:
    """The lease that every CLAIMED task has."""
    if seen.lease is None:
        raise AssertionError(f"task {seen.task.id} is CLAIMED and has no lease")
    return seen.lease


def _lease_runner(seen: TaskAsRead) -> str:
    return seen.attempt.agent_name if seen.attempt else "The runner"
