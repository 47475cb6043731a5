"""One verb, one transaction, one answer.

Promises: a verb's function runs in its own READ COMMITTED transaction; a refusal rolls it back
and is recorded on its own afterwards; deadlocks and serialisation failures are tried again;
what is not known to have happened is never reported as a success or a failure.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from psycopg import IsolationLevel

from claims.callers import Caller
from claims.kernel import fate, keys
from claims.kernel.graph import Contended
from claims.kernel.naming import named_by
from claims.models import Refusal
from claims.outcomes import Refused, Why
from claims.vocabulary import ActorKind, Verb

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 5
_AGAIN = {"40001", "40P01"}
_BUSY = {"55P03", "57014"}
_UNRECORDED = {Why.NOT_FOUND, Why.MALFORMED, Why.IN_PROGRESS}


def verb(
    name: Verb, *edges: str, replays: bool = True
) -> Callable[[Callable[Concatenate[Caller, P], T]], Callable[Concatenate[Caller, P], T | Refused]]:
    """Make a transition of a function that holds, decides and advances.

    ``edges`` are the edges it may take, as its docstring names them. The function's first
    argument is the caller; it must not be called inside a transaction. A verb that never
    ``replays`` answers a repeated key with MUST_RECONCILE (claim.v1 section 4: execute).
    """

    def wrap(function: Callable[Concatenate[Caller, P], T]) -> Callable[Concatenate[Caller, P], T | Refused]:
        @wraps(function)
        def call(caller: Caller, /, *args: P.args, **kwargs: P.kwargs) -> T | Refused:
            work = _Work(name, partial(function, caller, *args, **kwargs), replays)
            return _run(work, caller, (*args, *kwargs.values()))

        call.verb, call.edges = name, edges  # type: ignore[attr-defined]
        return call

    return wrap


@dataclass(frozen=True, slots=True)
class _Work(Generic[T]):
    """One call of one verb, ready to be tried."""

    name: Verb
    function: Callable[[], T]
    replays: bool


def _run(work: _Work[T], caller: Caller, args: tuple[object, ...]) -> T | Refused:
    for attempt in range(TRIES):
        try:
            outcome = _once(work, caller)
        except CommitLost as lost:
            known = fate.is_committed()
            if known is None:
                return unknown(work.name, lost)
            if known is False and attempt + 1 < TRIES:
                continue
            outcome = lost.outcome if known else Refused(Why.BUSY)
        except Contended:
            outcome = Refused(Why.BUSY)
        except DatabaseError as error:
            state = getattr(error.__cause__, "sqlstate", None)
            if state in _AGAIN and attempt + 1 < TRIES:
                time.sleep(random.uniform(0.005, 0.05) * (attempt + 1))  # noqa: S311 - jitter, not a secret
                continue
            if _is_serial(error):
                outcome = Refused(Why.SERIAL_BUSY)
            elif state in _BUSY | _AGAIN:
                outcome = Refused(Why.BUSY)
            else:
                raise
        if isinstance(outcome, Refused):
            _record(work.name, caller, outcome, args)
        return outcome
    raise AssertionError("unreachable: the last try returns or raises")


def _is_serial(error: DatabaseError) -> bool:
    """Whether the unique index refused a second effect with one serial key (claim.v1 section 5)."""
    diagnostic = getattr(error.__cause__, "diag", None)
    return diagnostic is not None and diagnostic.constraint_name == "effect_one_serial"


class CommitLost(Exception):
    """The answer to COMMIT was lost, or said less than it should; ``outcome`` is what was being committed."""

    def __init__(self, said: str, outcome: Any) -> None:
        super().__init__(said)
        self.outcome = outcome


def was_cut_off(error: Exception) -> bool:
    """Whether the connection ended before an answer: silently, or with the server's farewell.

    57P is an operator's or a crash's shutdown, 08 the connection's own end; a commit that was on
    its way may have been kept all the same.
    """
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(("57P", "08"))


def unknown(name: Verb, lost: Exception) -> Refused:
    """The only honest answer when a commit's own answer was lost."""
    log.error("commit_unknown", verb=name, error=str(lost))
    connection.close()
    return Refused(Why.OUTCOME_UNKNOWN)


def _once(work: _Work[T], caller: Caller) -> T | Refused:
    outcome: T | Refused | None = None
    is_committing = False
    fate.begin()
    with fate.watched() as watch:
        try:
            with transaction.atomic(durable=True):
                _assert_read_committed()
                outcome = _answer(work, caller)
                if isinstance(outcome, Refused) and not outcome.keeps:
                    transaction.set_rollback(True)
                else:
                    fate.lean_on_earlier()
                    is_committing = True
        except (OperationalError, InterfaceError) as error:
            if is_committing and was_cut_off(error):
                raise CommitLost(str(error), outcome) from error
            raise
    if watch.is_unreplicated:
        fate.begin()
        raise CommitLost("the wait for the standby was cancelled", outcome)
    return outcome


def _answer(work: _Work[T], caller: Caller) -> T | Refused:
    before = keys.find(caller, work.name)
    if before is not None and (work.replays or isinstance(before, Refused)):
        return before  # type: ignore[return-value]
    outcome = work.function()
    if before is not None:
        return _refused_again(outcome)
    if not isinstance(outcome, Refused):
        keys.keep(caller, work.name, outcome)  # type: ignore[arg-type]
    return outcome


def _refused_again(outcome: T | Refused) -> Refused:
    """A verb that never replays says itself how the first one stands; whatever it would do is undone."""
    if isinstance(outcome, Refused) and outcome.why is Why.MUST_RECONCILE:
        return outcome
    return Refused(Why.MUST_RECONCILE)


def _assert_read_committed() -> None:
    """A stricter level would keep one snapshot and read an old epoch after the lock."""
    connection.ensure_connection()
    level = connection.connection.isolation_level
    if level not in (None, IsolationLevel.READ_COMMITTED):
        raise AssertionError(f"claim.v1 section 3 wants READ COMMITTED, the connection has {level}")


def _record(name: Verb, caller: Caller, refused: Refused, args: tuple[object, ...]) -> None:
    """Keep who was refused what, outside the transaction that was rolled back."""
    if refused.why in _UNRECORDED or caller.actor.kind is ActorKind.SYSTEM:
        return
    named = named_by(args)
    if not named:
        return
    Refusal.objects.create(
        verb=name.value,
        why=refused.why.value,
        detail=refused.sentence,
        current=refused.current.as_json() if refused.current else {},
        actor_kind=caller.actor.kind.value,
        actor_id=caller.actor.id,
        actor_name=caller.actor.name,
        source=caller.source.value,
        request_id=caller.request_id,
        **named,
    )
