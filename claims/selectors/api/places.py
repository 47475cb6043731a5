"""Where an id of an address belongs. None of it changes once written, so each process remembers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from claims.selectors.api.rows import rows

_REMEMBERED = 50_000


@dataclass(frozen=True, slots=True)
class AttemptPlace:
    """An attempt's task, its pool and the agent it was granted to."""

    attempt_id: UUID
    task_id: UUID
    pool_id: int
    agent_id: int


class _Absent(LookupError):
    """Not remembered, because it may come to exist."""


def place_of_attempt(attempt_id: UUID) -> AttemptPlace | None:
    """Where an attempt belongs; None where there is no such attempt."""
    try:
        return _place_of_attempt(attempt_id)
    except _Absent:
        return None


def builds_on(attempt_id: UUID, other_id: UUID) -> bool:
    """Whether an attempt's input is pinned to the other's result, or it adopted the other's evidence."""
    found = rows(
        "SELECT 1 FROM claims_attempt a WHERE a.id = %s::uuid AND (a.adopted_from = %s::uuid OR EXISTS ("
        "SELECT 1 FROM claims_pin n JOIN claims_canonicalcommit c ON c.task_id = n.predecessor_id"
        " WHERE n.task_id = a.task_id AND c.attempt_id = %s::uuid))",
        [attempt_id, other_id, other_id],
    )
    return bool(found)


def pool_of_task(task_id: UUID) -> int | None:
    """The pool of a task; None where there is no such task."""
    try:
        return _pool_of_task(task_id)
    except _Absent:
        return None


def task_of_delivery(delivery_id: UUID) -> UUID | None:
    """The task of a delivery; None where there is no such delivery."""
    try:
        return _task_of_delivery(delivery_id)
    except _Absent:
        return None


def task_of_effect(effect_id: str) -> UUID | None:
    """The task of an effect; None where there is no such effect."""
    try:
        return _task_of_effect(effect_id)
    except _Absent:
        return None


@lru_cache(maxsize=_REMEMBERED)
def _place_of_attempt(attempt_id: UUID) -> AttemptPlace:
    found = rows(
        "SELECT a.task_id, t.pool_id, a.agent_id FROM claims_attempt a JOIN claims_task t ON t.id = a.task_id WHERE a.id = %s::uuid",
        [attempt_id],
    )
    if not found:
        raise _Absent(attempt_id)
    return AttemptPlace(attempt_id, *found[0])


@lru_cache(maxsize=_REMEMBERED)
def _pool_of_task(task_id: UUID) -> int:
    found = rows("SELECT pool_id FROM claims_task WHERE id = %s::uuid", [task_id])
    if not found:
        raise _Absent(task_id)
    return int(found[0][0])


@lru_cache(maxsize=_REMEMBERED)
def _task_of_delivery(delivery_id: UUID) -> UUID:
    found = rows("SELECT task_id FROM claims_delivery WHERE id = %s::uuid", [delivery_id])
    if not found:
        raise _Absent(delivery_id)
    task_id: UUID = found[0][0]
    return task_id


@lru_cache(maxsize=_REMEMBERED)
def _task_of_effect(effect_id: str) -> UUID:
    found = rows("SELECT task_id FROM claims_effect WHERE id = %s::text", [effect_id])
    if not found:
        raise _Absent(effect_id)
    task_id: UUID = found[0][0]
    return task_id
