"""Locks, and the fresh read after them (claim.v1 section 3, statements 1 to 3).

The three statements are separate, because a statement's snapshot is taken before it waits for
a lock: merged into one, it would judge by an epoch, a lease and a clock older than the lock.
They are sent in one round trip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from django.db import connection

from claims.callers import Actor, Caller
from claims.decide.rows import (
    AgentRow,
    AttemptRow,
    CommitRow,
    DeliveryRow,
    EffectRow,
    LeaseRow,
    PersonRow,
    PoolRow,
    TaskAsRead,
    TaskRow,
)
from claims.fences import Fence
from claims.kernel import graph
from claims.rights import expand
from claims.vocabulary import (
    ActorKind,
    DeliveryState,
    EffectMode,
    EffectState,
    Gate,
    ReclaimPolicy,
    ReviewPolicy,
    SelfReview,
    State,
)

POOL_LOCK = 0x46500001
AGENT_LOCK = 0x46500002

_TASK_COLUMNS: LiteralString = """t.id, t.number, t.pool_id, t.title, t.state, t.reason, t.state_version, t.claim_generation,
 t.cancel_generation, t.input_digest, t.access, t.priority, t.not_before, t.ttl_seconds, t.max_attempts, t.attempts_used,
 t.rounds, t.review_policy, t.reclaim_policy, t.reviewer_id, t.reviewer_group_id, t.preferred_runner_id, t.runner_id,
 t.attempt_id, t.delivery_id, t.result_commit_id, t.history_hash, t.lineage_id, t.revision, t.declares_effects, t.is_stale,
 t.preparer_id"""

_LOCK_POOL: LiteralString = "SELECT pg_advisory_xact_lock_shared(%s::int, %s::int)"
_LOCK_TASK: LiteralString = (
    f"SELECT {_TASK_COLUMNS} FROM claims_task t WHERE t.id = %s::uuid FOR NO KEY UPDATE"
)

_AFRESH: LiteralString = """SELECT clock_timestamp(),
 p.id, p.name, p.scheduler_epoch, p.gate, p.self_review, p.allows_unreviewed, p.max_ttl_seconds, p.window_seconds,
 p.backoff_seconds, p.max_backoff_seconds,
 l.expires_at, l.window_ends_at, l.ttl_seconds, l.renewals, l.nudged_at, l.extended_at,
 a.id, a.agent_id, r.name, a.owner_id, a.claim_generation, a.scheduler_epoch, a.is_counted,
 c.commit_id, c.attempt_id, b.agent_id, c.claim_generation, c.scheduler_epoch, c.cancel_generation, t.input_digest, c.result_digest
 FROM claims_task t JOIN claims_pool p ON p.id = t.pool_id
 LEFT JOIN claims_lease l ON l.task_id = t.id
 LEFT JOIN claims_attempt a ON a.id = t.attempt_id
 LEFT JOIN claims_agent r ON r.id = a.agent_id
 LEFT JOIN claims_canonicalcommit c ON c.task_id = t.id
 LEFT JOIN claims_attempt b ON b.id = c.attempt_id
 WHERE t.id = %s::uuid"""

_POOL_AFRESH: LiteralString = """SELECT clock_timestamp(), p.id, p.name, p.scheduler_epoch, p.gate, p.self_review,
 p.allows_unreviewed, p.max_ttl_seconds, p.window_seconds, p.backoff_seconds,
 p.max_backoff_seconds FROM claims_pool p WHERE p.id = %s::int"""

_EFFECTS: LiteralString = """SELECT e.id, e.task_id, e.slot, e.mode, e.target, e.serial_key, e.is_required, e.permit_seconds,
 e.settle_seconds, e.payload_digest, e.state, e.version, e.permits, e.doubts, e.has_happened, e.resource_etag, e.permit_id,
 p.attempt_id, p.scheduler_epoch, p.deadline, k.counts
 FROM claims_task t JOIN claims_effect e ON e.lineage_id = t.lineage_id
 LEFT JOIN claims_permit p ON p.id = e.permit_id LEFT JOIN claims_acknowledgement k ON k.effect_id = e.id AND k.task_id = t.id
 WHERE t.id = %s::uuid ORDER BY e.prepared_at, e.id"""

_AGENT: LiteralString = """SELECT g.id, g.name, g.owner_id, g.labels, g.is_disabled,
 EXISTS (SELECT 1 FROM claims_agentpool m WHERE m.agent_id = g.id AND m.pool_id = %s::bigint)
 FROM claims_agent g WHERE g.id = %s::bigint"""

_PERSON: LiteralString = """SELECT u.id,
 ARRAY(SELECT m."right" FROM claims_membership m WHERE m.person_id = u.id AND m.pool_id = %s::bigint),
 ARRAY(SELECT g.reviewergroup_id FROM claims_reviewergroup_members g WHERE g.user_id = u.id),
 ARRAY(SELECT d.person_id FROM claims_deputy d WHERE d.deputy_id = u.id AND d.pool_id = %s::bigint
 AND (clock_timestamp() AT TIME ZONE 'UTC')::date BETWEEN d.from_day AND d.until_day)
 FROM auth_user u WHERE u.id = %s::int AND u.is_active"""

_IN_ORDER: LiteralString = "SELECT set_config('enable_sort', 'off', true)"
"""Tasks are read in their index's order until there are enough. The planner, who cannot know that nearly
every task fits, would read and sort all of a pool's OPEN tasks for each call."""

_CLAIMABLE: LiteralString = f"""SELECT {_TASK_COLUMNS} FROM claims_task t
 WHERE t.state = 'OPEN' AND t.pool_id = %s::bigint AND (t.not_before IS NULL OR t.not_before <= clock_timestamp())
 AND t.attempts_used < t.max_attempts AND t.access::text[] <@ %s::text[]
 ORDER BY t.priority, t.number LIMIT %s::int FOR NO KEY UPDATE SKIP LOCKED"""

_PREFERRED: LiteralString = f"""SELECT {_TASK_COLUMNS} FROM claims_task t
 WHERE t.state = 'OPEN' AND t.preferred_runner_id IS NOT NULL AND t.preferred_runner_id = %s::bigint AND t.pool_id = %s::bigint
 AND (t.not_before IS NULL OR t.not_before <= clock_timestamp())
 AND t.attempts_used < t.max_attempts AND t.access::text[] <@ %s::text[]
 ORDER BY t.priority, t.number LIMIT %s::int FOR NO KEY UPDATE SKIP LOCKED"""

_ADOPTED: LiteralString = """WITH RECURSIVE adopted(id) AS (SELECT a.adopted_from FROM claims_attempt a WHERE a.id = %s::uuid
 UNION SELECT b.adopted_from FROM adopted x JOIN claims_attempt b ON b.id = x.id)
 SELECT x.id FROM adopted x WHERE x.id IS NOT NULL"""

_DELIVERY: LiteralString = """SELECT d.id, d.attempt_id, d.agent_id, d.makers || g.owner_id || ARRAY(
 WITH RECURSIVE adopted(id) AS (SELECT a.adopted_from FROM claims_attempt a WHERE a.id = d.attempt_id
 UNION SELECT b.adopted_from FROM adopted x JOIN claims_attempt b ON b.id = x.id)
 SELECT o.owner_id FROM adopted x JOIN claims_attempt a ON a.id = x.id JOIN claims_agent o ON o.id = a.agent_id), d.round, d.state, d.input_digest, d.result_digest,
 d.subject_digest, d.claim_generation, d.scheduler_epoch, d.cancel_generation,
 (SELECT h.state_version FROM claims_history h WHERE h.task_id = d.task_id AND h.verb = 'deliver' AND h.attempt_id = d.attempt_id),
 ARRAY(SELECT f->>'path' FROM jsonb_array_elements(coalesce(d.facts->'files', '[]')) f WHERE f->>'standing' = 'excluded'),
 coalesce(u.username, ''), x.decided_at
 FROM claims_delivery d JOIN claims_agent g ON g.id = d.agent_id LEFT JOIN claims_decision x ON x.delivery_id = d.id LEFT JOIN auth_user u ON u.id = x.reviewer_id"""


@contextmanager
def pipelined() -> Iterator[psycopg.Connection[Any]]:
    """The raw connection with its statements sent together; errors arrive as Django's."""
    connection.ensure_connection()
    raw = connection.connection
    with connection.wrap_database_errors, raw.pipeline():
        yield raw


def send(
    raw: psycopg.Connection[Any], statement: LiteralString, values: Sequence[object]
) -> psycopg.Cursor[Any]:
    """One statement on its way; its rows are read from the cursor later."""
    cursor = psycopg.Cursor(raw)
    cursor.execute(statement, values)
    return cursor


def hold(caller: Caller, fence: Fence) -> TaskAsRead | None:
    """The task of a fence, locked and read; None where there is no such task.

    Only an agent holds a fence: a person's number may be the same as its runner's.
    """
    return take(caller, fence.task_id) if caller.is_agent else None


def take(caller: Caller, task_id: UUID, *, grant_to: int | None = None) -> TaskAsRead | None:
    """The task, locked and read afresh, with the standing of the caller.

    ``grant_to`` is the id of the agent whom the verb may grant the task: its lock is taken
    after the pool's (claim.v1 section 3), and its standing is what ``agent`` then holds.
    """
    pool_id = pool_of(task_id)
    if pool_id is None:
        return None
    person_id = caller.actor.id if caller.actor.kind is ActorKind.PERSON else None
    with pipelined() as raw:
        send(raw, _LOCK_POOL, (POOL_LOCK, pool_id))
        if grant_to is not None:
            send(raw, _LOCK_POOL, (AGENT_LOCK, grant_to))
        locked = send(raw, _LOCK_TASK, (task_id,))
        afresh = send(raw, _AFRESH, (task_id,))
        ledger = send(raw, _EFFECTS, (task_id,))
        agent = send(raw, _AGENT, (pool_id, grant_to)) if grant_to is not None else None
        person = send(raw, _PERSON, (pool_id, pool_id, person_id)) if person_id else None
        row, fresh = locked.fetchone(), afresh.fetchone()
        standing = agent.fetchone() if agent else None
        rights = person.fetchone() if person else None
        effects = tuple(_effect(each) for each in ledger.fetchall())
    if row is None or fresh is None:
        return None
    task = _task(row)
    is_blocked = task.state is State.BLOCKED
    return TaskAsRead(
        now=fresh[0],
        pool=_pool(fresh[1:11]),
        task=task,
        lease=LeaseRow(*fresh[11:17]) if fresh[11] else None,
        attempt=AttemptRow(*fresh[17:24]) if fresh[17] else None,
        commit=CommitRow(*fresh[24:32]) if fresh[24] else None,
        agent=_agent(standing) if standing else None,
        person=_person(rights) if rights else PersonRow(0),
        effects=effects,
        predecessors=graph.newest(graph.edges_of(task.lineage_id)) if is_blocked else (),
    )


def next_claimable(
    pool_id: int, actor: Actor, labels: Sequence[str], limit: int
) -> list[TaskAsRead] | PoolRow:
    """Up to ``limit`` claimable tasks, locked, skipping those that others hold; or just the pool.

    Order: preferred by the runner first, then priority, then age. The runner's standing is read
    after the locks; ``labels`` are those it had before, and only narrow the search.
    """
    with pipelined() as raw:
        send(raw, _LOCK_POOL, (POOL_LOCK, pool_id))
        send(raw, _LOCK_POOL, (AGENT_LOCK, actor.id))
        send(raw, _IN_ORDER, ())
        preferred = send(raw, _PREFERRED, (actor.id, pool_id, list(labels), limit))
        claimable = send(raw, _CLAIMABLE, (pool_id, list(labels), limit))
        pool_now = send(raw, _POOL_AFRESH, (pool_id,))
        agent = send(raw, _AGENT, (pool_id, actor.id))
        rows = preferred.fetchall() + claimable.fetchall()
        fresh, standing = pool_now.fetchone(), agent.fetchone()
    if fresh is None:
        raise LookupError(f"pool {pool_id} does not exist")
    pool = _pool(fresh[1:])
    tasks = list({row[0]: row for row in rows}.values())[:limit]
    if not tasks:
        return pool
    return [
        TaskAsRead(fresh[0], pool, _task(row), agent=_agent(standing) if standing else None) for row in tasks
    ]


@lru_cache(maxsize=100_000)
def _known_pool_of(task_id: UUID) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pool_id FROM claims_task WHERE id = %s", [task_id])
        row = cursor.fetchone()
    if row is None:
        raise LookupError(task_id)
    return int(row[0])


def pool_of(task_id: UUID) -> int | None:
    """The pool of a task, which never changes; None where there is no such task."""
    try:
        return _known_pool_of(task_id)
    except LookupError:
        return None


@lru_cache(maxsize=10_000)
def _known_pool_named(name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM claims_pool WHERE name = %s", [name])
        row = cursor.fetchone()
    if row is None:
        raise LookupError(name)
    return int(row[0])


def pool_named(name: str) -> int | None:
    """The id of a pool by its name, which never changes; None where there is no such pool."""
    try:
        return _known_pool_named(name)
    except LookupError:
        return None


def share_pool(pool_id: int) -> None:
    """The pool's shared lock, before anything else is locked (section 3, statement 1)."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_POOL, [POOL_LOCK, pool_id])


def share_pool_of(task_id: UUID) -> None:
    """The shared lock of a task's pool, where there is such a task."""
    pool_id = pool_of(task_id)
    if pool_id is not None:
        share_pool(pool_id)


def numbers(count: int) -> list[int]:
    """So many new task numbers, in order."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('claims_task_number') FROM generate_series(1, %s)", [count])
        return [int(row[0]) for row in cursor.fetchall()]


def clock() -> datetime:
    """The database's clock now; no other counts."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def pool_afresh(pool_id: int) -> tuple[datetime, PoolRow]:
    """The clock, and the pool as it is now. Raises ``LookupError`` where there is none."""
    with pipelined() as raw:
        fresh = send(raw, _POOL_AFRESH, (pool_id,)).fetchone()
    if fresh is None:
        raise LookupError(f"pool {pool_id} does not exist")
    return fresh[0], _pool(fresh[1:])


def person_in(pool_id: int, person_id: int) -> PersonRow:
    """The standing of a person in a pool, read now."""
    with connection.cursor() as cursor:
        cursor.execute(_PERSON, [pool_id, pool_id, person_id])
        row = cursor.fetchone()
    return _person(row) if row else PersonRow(0)


def read_delivery(delivery_id: UUID) -> DeliveryRow | None:
    """A delivery and its decision; read after its task is locked, it cannot change before the write."""
    return _one_delivery(_DELIVERY + " WHERE d.id = %s", delivery_id)


def delivery_of_attempt(task_id: UUID, attempt_id: UUID) -> DeliveryRow | None:
    """The one delivery an attempt of this task made."""
    return _one_delivery(_DELIVERY + " WHERE d.task_id = %s AND d.attempt_id = %s", task_id, attempt_id)


def _one_delivery(statement: str, *keys: UUID) -> DeliveryRow | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, list(keys))
        row = cursor.fetchone()
    if row is None:
        return None
    return DeliveryRow(
        id=row[0],
        attempt_id=row[1],
        agent_id=row[2],
        makers=frozenset(row[3]),
        round=row[4],
        state=DeliveryState(row[5]),
        input_digest=row[6],
        result_digest=row[7],
        subject_digest=row[8],
        claim_generation=row[9],
        scheduler_epoch=row[10],
        cancel_generation=row[11],
        state_version=row[12],
        excluded_files=tuple(row[13]),
        decided_by=row[14],
        decided_at=row[15],
    )


def adopted_by(attempt_id: UUID) -> list[UUID]:
    """The attempts whose evidence an attempt took over: the one it adopted, the one that adopted, and so on."""
    with connection.cursor() as cursor:
        cursor.execute(_ADOPTED, [attempt_id])
        return [row[0] for row in cursor.fetchall()]


def staged(attempt_id: UUID, result_digest: str | None) -> str | None:
    """The digest of a result this attempt staged while it had authority: the named one, or its last."""
    wanted = " AND result_digest = %s" if result_digest else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT result_digest FROM claims_stagedresult WHERE attempt_id = %s AND NOT late{wanted} ORDER BY position DESC LIMIT 1",
            [attempt_id, *([result_digest] if result_digest else [])],
        )
        row = cursor.fetchone()
    return row[0] if row else None


def _pool(row: Sequence[Any]) -> PoolRow:
    return PoolRow(row[0], row[1], row[2], Gate(row[3]), SelfReview(row[4]), *row[5:10])


def _effect(row: Sequence[Any]) -> EffectRow:
    values = list(row)
    values[3], values[10] = EffectMode(values[3]), EffectState(values[10])
    return EffectRow(*values)


def _task(row: Sequence[Any]) -> TaskRow:
    values = list(row)
    values[4] = State(values[4])
    values[10] = tuple(values[10])
    values[17] = ReviewPolicy(values[17])
    values[18] = ReclaimPolicy(values[18])
    values[26] = bytes(values[26])
    return TaskRow(*values)


def _agent(row: Sequence[Any]) -> AgentRow:
    return AgentRow(row[0], row[1], row[2], frozenset(row[3]), row[4], row[5])


def _person(row: Sequence[Any]) -> PersonRow:
    return PersonRow(row[0], expand(row[1]), frozenset(row[2]), frozenset(row[3]))
