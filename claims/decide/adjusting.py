"""Which scheduling attributes may be changed, and by whom (claim.v1 section 1)."""

from __future__ import annotations

from collections.abc import Mapping

from claims.decide.changes import Change, refuse
from claims.decide.rows import TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import FINAL, Right, State, Verb

ATTRIBUTES = (
    "title",
    "priority",
    "not_before",
    "max_attempts",
    "reclaim_policy",
    "reviewer_id",
    "reviewer_group_id",
)
"""None of them enters the input digest, so changing one takes no authority away."""


def adjust(
    seen: TaskAsRead, attributes: Mapping[str, object], expected_state_version: int | None
) -> Change | Refused:
    """No change of state. ``attributes`` maps a name of ``ATTRIBUTES`` to its new value."""
    if not seen.person.rights:
        return Refused(Why.NOT_FOUND)
    if not seen.person.rights & {Right.PREPARER, Right.OPERATOR}:
        return refuse(seen, Why.FORBIDDEN, "Only a preparer or an operator of the pool can do this.")
    if seen.task.state in FINAL:
        return refuse(
            seen, Why.STALE_STATE, f"The task is {seen.task.state}; nothing about it can be changed."
        )
    if expected_state_version is not None and expected_state_version != seen.task.state_version:
        return refuse(
            seen,
            Why.STALE_STATE,
            f"The task is at state version {seen.task.state_version}, not {expected_state_version}.",
        )
    unknown = sorted(set(attributes) - set(ATTRIBUTES))
    if unknown:
        return refuse(seen, Why.MALFORMED, f"{unknown[0]} is not an attribute that can be changed.", *unknown)
    limit = attributes.get("max_attempts")
    if isinstance(limit, int) and limit < _fewest_attempts(seen):
        return refuse(
            seen,
            Why.UNPROCESSABLE,
            f"{seen.task.attempts_used} attempts were made; maxAttempts is at least {_fewest_attempts(seen)}.",
        )
    changed = {name: value for name, value in attributes.items() if getattr(seen.task, name) != value}
    body = {name: [_plain(getattr(seen.task, name)), _plain(value)] for name, value in changed.items()}
    return Change(
        Verb.ADJUST, seen.task.state, reason=seen.task.reason, columns=changed, body={"changed": body}
    )


def _fewest_attempts(seen: TaskAsRead) -> int:
    """The least maxAttempts that leaves the task possible: an OPEN one needs another attempt to be claimed."""
    used = seen.task.attempts_used
    return max(1, used + 1 if seen.task.state is State.OPEN else used)


def _plain(value: object) -> object:
    """A value as history keeps it."""
    return value if value is None or isinstance(value, int | str) else str(value)
