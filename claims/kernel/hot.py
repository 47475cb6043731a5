"""The three hot verbs in one round trip each, where nothing is refused.

Promises: what is answered here is what the long way would have answered and written. None
means that there may be something to refuse, replay or explain: nothing was changed, and the
caller goes the long way. A test compares both ways on random rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, LiteralString, cast
from uuid import UUID

from django.db import OperationalError, connection

from claims.callers import Caller
from claims.fences import Fence
from claims.kernel.keys import holder_of, lock_number
from claims.kernel.running import unknown, was_cut_off
from claims.models.columns import new_id
from claims.outcomes import Committed, Granted, GrantedTask, Refused, Renewed
from claims.vocabulary import Verb

_CLAIM_NEXT: LiteralString = (
    "SELECT * FROM claims_claim_next(%s::bigint, %s::bigint, %s::bigint, %s::int, %s::uuid, %s::text, %s::text,"
    " %s::text, %s::text, %s::bigint, %s::text)"
)
_RENEW: LiteralString = (
    "SELECT * FROM claims_renew(%s::uuid, %s::uuid, %s::bigint, %s::bigint, %s::bigint, %s::bigint, %s::int)"
)
_COMMIT: LiteralString = (
    "SELECT * FROM claims_commit(%s::uuid, %s::uuid, %s::bigint, %s::bigint, %s::bigint, %s::bigint, %s::text,"
    " %s::text, %s::text, %s::jsonb, %s::uuid, %s::text, %s::text, %s::text, %s::text, %s::bigint, %s::text)"
)
_WAITED = {"55P03", "57014", "40001", "40P01"}


def claim_next(
    caller: Caller, pool_id: int, scheduler_epoch: int, ttl_seconds: int | None
) -> Granted | Refused | None:
    """One grant of the next claimable task."""
    if not caller.is_agent:
        return None
    attempt_id = new_id()
    row = _call(
        Verb.CLAIM_NEXT,
        _CLAIM_NEXT,
        (
            pool_id,
            caller.actor.id,
            scheduler_epoch,
            ttl_seconds,
            attempt_id,
            caller.source,
            caller.request_id,
            *_key(caller),
        ),
    )
    if row is None or isinstance(row, Refused):
        return row
    fence = Fence(row[0], attempt_id, row[1], row[2], row[3])
    task = GrantedTask(row[8], row[9], row[10], json.loads(row[11]))
    return Granted(fence, row[4], row[5], row[6], row[7], task)


def renew(caller: Caller, fence: Fence, extend_seconds: int) -> Renewed | Refused | None:
    """A renewal of a claim that is the caller's."""
    if caller.key is not None or not caller.is_agent:
        return None
    row = _call(Verb.RENEW, _RENEW, (*_fence(fence), caller.actor.id, extend_seconds))
    return row if row is None or isinstance(row, Refused) else Renewed(*row)


def commit(
    caller: Caller, fence: Fence, input_digest: str, result: object, result_digest: str
) -> Committed | Refused | None:
    """The canonical commit of a result without evidence, for an input that asks for none."""
    if not caller.is_agent:
        return None
    commit_id = new_id()
    row = _call(
        Verb.COMMIT,
        _COMMIT,
        (
            *_fence(fence), caller.actor.id, caller.actor.name, input_digest, result_digest, json.dumps(result), commit_id,
            caller.source, caller.request_id, *_key(caller),
        ),
    )  # fmt: skip
    return (
        row
        if row is None or isinstance(row, Refused)
        else Committed(commit_id, fence.task_id, result_digest, row[0])
    )


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


def _call(verb: Verb, statement: LiteralString, values: Sequence[Any]) -> Sequence[Any] | Refused | None:
    """One statement and its commit. A wait that ran out changed nothing: the long way may try.

    OUTCOME_UNKNOWN when the connection broke, for then nobody knows whether it happened.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cast("Sequence[Any] | None", cursor.fetchone())
    except OperationalError as error:
        state = getattr(error.__cause__, "sqlstate", None)
        if state in _WAITED and not connection.in_atomic_block:
            return None
        if was_cut_off(error):
            return unknown(verb, error)
        raise
