"""Idempotency keys: same key and request, same answer, one execution (claim.v1 section 4).

Promises: a key is stored in the transaction of the change it names, so there is never a key
without its change or a change without its key; a key that is being used answers IN_PROGRESS
only while its transaction lives.
"""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any, get_args

from django.db import connection
from pydantic import TypeAdapter

from claims.callers import Caller
from claims.kernel.reading import pipelined, send
from claims.outcomes import (
    Acknowledged,
    Adjusted,
    Approved,
    Cancelled,
    Committed,
    Created,
    Decided,
    Delivered,
    EffectMoved,
    EpochRaised,
    FileKept,
    GateSet,
    Granted,
    Grants,
    Left,
    Noted,
    Permitted,
    Progressed,
    Refused,
    Renewed,
    Revised,
    Staged,
    ToolAccepted,
    Why,
)
from claims.vocabulary import Verb

KEPT_FOR = timedelta(hours=24)

Outcome = (
    Acknowledged
    | Adjusted
    | Approved
    | Cancelled
    | Committed
    | Created
    | Decided
    | Delivered
    | EffectMoved
    | EpochRaised
    | FileKept
    | GateSet
    | Granted
    | Grants
    | Left
    | Noted
    | Permitted
    | Progressed
    | Renewed
    | Revised
    | Staged
    | ToolAccepted
)
_READERS: dict[str, TypeAdapter[Any]] = {kind.__name__: TypeAdapter(kind) for kind in get_args(Outcome)}

_TRY = "SELECT pg_try_advisory_xact_lock(%s::bigint)"
_FIND = """SELECT verb, request_digest, answer FROM claims_idempotencykey
 WHERE holder = %s::text AND key = %s::text AND used_at > clock_timestamp() - %s::interval"""
_KEEP = """INSERT INTO claims_idempotencykey (holder, key, verb, request_digest, answer, used_at)
 VALUES (%s::text, %s::text, %s::text, %s::text, %s::jsonb, clock_timestamp())
 ON CONFLICT (holder, key) DO UPDATE SET verb = excluded.verb, request_digest = excluded.request_digest,
 answer = excluded.answer, used_at = excluded.used_at"""


def find(caller: Caller, verb: Verb) -> Outcome | Refused | None:
    """The answer this key has already, IN_PROGRESS or KEY_REUSED; None for a key not used yet."""
    if caller.key is None:
        return None
    holder = holder_of(caller)
    with pipelined() as raw:
        tried = send(raw, _TRY, (lock_number(holder, caller.key),))
        known = send(raw, _FIND, (holder, caller.key, KEPT_FOR))
        is_mine, row = tried.fetchone(), known.fetchone()
    if not is_mine or not is_mine[0]:
        return Refused(Why.IN_PROGRESS)
    if row is None:
        return None
    if row[0] != verb or row[1] != (caller.request_digest or ""):
        return Refused(Why.KEY_REUSED)
    kind, body = json.loads(row[2])
    outcome: Outcome = _READERS[kind].validate_python(body)
    return outcome


def keep(caller: Caller, verb: Verb, outcome: Outcome) -> None:
    """Store the answer with the key, in the caller's transaction. An empty claim-next burns no key."""
    if caller.key is None or (isinstance(outcome, Grants) and not outcome.grants):
        return
    kind = type(outcome).__name__
    answer = json.dumps([kind, _READERS[kind].dump_python(outcome, mode="json")])
    with connection.cursor() as cursor:
        cursor.execute(
            _KEEP, [holder_of(caller), caller.key, verb.value, caller.request_digest or "", answer]
        )


def expire_keys(limit: int = 5_000) -> int:
    """Forget up to ``limit`` keys older than 24 h; how many were forgotten."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM claims_idempotencykey WHERE id IN (SELECT id FROM claims_idempotencykey"
            " WHERE used_at < clock_timestamp() - make_interval(secs => %s) ORDER BY used_at LIMIT %s)",
            [KEPT_FOR.total_seconds(), limit],
        )
        return int(cursor.rowcount)


def holder_of(caller: Caller) -> str:
    """Whose key it is: keys of two agents or persons never meet."""
    return f"{caller.actor.kind}:{caller.actor.id}"


def lock_number(holder: str, key: str) -> int:
    """The number of the advisory lock that guards a key while it is used."""
    return int.from_bytes(hashlib.sha256(f"{holder}\0{key}".encode()).digest()[:8], signed=True)
