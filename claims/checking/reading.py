"""Tasks with all that is stored of them, a batch at a time, in the order of their ids.

Promises: each batch is read in one snapshot, so a task is judged as it was at one moment while
others go on writing; a batch holds at most ``ROWS`` rows of history or one task, whatever the size
of the database. The transaction of a batch is over before its tasks are looked at.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from itertools import pairwise
from typing import Any, LiteralString, TypeVar
from uuid import UUID

from django.db import connection, transaction

from claims.checking import statements
from claims.checking.rows import (
    Accepted,
    ApprovalNow,
    AttemptNow,
    Before,
    CommitNow,
    DecisionNow,
    DeliveryNow,
    EffectNow,
    LeaseNow,
    Life,
    ObservationNow,
    PermitNow,
    PinNow,
    PoolNow,
    StagedNow,
    TaskNow,
    Told,
)
from claims.vocabulary import Gate, Verb

T = TypeVar("T")

TASKS, ROWS = 250, 10_000


def lives(pool_id: int | None = None, task_id: UUID | None = None) -> Iterator[Life]:
    """Every task, those of one pool, or the one, in the order of their ids.

    Those that were there when it began: a database that grows meanwhile does not keep it going.
    """
    last = rows("SELECT id FROM claims_task ORDER BY id DESC LIMIT 1", [])
    after, until = UUID(int=0), last[0][0] if last else UUID(int=0)
    while True:
        with snapshot():
            tasks = _next_tasks(pool_id, task_id, after, until)
            found = _lives(tasks) if tasks else []
        yield from found
        if not tasks or task_id is not None:
            return
        after = tasks[-1].id


def told(task_id: UUID) -> list[Told]:
    """The history of one task, oldest first."""
    return _by_task(statements.HISTORY, [task_id], _told)[task_id]


def head(task_id: UUID) -> tuple[int, bytes] | None:
    """The version and the hash that the task itself names; None where there is no such task."""
    found = rows("SELECT state_version, history_hash FROM claims_task WHERE id = %s::uuid", [task_id])
    return (found[0][0], bytes(found[0][1])) if found else None


@contextmanager
def snapshot() -> Iterator[None]:
    """One moment for all that is read inside; the caller's own transaction where there is one."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # it holds no lock
        yield


def rows(statement: LiteralString, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of one statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def _next_tasks(pool_id: int | None, task_id: UUID | None, after: UUID, until: UUID) -> list[TaskNow]:
    """The next tasks by id, as many as ``ROWS`` of history allow; one at least."""
    found = rows(statements.TASKS, [after, until, pool_id, pool_id, task_id, task_id, TASKS])
    tasks: list[TaskNow] = []
    total = 0
    for *columns, hashed in found:
        task = TaskNow(*[*columns, bytes(hashed)])
        total += task.state_version
        if tasks and total > ROWS:
            break
        tasks.append(task)
    return tasks


def _lives(tasks: Sequence[TaskNow]) -> list[Life]:
    ids = [task.id for task in tasks]
    parts: dict[str, dict[UUID, list[Any]]] = {
        "rows": _by_task(statements.HISTORY, ids, _told),
        "leases": _by_task(statements.LEASES, ids, LeaseNow),
        "commits": _by_task(statements.COMMITS, ids, CommitNow),
        "deliveries": _by_task(statements.DELIVERIES, ids, DeliveryNow),
        "decisions": _by_task(statements.DECISIONS, ids, DecisionNow),
        "staged": _by_task(statements.STAGED, ids, _staged),
        "accepted": _by_task(statements.ACCEPTED, ids, Accepted),
        "effects": _by_task(statements.EFFECTS, ids, _effect),
        "permits": _by_task(statements.PERMITS, ids, PermitNow),
        "approvals": _by_task(statements.APPROVALS, ids, ApprovalNow),
        "observations": _by_task(statements.OBSERVATIONS, ids, ObservationNow),
        "pins": _by_task(statements.PINS, ids, PinNow),
        "depends_on": _by_task(statements.DEPENDENCIES, ids, lambda *edge: edge),
    }
    assert set(parts) <= {each.name for each in fields(Life)}
    attempts = _by_task(statements.ATTEMPTS, ids, AttemptNow)
    inputs = _by_task(statements.INPUTS, ids, json.loads)
    before = _by_task(statements.BEFORE, ids, Before)
    pools = {pool_id: pool_now(pool_id) for pool_id in {task.pool_id for task in tasks}}
    return [
        Life(
            pool=pools[task.pool_id],
            task=task,
            input=next(iter(inputs[task.id]), None),
            attempts={attempt.id: attempt for attempt in attempts[task.id]},
            before=next(iter(before[task.id]), None),
            **{name: found[task.id] for name, found in parts.items()},
        )
        for task in tasks
    ]


def pool_ids() -> list[int]:
    """Every pool."""
    return [row[0] for row in rows("SELECT id FROM claims_pool ORDER BY id", [])]


def pool_now(pool_id: int) -> PoolNow:
    """A pool with what its own events say of its epoch and its gate."""
    name, epoch, gate_now = rows(
        "SELECT name, scheduler_epoch, gate FROM claims_pool WHERE id = %s::bigint", [pool_id]
    )[0]
    events = rows(statements.EVENTS, [pool_id])
    raises = [(at, int(after)) for verb, after, at in events if verb == Verb.RAISE_EPOCH]
    gates = [(at, after) for verb, after, at in events if verb == Verb.GATE]
    shut = [(since, until) for (since, gate), (until, _) in pairwise(gates) if gate == Gate.DRAINING]
    still = [(at, None) for at, gate in gates[-1:] if gate == Gate.DRAINING]
    return PoolNow(pool_id, name, epoch, gate_now, raises, [*shut, *still])


def _by_task(
    statement: LiteralString, task_ids: Sequence[UUID], make: Callable[..., T]
) -> dict[UUID, list[T]]:
    """The rows of a statement whose first column is the task's id, made of the other columns."""
    found: dict[UUID, list[T]] = defaultdict(list)
    for task_id, *columns in rows(statement, [list(task_ids)]):
        found[task_id].append(make(*columns))
    return found


def _told(*columns: Any) -> Told:
    *plain, hashed, body = columns
    return Told(*[*plain, bytes(hashed), json.loads(body)])


def _staged(attempt_id: UUID, digest: str, late: bool, result: str, evidence: str) -> StagedNow:
    return StagedNow(attempt_id, digest, late, json.loads(result), json.loads(evidence))


def _effect(*columns: Any) -> EffectNow:
    return EffectNow(*[*columns[:-1], json.loads(columns[-1])])
