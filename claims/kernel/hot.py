"""The three hot verbs in one round trip each, where nothing is refused.

Promises: what is answered here is what the long way would have answered and written. None
means that there may be something to refuse, replay or explain: nothing was changed, and the
caller goes the long way. A test compares both ways on random rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import orjson
from django.db import OperationalError, connection

from claims.callers import Caller
from claims.fences import Fence
from claims.kernel import wire
from claims.kernel.keys import holder_of, lock_number
from claims.kernel.running import CommitLost, unknown, was_cut_off
from claims.models.columns import new_id
from claims.outcomes import Committed, Granted, GrantedTask, Refused, Renewed
from claims.vocabulary import Verb

_time = datetime.fromisoformat
_WAITED = {"55P03", "57014", "40001", "40P01"}


def claim_next(
    caller: Caller, pool_id: int, scheduler_epoch: int, ttl_seconds: int | None
) -> Granted | Refused | None:
    """One grant of the next claimable task."""
    if not caller.is_agent:
        return None
    attempt_id = new_id()
    row = _ask(
        Verb.CLAIM_NEXT, "claims_claim_next", pool_id, caller.actor.id, scheduler_epoch, ttl_seconds, attempt_id,
        caller.source, caller.request_id, *_key(caller), caller.token_id,
    )  # fmt: skip
    if row is None or isinstance(row, Refused):
        return row
    fence = Fence(UUID(row[0]), attempt_id, row[1], row[2], row[3])
    task = GrantedTask(row[8], row[9], row[10], row[11], row[12])
    return Granted(fence, row[4], row[5], _time(row[6]), _time(row[7]), task)


def renew(caller: Caller, fence: Fence, extend_seconds: int) -> Renewed | Refused | None:
    """A renewal of a claim that is the caller's."""
    if caller.key is not None or not caller.is_agent:
        return None
    row = _ask(Verb.RENEW, "claims_renew", *_fence(fence), caller.actor.id, extend_seconds)
    if row is None or isinstance(row, Refused):
        return row
    return _renewed(row)


def renew_many(caller: Caller, items: Sequence[tuple[Fence, int]]) -> list[Renewed | None] | Refused:
    """Renewals of several claims of one pool, in the order of their tasks; None for each that needs the long way."""
    if caller.key is not None or not caller.is_agent:
        return [None] * len(items)
    written = json.dumps([[*map(str, _fence(fence)), extend_seconds] for fence, extend_seconds in items])
    rows = _ask(Verb.RENEW, "claims_renew_many", caller.actor.id, written)
    if isinstance(rows, Refused):
        return rows
    return [None if row is None else _renewed(row) for row in rows or [None] * len(items)]


def commit(
    caller: Caller, fence: Fence, input_digest: str, result: object, result_digest: str
) -> Committed | Refused | None:
    """The canonical commit of a result without evidence, for an input that asks for none."""
    if not caller.is_agent:
        return None
    commit_id = new_id()
    version = _ask(
        Verb.COMMIT, "claims_commit", *_fence(fence), caller.actor.id, caller.actor.name, input_digest, result_digest,
        json.dumps(result), commit_id, caller.source, caller.request_id, *_key(caller),
        caller.token_id,
    )  # fmt: skip
    if version is None or isinstance(version, Refused):
        return version
    return Committed(commit_id, fence.task_id, result_digest, version)


def _renewed(row: list[Any]) -> Renewed:
    return Renewed(_time(row[0]), _time(row[1]), *row[2:])


def _fence(fence: Fence) -> tuple[UUID, UUID, int, int, int]:
    return (
        fence.task_id,
        fence.attempt_id,
        fence.scheduler_epoch,
        fence.claim_generation,
        fence.cancel_generation,
    )


def _key(caller: Caller) -> tuple[str, str | None, int, str]:
    holder = holder_of(caller)
    lock = lock_number(holder, caller.key) if caller.key is not None else 0
    return holder, caller.key, lock, caller.request_digest or ""


def _ask(verb: Verb, function: LiteralString, *values: object) -> Any:
    """One call and its commit; what it answers, read from JSON. A wait that ran out changed nothing: the long way may try.

    OUTCOME_UNKNOWN when the connection broke, for then nobody knows whether it happened, and when
    PostgreSQL stopped waiting for a standby.
    """
    try:
        answer = wire.ask(function, *values)
    except OperationalError as error:
        state = getattr(error.__cause__, "sqlstate", None)
        if state in _WAITED and not connection.in_atomic_block:
            return None
        if was_cut_off(error):
            return unknown(verb, error)
        raise
    if answer.is_unreplicated:
        return unknown(verb, CommitLost("the wait for the standby was cancelled", answer.text))
    return None if answer.text is None else orjson.loads(answer.text)
