"""Writing tasks, and changing what does not enter their digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import connection

from claims import canonical, decide, kernel
from claims.callers import Caller
from claims.inputs import InputInvalid, NewTask, parse_input
from claims.models import Pool, ReviewerGroup, Task, TaskInput
from claims.models.columns import new_id
from claims.outcomes import Adjusted, Created, CreatedTask, Refused, Why
from claims.rights import expand
from claims.vocabulary import ReviewPolicy, Right, State, Verb

MAX_TASKS = 1_000

_Names = tuple[str | None, str | None]


@kernel.verb(Verb.CREATE, "new -> OPEN")
def create(caller: Caller, pool_name: str, tasks: Sequence[NewTask]) -> Created | Refused:
    """new -> OPEN. One or up to 1,000 tasks, all or none of them.

    Refused with NOT_FOUND, FORBIDDEN without the right to prepare, MALFORMED for an input that
    is none, and UNPROCESSABLE for what makes no sense in this pool.
    """
    pool = Pool.objects.filter(name=pool_name).first()
    refused = _may_prepare(caller, pool)
    if refused or pool is None:
        return refused or Refused(Why.NOT_FOUND)
    if not 1 <= len(tasks) <= MAX_TASKS:
        return Refused(Why.UNPROCESSABLE, f"A call creates 1 to {MAX_TASKS} tasks.")
    people: dict[_Names, dict[str, Any]] = {}
    for position, task in enumerate(tasks):
        refused = _flaws(pool, task, f"/tasks/{position}") or _know(pool, task, people)
        if refused:
            return refused

    numbers, now = _numbers(len(tasks))
    return Created(
        tuple(
            _found(caller, pool, task, number, now, people[_names(task)])
            for task, number in zip(tasks, numbers, strict=True)
        )
    )


@kernel.verb(
    Verb.ADJUST, *(f"{state} -> {state}" for state in ("OPEN", "CLAIMED", "DELIVERED", "HELD", "BLOCKED"))
)
def adjust(
    caller: Caller, task_id: UUID, attributes: Mapping[str, Any], expected_state_version: int | None = None
) -> Adjusted | Refused:
    """OPEN -> OPEN, and so on: a scheduling attribute changes, and no state and no authority.

    ``attributes`` may hold title, priority, not_before, max_attempts, reclaim_policy, and
    ``reviewer`` and ``reviewer_group`` by name. Refused with FORBIDDEN, STALE_STATE or UNPROCESSABLE.
    """
    seen = kernel.take(caller, task_id)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    named = _with_people(seen.pool.id, attributes)
    if isinstance(named, Refused):
        return named
    change = decide.adjust(seen, named, expected_state_version)
    if isinstance(change, Refused):
        return change
    if not change.columns:
        return Adjusted(task_id, seen.task.state_version, ())

    advanced = kernel.advance(caller, seen, change)
    return Adjusted(task_id, advanced.state_version, tuple(sorted(change.columns)))


def _may_prepare(caller: Caller, pool: Pool | None) -> Refused | None:
    if pool is None:
        return Refused(Why.NOT_FOUND)
    rights = kernel.person_in(pool.id, caller.actor.id).rights if caller.is_person else frozenset()
    if caller.is_server or Right.PREPARER in rights:
        return None
    return (
        Refused(Why.FORBIDDEN, "Only a preparer of the pool can write tasks.")
        if rights
        else Refused(Why.NOT_FOUND)
    )


def _flaws(pool: Pool, task: NewTask, pointer: str) -> Refused | None:
    try:
        parse_input(task.input)
        canonical.canonical(task.input)
    except InputInvalid as invalid:
        found = tuple(f"{pointer}/input{flaw.pointer}: {flaw.message}" for flaw in invalid.flaws)
        return Refused(Why.MALFORMED, f"The input is not one: {found[0]}.", reasons=found)
    except canonical.NotCanonical as error:
        return Refused(Why.MALFORMED, f"The input has no canonical form: {error}.")
    unbounded = _out_of_bounds(task)
    if unbounded:
        return Refused(Why.MALFORMED, f"{pointer}/{unbounded}.")
    if task.depends_on:
        return Refused(
            Why.UNPROCESSABLE, f"{pointer}/dependsOn: this server does not keep dependencies between tasks."
        )
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


def _names(task: NewTask) -> _Names:
    return task.reviewer, task.reviewer_group


def _know(pool: Pool, task: NewTask, people: dict[_Names, dict[str, Any]]) -> Refused | None:
    """Look up who reviews the task, once for all tasks of a call that name the same."""
    if _names(task) in people:
        return None
    found = _with_people(pool.id, {"reviewer": task.reviewer, "reviewer_group": task.reviewer_group})
    if isinstance(found, Refused):
        return found
    people[_names(task)] = found
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


def _with_people(pool_id: int, attributes: Mapping[str, Any]) -> dict[str, Any] | Refused:
    """The attributes with ``reviewer`` and ``reviewer_group`` turned from names into ids."""
    found = {name: value for name, value in attributes.items() if name not in ("reviewer", "reviewer_group")}
    if "reviewer" in attributes:
        name = attributes["reviewer"]
        person = get_user_model().objects.filter(username=name, is_active=True).first() if name else None
        held = person.memberships.filter(pool_id=pool_id).values_list("right", flat=True) if person else ()
        if name and Right.REVIEWER not in expand(held):
            return Refused(Why.UNPROCESSABLE, f"{name} is not a reviewer in this pool.")
        found["reviewer_id"] = person.id if person else None
    if "reviewer_group" in attributes:
        name = attributes["reviewer_group"]
        group = ReviewerGroup.objects.filter(pool_id=pool_id, name=name).first() if name else None
        if name and group is None:
            return Refused(Why.UNPROCESSABLE, f"There is no reviewer group {name} in this pool.")
        found["reviewer_group_id"] = group.id if group else None
    return found


def _numbers(count: int) -> tuple[list[int], datetime]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval('claims_task_number'), clock_timestamp() FROM generate_series(1, %s)", [count]
        )
        rows = cursor.fetchall()
    return [row[0] for row in rows], rows[0][1]


def _found(
    caller: Caller, pool: Pool, task: NewTask, number: int, now: datetime, people: Mapping[str, Any]
) -> CreatedTask:
    task_id, digest = new_id(), canonical.input_digest(task.input, {})
    body = {"number": number, "title": task.title, "inputDigest": digest, "pool": pool.name}
    head = kernel.found(caller, pool.id, task_id, now, State.OPEN, body)
    TaskInput.objects.create(task_id=task_id, number=number, lineage_id=task_id, body=task.input)
    Task.objects.create(
        id=task_id,
        number=number,
        pool=pool,
        lineage_id=task_id,
        node_id=task.node_id,
        title=task.title,
        state=State.OPEN.value,
        state_since=now,
        input_digest=digest,
        access=list(parse_input(task.input).access),
        priority=task.priority,
        not_before=task.not_before,
        ttl_seconds=task.ttl_seconds or pool.ttl_seconds,
        max_attempts=task.max_attempts or pool.max_attempts,
        review_policy=task.review_policy.value,
        reclaim_policy=(task.reclaim_policy or pool.reclaim_policy),
        history_hash=head,
        created_by=str(caller.actor),
        created_at=now,
        **people,
    )
    return CreatedTask(task_id, number, task.node_id, State.OPEN, 1, digest)
