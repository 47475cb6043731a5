"""Writing tasks, and changing what does not enter their digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model

from claims import decide, kernel
from claims.callers import Caller
from claims.decide.rows import Predecessor
from claims.inputs import NewTask
from claims.models import Dependency, Pool, ReviewerGroup
from claims.models.columns import new_id
from claims.outcomes import Adjusted, Created, CreatedTask, Refused, Why
from claims.rights import expand
from claims.transitions.beginning import Beginning, begin
from claims.transitions.checking import MAX_TASKS, flaws
from claims.transitions.graphs import Plan, plan
from claims.vocabulary import Right, Verb

_Names = tuple[str | None, str | None]


@kernel.verb(Verb.CREATE, "new -> OPEN", "new -> BLOCKED")
def create(caller: Caller, pool_name: str, tasks: Sequence[NewTask]) -> Created | Refused:
    """new -> OPEN, new -> BLOCKED. One task or a graph of up to 1,000, all or none of them.

    A task opens at once where all it depends on is DONE already. Refused with NOT_FOUND,
    FORBIDDEN without the right to prepare, MALFORMED for an input that is none, and
    UNPROCESSABLE for what makes no sense in this pool, a cycle for one.
    """
    pool = Pool.objects.filter(name=pool_name).first()
    refused = _may_prepare(caller, pool)
    if refused or pool is None:
        return refused or Refused(Why.NOT_FOUND)
    if not 1 <= len(tasks) <= MAX_TASKS:
        return Refused(Why.UNPROCESSABLE, f"A call creates 1 to {MAX_TASKS} tasks.")
    people: dict[_Names, dict[str, Any]] = {}
    for position, task in enumerate(tasks):
        refused = flaws(pool, task, f"/tasks/{position}") or _know(pool, task, people)
        if refused:
            return refused
    planned = plan(pool.id, tasks)
    if isinstance(planned, Refused):
        return planned

    kernel.share_pool(pool.id)
    return Created(tuple(_found_all(caller, pool, tasks, planned, people)))


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


def _found_all(
    caller: Caller, pool: Pool, tasks: Sequence[NewTask], planned: Plan, people: dict[_Names, dict[str, Any]]
) -> list[CreatedTask]:
    """Every task of the call, predecessors first, in the order in which they were sent."""
    outside = {one.lineage_id: one for one in kernel.graph.lock_predecessors(planned.lineages)}
    numbers, now = kernel.numbers(len(tasks)), kernel.clock()
    made: dict[int, CreatedTask] = {}
    edges: list[Dependency] = []
    for position in planned.order:
        task, task_id = tasks[position], new_id()
        before = [_as_predecessor(made[at], name) for name, at in planned.inside[position].items()]
        before += [
            replace(outside[lineage], node_id=name) for name, lineage in planned.outside[position].items()
        ]
        edges += (
            Dependency(
                pool=pool, successor_lineage=task_id, predecessor_lineage=one.lineage_id, node_id=one.node_id
            )
            for one in before
        )
        made[position] = begin(
            caller,
            Beginning(
                task_id=task_id,
                number=numbers[position],
                pool_id=pool.id,
                pool_name=pool.name,
                title=task.title,
                input=task.input,
                at=now,
                node_id=task.node_id,
                predecessors=tuple(sorted(before, key=lambda one: one.node_id)),
                attributes=_attributes(caller, pool, task) | people[_names(task)],
            ),
        )
    Dependency.objects.bulk_create(edges)
    return [made[position] for position in range(len(tasks))]


def _as_predecessor(made: CreatedTask, node_id: str) -> Predecessor:
    return Predecessor(made.task_id, node_id, made.task_id, made.number, made.state)


def _attributes(caller: Caller, pool: Pool, task: NewTask) -> dict[str, Any]:
    return {
        "priority": task.priority,
        "not_before": task.not_before,
        "ttl_seconds": task.ttl_seconds or pool.ttl_seconds,
        "max_attempts": task.max_attempts or pool.max_attempts,
        "review_policy": task.review_policy.value,
        "reclaim_policy": task.reclaim_policy or pool.reclaim_policy,
        "created_by": str(caller.actor),
        "preparer_id": caller.actor.id if caller.is_person else None,
    }
