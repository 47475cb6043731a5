"""The exclusive side of a pool's lock: raising its epoch, moving its gate (claim.v1 section 3).

Promises: whoever holds it has waited for every verb of the pool that was under way, and every
verb that comes after waits until it is committed. What is read here is read after that.
"""

from __future__ import annotations

from typing import LiteralString

from claims.callers import Caller
from claims.decide.pools import PoolAsRead
from claims.kernel import fate
from claims.kernel.reading import POOL_LOCK, person_in, pipelined, pool_afresh, send
from claims.models import PoolEvent
from claims.vocabulary import Gate, Verb

_LOCK: LiteralString = "SELECT pg_advisory_xact_lock(%s::int, %s::int)"
_RAISE: LiteralString = """UPDATE claims_pool SET scheduler_epoch = nextval('claims_scheduler_epoch')
 WHERE id = %s::bigint AND scheduler_epoch = %s::bigint RETURNING scheduler_epoch, pg_current_xact_id()::text"""
_MOVE_GATE: LiteralString = """UPDATE claims_pool SET gate = %s::text
 WHERE id = %s::bigint AND gate = %s::text RETURNING gate, pg_current_xact_id()::text"""


def hold_pool(caller: Caller, pool_id: int) -> PoolAsRead:
    """The pool alone, and read afresh; a person's rights in it, too.

    Raises ``LookupError`` where there is no such pool: pools are never deleted.
    """
    with pipelined() as raw:
        send(raw, _LOCK, (POOL_LOCK, pool_id))
    now, pool = pool_afresh(pool_id)
    return PoolAsRead(now, pool, person_in(pool_id, caller.actor.id))


def raise_pool_epoch(caller: Caller, seen: PoolAsRead, reason: str) -> int:
    """Give the pool the next epoch of all pools; the epoch it has now."""
    after = int(_written(_RAISE, (seen.pool.id, seen.pool.scheduler_epoch)))
    _tell(caller, seen, Verb.RAISE_EPOCH, (str(seen.pool.scheduler_epoch), str(after)), reason)
    return after


def move_gate(caller: Caller, seen: PoolAsRead, gate: Gate, reason: str) -> None:
    """Open or close the pool for new claims."""
    _written(_MOVE_GATE, (gate.value, seen.pool.id, seen.pool.gate.value))
    _tell(caller, seen, Verb.GATE, (seen.pool.gate.value, gate.value), reason)


def _written(statement: LiteralString, values: tuple[object, ...]) -> str:
    """What the pool's row holds after the write. Raises ``RuntimeError`` when it moved under its lock."""
    with pipelined() as raw:
        written = send(raw, statement, values).fetchone()
    if written is None:
        raise RuntimeError("a pool moved under the exclusive side of its lock")
    fate.remember(written[1])
    return str(written[0])


def _tell(caller: Caller, seen: PoolAsRead, verb: Verb, change: tuple[str, str], reason: str) -> None:
    PoolEvent.objects.create(
        pool_id=seen.pool.id,
        verb=verb.value,
        before=change[0],
        after=change[1],
        reason=reason,
        actor_kind=caller.actor.kind.value,
        actor_id=caller.actor.id,
        actor_name=caller.actor.name,
        source=caller.source.value,
        request_id=caller.request_id,
        at=seen.now,
    )
