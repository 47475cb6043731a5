"""One prepared call straight to libpq, for the verbs that are asked for all the time.

A cursor costs several times what it carries here: it looks up how to write each value and how
to read each column at every call. What a function of ``0003_hot_verbs`` takes and answers is
text, so nothing is looked up. The call is a transaction of its own, in one round trip.
"""

from __future__ import annotations

from dataclasses import dataclass
from select import POLLIN, poll
from typing import Any, LiteralString
from weakref import WeakKeyDictionary

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from claims.kernel import fate

_prepared: WeakKeyDictionary[psycopg.Connection[Any], set[bytes]] = WeakKeyDictionary()
_GONE = b"26000"


@dataclass(frozen=True, slots=True)
class Answer:
    """``text`` is what the function answered; ``is_unreplicated``: PostgreSQL stopped waiting for its standby."""

    text: str | None
    is_unreplicated: bool


def ask(function: LiteralString, *values: object) -> Answer:
    """What a database function of these values answers. Raises Django's database errors.

    Values are written as ``str`` writes them, None as NULL.
    """
    base = connections[DEFAULT_DB_ALIAS]
    raw = _alive(base)
    with fate.Watch(raw) as watch:
        if not raw.autocommit or not settings.FENCEPOST_PREPARED_STATEMENTS:
            return Answer(_ask_by_cursor(function, values), watch.is_unreplicated)
        name = function.encode()
        written: list[Any] = [None if value is None else str(value).encode() for value in values]
        with base.wrap_database_errors:
            result = _execute(raw, name, written)
    answer = result.get_value(0, 0)
    return Answer(None if answer is None else str(answer, "utf-8"), watch.is_unreplicated)


def _execute(raw: psycopg.Connection[Any], name: bytes, written: list[Any]) -> PGresult:
    if name not in _prepared.setdefault(raw, set()):
        _prepare(raw, name, len(written))
    result = raw.pgconn.exec_prepared(name, written)
    if result.status != ExecStatus.TUPLES_OK and result.error_field(DiagnosticField.SQLSTATE) == _GONE:
        # psycopg makes the server forget all prepared statements after a rollback.
        _prepare(raw, name, len(written))
        result = raw.pgconn.exec_prepared(name, written)
    _check(result, ExecStatus.TUPLES_OK)
    return result


def _alive(base: BaseDatabaseWrapper) -> psycopg.Connection[Any]:
    """The connection of this thread. One that has something to say before it was asked is looked at first:

    that is how a server that went away meanwhile shows, and what is then sent again changed nothing.
    """
    base.ensure_connection()
    raw: psycopg.Connection[Any] = base.connection
    if not base.health_check_done:  # type: ignore[attr-defined]
        waiting = poll()
        waiting.register(raw.pgconn.socket, POLLIN)
        if waiting.poll(0):
            base.close_if_health_check_failed()
            base.ensure_connection()
            raw = base.connection
        base.health_check_done = True  # type: ignore[attr-defined]
    return raw


def _prepare(raw: psycopg.Connection[Any], name: bytes, count: int) -> None:
    places = b", ".join(b"$%d" % number for number in range(1, count + 1))
    result = raw.pgconn.prepare(name, b"SELECT " + name + b"(" + places + b")")
    _check(result, ExecStatus.COMMAND_OK)
    _prepared[raw].add(name)


def _check(result: PGresult, wanted: ExecStatus) -> None:
    """Raise what the server says is wrong; where it says nothing, the connection ended."""
    if result.status == wanted:
        return
    if result.error_field(DiagnosticField.SQLSTATE) is None:
        raise psycopg.OperationalError(str(result.error_message, "utf-8", "replace").strip())
    raise error_from_result(result)


def _ask_by_cursor(function: LiteralString, values: tuple[object, ...]) -> str | None:
    """Where a transaction is open, or a pooler in between forbids prepared statements."""
    places = ", ".join(["%s"] * len(values))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {function}({places})", [None if value is None else str(value) for value in values]
        )
        row = cursor.fetchone()
    return None if row is None else row[0]
