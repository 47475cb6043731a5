"""Whether a task can be written at all: its input, its bounds, its pool's policies."""

from __future__ import annotations

from collections.abc import Mapping

from claims import canonical
from claims.inputs import InputInvalid, NewTask, parse_input
from claims.models import Pool
from claims.outcomes import Refused, Why
from claims.vocabulary import ReviewPolicy

MAX_TASKS = 1_000


def flaws_of(body: Mapping[str, object], pointer: str) -> Refused | None:
    """MALFORMED for an input that is none, with every flaw and where it is."""
    try:
        parse_input(body)
        canonical.canonical(body)
    except InputInvalid as invalid:
        found = tuple(f"{pointer}{flaw.pointer}: {flaw.message}" for flaw in invalid.flaws)
        return Refused(Why.MALFORMED, f"The input is not one: {found[0]}.", reasons=found)
    except canonical.NotCanonical as error:
        return Refused(Why.MALFORMED, f"The input has no canonical form: {error}.")
    return None


def flaws(pool: Pool, task: NewTask, pointer: str) -> Refused | None:
    """MALFORMED for what is out of bounds, UNPROCESSABLE for what the pool does not allow."""
    refused = flaws_of(task.input, f"{pointer}/input")
    if refused:
        return refused
    unbounded = _out_of_bounds(task)
    if unbounded:
        return Refused(Why.MALFORMED, f"{pointer}/{unbounded}.")
    if task.review_policy is ReviewPolicy.NONE and not pool.allows_unreviewed:
        return Refused(
            Why.UNPROCESSABLE,
            f"{pointer}/reviewPolicy: the pool {pool.name} asks for a review of every task.",
        )
    if task.ttl_seconds is not None and task.ttl_seconds > pool.max_ttl_seconds:
        return Refused(
            Why.UNPROCESSABLE, f"{pointer}/ttlSeconds is at most {pool.max_ttl_seconds} in this pool."
        )
    return None


def _out_of_bounds(task: NewTask) -> str | None:
    """Which attribute the tables cannot hold, and its bounds."""
    if not 1 <= len(task.title) <= 300:
        return "title has from 1 to 300 characters"
    if not 0 <= task.priority <= 9:
        return "priority is from 0 to 9"
    if task.max_attempts is not None and not 1 <= task.max_attempts <= MAX_TASKS:
        return f"maxAttempts is from 1 to {MAX_TASKS}"
    return "ttlSeconds is at least 1" if task.ttl_seconds is not None and task.ttl_seconds < 1 else None
