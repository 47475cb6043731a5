"""The one write of a transition (claim.v1 section 3, statement 4).

Promises: the CAS on the state version, the lease, the attempts and the history row are one
statement; the generation rises exactly where ``lifecycle.EDGES`` says so. Zero rows changed is
a fault, because the row is locked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

from claims.callers import Caller
from claims.canonical import canonical
from claims.decide.changes import Change, EffectChange, Validated
from claims.decide.rows import EffectRow, TaskAsRead
from claims.fences import Fence
from claims.kernel import fate
from claims.kernel.reading import pipelined, send
from claims.lifecycle import edge, effect_edge
from claims.models.columns import new_id
from claims.outcomes import Granted
from claims.vocabulary import EffectState, State, Verb

GENESIS = bytes(32)

_DECISIONS = frozenset({Verb.ACCEPT, Verb.REQUEST_CHANGES, Verb.REJECT})

_WRITABLE = frozenset(
    {
        "access", "attempts_used", "cancel_generation", "delivery_id", "input_digest", "is_stale", "max_attempts", "not_before",
        "preferred_runner_id", "priority", "reclaim_policy", "result_commit_id", "reviewer_group_id", "reviewer_id", "rounds", "title",
        "ttl_seconds",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Advanced:
    """Where the task is after the write; ``fence`` and the lease are there after a grant."""

    state: State
    state_version: int
    claim_generation: int
    fence: Fence | None = None
    lease_expires_at: datetime | None = None
    window_ends_at: datetime | None = None

    def granted(self, input_digest: str | None) -> Granted:
        """The grant that this write made."""
        if (
            self.fence is None
            or self.lease_expires_at is None
            or self.window_ends_at is None
            or input_digest is None
        ):
            raise AssertionError("this write granted nothing")
        return Granted(
            self.fence, input_digest, self.state_version, self.lease_expires_at, self.window_ends_at
        )


def advance(caller: Caller, seen: TaskAsRead, change: Change) -> Advanced:
    """Write one change of one task.

    Raises ``KeyError`` for a step that is no edge and ``RuntimeError`` when the row moved
    although it was locked: faults of the server, not answers.
    """
    step = edge(seen.task.state, change.verb, change.target)
    write = _Write(caller, seen, change, seen.task.claim_generation + (1 if step.raises else 0))
    statement, values = write.statement(step.raises)
    with pipelined() as raw:
        written = send(raw, statement, values).fetchone()
    if written is None or written[0] != (2 if change.effect else 1):
        raise RuntimeError(f"task {seen.task.id} moved from version {seen.task.state_version} under its lock")
    fate.remember(written[1])
    return write.advanced()


class _Write:
    """The parts of one statement, gathered for one change."""

    def __init__(self, caller: Caller, seen: TaskAsRead, change: Change, generation: int) -> None:
        self.caller, self.seen, self.change, self.generation = caller, seen, change, generation
        self.version = seen.task.state_version + 1
        self.attempt_id = new_id() if change.grant else None
        self.parts: list[LiteralString] = []
        self.values: list[object] = []

    def statement(self, loses_authority: bool) -> tuple[LiteralString, list[object]]:
        if self.change.ends:
            self._end_attempt()
        if self.change.grant:
            self._start_attempt()
        elif self.change.expiry:
            self._move_lease()
        elif self._loses_lease():
            self._add("gone AS (DELETE FROM claims_lease WHERE task_id = %s::uuid)", self.seen.task.id)
        if loses_authority and self.seen.task.declares_effects:
            self._doubt_effects()
        if self.seen.task.state is State.DELIVERED and self.change.verb not in _DECISIONS:
            self._close_delivery()
        if self.change.effect:
            self._effect(self.change.effect)
        entry = self._history(loses_authority)
        self._task(entry)
        self._add(_COUNT_BOTH if self.change.effect else _COUNT)
        statement: LiteralString = "WITH " + ", ".join(self.parts[:-1]) + " " + self.parts[-1]
        return statement, self.values

    def advanced(self) -> Advanced:
        grant, task = self.change.grant, self.seen.task
        if grant is None or self.attempt_id is None:
            return Advanced(self.change.target, self.version, self.generation)
        fence = Fence(
            task.id, self.attempt_id, self.seen.pool.scheduler_epoch, self.generation, task.cancel_generation
        )
        return Advanced(
            self.change.target,
            self.version,
            self.generation,
            fence,
            self._expires_at(),
            self._window_ends_at(),
        )

    def _add(self, part: LiteralString, *values: object) -> None:
        self.parts.append(part)
        self.values.extend(values)

    def _loses_lease(self) -> bool:
        return self.seen.task.state is State.CLAIMED and self.change.target is not State.CLAIMED

    def _expires_at(self) -> datetime:
        grant = self.change.grant
        return self.seen.now + timedelta(seconds=grant.ttl_seconds if grant else 0)

    def _window_ends_at(self) -> datetime:
        return self.seen.now + timedelta(seconds=self.seen.pool.window_seconds)

    def _end_attempt(self) -> None:
        self._add(
            "ended AS (UPDATE claims_attempt SET outcome = %s::text, ended_at = coalesce(ended_at, %s::timestamptz) WHERE id = %s::uuid)",
            self.change.ends, self.seen.now, self.seen.task.attempt_id,
        )  # fmt: skip

    def _start_attempt(self) -> None:
        grant, task, attempt_id = self.change.grant, self.seen.task, self.attempt_id
        if grant is None:
            return
        self._add(
            "begun AS (INSERT INTO claims_attempt (id, task_id, agent_id, owner_id, claim_generation, scheduler_epoch, cancel_generation,"
            " is_counted, granted_version, started_at, note, adopted_from) VALUES"
            " (%s::uuid, %s::uuid, %s::bigint, %s::int, %s::bigint, %s::bigint, %s::bigint, %s::bool, %s::bigint, %s::timestamptz, '', %s::uuid))",
            attempt_id, task.id, grant.agent.id, grant.agent.owner_id, self.generation, self.seen.pool.scheduler_epoch,
            task.cancel_generation, grant.is_counted, self.version, self.seen.now, grant.adopted_from,
        )  # fmt: skip
        self._add(
            "leased AS (INSERT INTO claims_lease (task_id, attempt_id, agent_id, claim_generation, ttl_seconds, expires_at, window_ends_at, renewals)"
            " VALUES (%s::uuid, %s::uuid, %s::bigint, %s::bigint, %s::int, %s::timestamptz, %s::timestamptz, 0)"
            + _REPLACE_LEASE + ")",
            task.id, attempt_id, grant.agent.id, self.generation, grant.ttl_seconds, self._expires_at(), self._window_ends_at(),
        )  # fmt: skip

    def _move_lease(self) -> None:
        expiry = self.change.expiry
        if expiry is None:
            return
        self._add(
            "moved_lease AS (UPDATE claims_lease SET expires_at = %s::timestamptz,"
            " extended_at = CASE WHEN %s::bool THEN %s::timestamptz ELSE extended_at END,"
            " nudged_at = CASE WHEN %s::bool THEN %s::timestamptz ELSE nudged_at END WHERE task_id = %s::uuid)",
            expiry.expires_at, expiry.is_extension, self.seen.now, expiry.is_nudge, self.seen.now, self.seen.task.id,
        )  # fmt: skip

    def _close_delivery(self) -> None:
        """A delivery whose claim lost its authority ends undecided."""
        if self.change.target is not State.DELIVERED:
            self._add(
                "closed AS (UPDATE claims_delivery SET state = 'CLOSED', closed_at = %s::timestamptz WHERE id = %s::uuid AND state = 'PENDING')",
                self.seen.now, self.seen.task.delivery_id,
            )  # fmt: skip

    def _doubt_effects(self) -> None:
        """Every loss of authority leaves what was being sent in doubt, and what was approved void (section 5)."""
        self._add(
            "doubted AS (UPDATE claims_effect SET state = 'UNKNOWN', state_since = %s::timestamptz, version = version + 1,"
            " doubts = doubts + 1 WHERE task_id = %s::uuid AND state = 'EXECUTING')",
            self.seen.now, self.seen.task.id,
        )  # fmt: skip
        self._add(
            "voided AS (UPDATE claims_approval SET state = 'VOID', ended_at = %s::timestamptz WHERE task_id = %s::uuid AND state = 'GRANTED')",
            self.seen.now, self.seen.task.id,
        )  # fmt: skip

    def _effect(self, step: EffectChange) -> None:
        effect_edge(step.effect.state, self.change.verb, step.target)
        columns: dict[Any, object] = dict(step.columns)
        unknown = set(columns) - set(_EFFECT_CASTS)
        if unknown:
            raise KeyError(f"a change may not write {unknown} of an effect")
        assignments: LiteralString = "".join(f", {name} = %s" + _EFFECT_CASTS[name] for name in columns)
        self._add(
            "stepped AS (UPDATE claims_effect SET state = %s::text, version = version + 1,"
            " state_since = CASE WHEN state = %s::text THEN state_since ELSE %s::timestamptz END" + assignments
            + " WHERE id = %s::text AND version = %s::int RETURNING id)",
            step.target, step.target, self.seen.now, *columns.values(), step.effect.id, step.effect.version,
        )  # fmt: skip

    def _task(self, entry: HistoryEntry) -> None:
        change, task = self.change, self.seen.task
        columns = self._columns()
        assignments: LiteralString = "".join(f", {name} = %s" + _CASTS.get(name, "") for name in columns)
        self._add(
            "moved AS (UPDATE claims_task SET state = %s::text, state_since = CASE WHEN state = %s::text THEN state_since ELSE %s::timestamptz END,"
            " reason = %s::text, state_version = %s::bigint, claim_generation = %s::bigint, history_hash = %s::bytea"
            + assignments + " WHERE id = %s::uuid AND state_version = %s::bigint RETURNING id)",
            change.target, change.target, self.seen.now, change.reason, self.version, self.generation, entry.hash,
            *columns.values(), task.id, task.state_version,
        )  # fmt: skip

    def _columns(self) -> dict[LiteralString, object]:
        columns: dict[Any, object] = dict(self.change.columns)
        unknown = set(columns) - _WRITABLE
        if unknown:
            raise KeyError(f"a change may not write {unknown}")
        grant, task = self.change.grant, self.seen.task
        if grant:
            columns["attempt_id"], columns["runner_id"] = self.attempt_id, grant.agent.id
            if grant.is_counted:
                columns["attempts_used"] = task.attempts_used + 1
        elif task.attempt_id is not None and self.change.target not in (State.CLAIMED, State.DELIVERED):
            columns["attempt_id"], columns["runner_id"] = None, None
        return columns

    def _history(self, loses_authority: bool) -> HistoryEntry:
        task, change = self.seen.task, self.change
        entry = HistoryEntry(
            task_id=task.id, pool_id=task.pool_id, state_version=self.version, verb=change.verb, from_state=task.state,
            to_state=change.target, claim_generation=self.generation, attempt_id=self.attempt_id or task.attempt_id,
            at=self.seen.now, body=self._body(loses_authority), previous=task.history_hash, caller=self.caller,
            validated=change.validated,
        )  # fmt: skip
        self._add("told AS (" + _TELL + ")", *entry.values())
        return entry

    def _body(self, loses_authority: bool) -> dict[str, object]:
        change = self.change
        body = dict(change.body)
        moved = [_moved(step.effect, step.target) for step in [change.effect] if step]
        if loses_authority:
            moved += [
                _moved(effect, EffectState.UNKNOWN)
                for effect in self.seen.own_effects
                if effect.state is EffectState.EXECUTING
            ]
        if moved:
            body["effects"] = moved
        if change.reason:
            body["held"] = change.reason
        if change.ends and change.target is not State.DONE:
            body["ended"] = change.ends.value
            if change.grant:
                body["endedAttempt"] = str(self.seen.task.attempt_id)
        if change.grant:
            body["runner"] = change.grant.agent.name
            body["schedulerEpoch"] = self.seen.pool.scheduler_epoch
            body["ttlSeconds"] = change.grant.ttl_seconds
            if not change.grant.is_counted:
                body["counted"] = False
        return body


def _moved(effect: EffectRow, target: EffectState) -> dict[str, object]:
    """One step of one effect, as history tells it."""
    return {"effectId": effect.id, "slot": effect.slot, "from": effect.state.value, "to": target.value}


class HistoryEntry:
    """One row of history and its place in the task's hash chain."""

    __slots__ = ("_values", "hash")

    def __init__(
        self, *, task_id: UUID, pool_id: int, state_version: int, verb: Verb, from_state: State | None, to_state: State,
        claim_generation: int, attempt_id: UUID | None, at: datetime, body: Mapping[str, object], previous: bytes, caller: Caller,
        validated: Validated | None = None,
    ) -> None:  # fmt: skip
        actor, compared = caller.actor, str(validated) if validated else None
        self.hash = chain(
            previous,
            {
                "taskId": str(task_id),
                "stateVersion": state_version,
                "verb": verb.value,
                "from": from_state.value if from_state else None,
                "to": to_state.value,
                "claimGeneration": claim_generation,
                "attemptId": str(attempt_id) if attempt_id else None,
                "actor": [actor.kind.value, actor.id, actor.name],
                "source": caller.source.value,
                "requestId": caller.request_id,
                "at": at.isoformat(timespec="microseconds"),
                "body": body,
                "validated": compared,
            },
        )
        self._values: tuple[object, ...] = (
            task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id, actor.kind, actor.id, actor.name,
            caller.source, caller.request_id, at, json.dumps(body), compared, self.hash,
        )  # fmt: skip

    def values(self) -> tuple[object, ...]:
        """The row's values, in the order of ``_TELL``."""
        return self._values


def chain(previous: bytes, row: Mapping[str, object]) -> bytes:
    """The hash of a history row: SHA-256 of the hash before it and the row's canonical JSON."""
    return hashlib.sha256(previous + canonical(dict(row))).digest()


_TELL: LiteralString = (
    "INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id,"
    " actor_kind, actor_id, actor_name, source, request_id, at, body, validated, hash) VALUES"
    " (%s::uuid, %s::bigint, %s::bigint, %s::text, %s::text, %s::text, %s::bigint, %s::uuid, %s::text, %s::int, %s::text, %s::text,"
    " %s::text, %s::timestamptz, %s::jsonb, %s::text, %s::bytea)"
)

_COUNT: LiteralString = "SELECT (SELECT count(*) FROM moved), pg_current_xact_id()::text"
_COUNT_BOTH: LiteralString = (
    "SELECT (SELECT count(*) FROM moved) + (SELECT count(*) FROM stepped), pg_current_xact_id()::text"
)

_EFFECT_CASTS: dict[str, LiteralString] = {
    "doubts": "::int",
    "has_happened": "::bool",
    "permit_id": "::uuid",
    "permits": "::int",
    "receipt": "::jsonb",
    "resource_etag": "::text",
}

_REPLACE_LEASE: LiteralString = (
    " ON CONFLICT (task_id) DO UPDATE SET attempt_id = excluded.attempt_id, agent_id = excluded.agent_id,"
    " claim_generation = excluded.claim_generation, ttl_seconds = excluded.ttl_seconds, expires_at = excluded.expires_at,"
    " window_ends_at = excluded.window_ends_at, renewals = 0, renewed_under = NULL, renewed_at = NULL, nudged_at = NULL, extended_at = NULL"
)

_CASTS: dict[str, LiteralString] = {
    "access": "::varchar(120)[]",
    "attempt_id": "::uuid",
    "delivery_id": "::uuid",
    "input_digest": "::text",
    "is_stale": "::bool",
    "not_before": "::timestamptz",
    "result_commit_id": "::uuid",
    "reclaim_policy": "::text",
    "title": "::text",
}


def keep_lease(seen: TaskAsRead, expires_at: datetime, validated: Validated) -> None:
    """Write a renewal: the lease row and nothing else, so that it stays heap-only."""
    with pipelined() as raw:
        send(
            raw,
            "UPDATE claims_lease SET expires_at = %s::timestamptz, renewals = renewals + 1, renewed_under = %s::text,"
            " renewed_at = %s::timestamptz, nudged_at = NULL WHERE task_id = %s::uuid",
            (expires_at, str(validated), seen.now, seen.task.id),
        )


def found(
    caller: Caller, pool_id: int, task_id: UUID, at: datetime, state: State, body: Mapping[str, object],
    verb: Verb = Verb.CREATE, claim_generation: int = 0,
) -> bytes:  # fmt: skip
    """Write the first history row of a new task; returns the head of its chain.

    A later revision carries its lineage's ``claim_generation`` on. Raises ``KeyError`` for a
    beginning that is none.
    """
    edge(None, verb, state)
    entry = HistoryEntry(
        task_id=task_id, pool_id=pool_id, state_version=1, verb=verb, from_state=None, to_state=state, claim_generation=claim_generation,
        attempt_id=None, at=at, body=body, previous=GENESIS, caller=caller,
    )  # fmt: skip
    with pipelined() as raw:
        send(raw, _TELL, entry.values())
    return entry.hash
