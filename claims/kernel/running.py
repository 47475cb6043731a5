"""One verb, one transaction, one answer.

Promises: a verb's function runs in its own READ COMMITTED transaction; a refusal rolls it back
and is recorded on its own afterwards; deadlocks and serialisation failures are tried again;
what is not known to have happened is never reported as a success or a failure.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Concatenate, ParamSpec, TypeVar

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from psycopg import IsolationLevel

from claims.callers import Caller
from claims.kernel import keys
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
    name: Verb, *edges: str
) -> Callable[[Callable[Concatenate[Caller, P], T]], Callable[Concatenate[Caller, P], T | Refused]]:
    """Make a transition of a function that holds, decides and advances.

    ``edges`` are the edges it may take, as its docstring names them. The function's first
    argument is the caller; it must not be called inside a transaction.
    """

    def wrap(function: Callable[Concatenate[Caller, P], T]) -> Callable[Concatenate[Caller, P], T | Refused]:
        @wraps(function)
        def call(caller: Caller, /, *args: P.args, **kwargs: P.kwargs) -> T | Refused:
            return _run(name, caller, partial(function, caller, *args, **kwargs), (*args, *kwargs.values()))

        call.verb, call.edges = name, edges  # type: ignore[attr-defined]
        return call

    return wrap


def _run(name: Verb, caller: Caller, function: Callable[[], T], args: tuple[object, ...]) -> T | Refused:
    for attempt in range(TRIES):
        try:
            outcome = _once(name, caller, function)
        except CommitLost as lost:
            return unknown(name, lost)
        except DatabaseError as error:
            state = getattr(error.__cause__, "sqlstate", None)
            if state in _AGAIN and attempt + 1 < TRIES:
                time.sleep(random.uniform(0.005, 0.05) * (attempt + 1))  # noqa: S311 - jitter, not a secret
                continue
            if state not in _BUSY | _AGAIN:
                raise
            outcome = Refused(Why.BUSY)
        if isinstance(outcome, Refused):
            _record(name, caller, outcome, args)
        return outcome
    raise AssertionError("unreachable: the last try returns or raises")


class CommitLost(Exception):
    """The connection was lost while COMMIT was on its way."""


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


def _once(name: Verb, caller: Caller, function: Callable[[], T]) -> T | Refused:
    is_committing = False
    try:
        with transaction.atomic(durable=True):
            _assert_read_committed()
            outcome = _answer(name, caller, function)
            if isinstance(outcome, Refused):
                transaction.set_rollback(True)
            else:
                is_committing = True
    except (OperationalError, InterfaceError) as error:
        if is_committing and was_cut_off(error):
            raise CommitLost(str(error)) from error
        raise
    return outcome


def _answer(name: Verb, caller: Caller, function: Callable[[], T]) -> T | Refused:
    before = keys.find(caller, name)
    if before is not None:
        return before  # type: ignore[return-value]
    outcome = function()
    if not isinstance(outcome, Refused):
        keys.keep(caller, name, outcome)  # type: ignore[arg-type]
    return outcome


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
