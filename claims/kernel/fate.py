"""What became of a transaction whose COMMIT was not answered (claim.v1 section 7, invariant 7).

Promises: success or failure is said only where PostgreSQL itself says it, on a new connection;
a commit that a synchronous standby might not have is never called a success, not even when it
is asked for again.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import psycopg
from django.db import DatabaseError, connection

_SYNC_WAIT = "SyncRepWaitForLSN"
_STATUS = "SELECT pg_xact_status(%s::text::xid8), current_setting('synchronous_standby_names') <> ''"
_LEAN = (
    "SELECT pg_logical_emit_message(true, 'fencepost', '') WHERE pg_current_xact_id_if_assigned() IS NULL"
    " AND current_setting('synchronous_standby_names') <> ''"
)
_own_transaction: ContextVar[str | None] = ContextVar("own_transaction", default=None)


class Watch:
    """Listens to what PostgreSQL says while it commits, inside a ``with``.

    ``is_unreplicated``: it warned that it stopped waiting for its standby.
    """

    __slots__ = ("_raw", "is_unreplicated")

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self._raw = raw
        self.is_unreplicated = False

    def __enter__(self) -> Watch:
        self._raw.add_notice_handler(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.remove_notice_handler(self._hear)

    def _hear(self, notice: psycopg.errors.Diagnostic) -> None:
        """Take note of one notice. The source function is the same in every language."""
        if notice.source_function == _SYNC_WAIT:
            self.is_unreplicated = True


def watched() -> Watch:
    """A watch on this thread's connection."""
    connection.ensure_connection()
    return Watch(connection.connection)


def begin() -> None:
    """Forget the transaction of an earlier verb."""
    _own_transaction.set(None)


def remember(transaction_id: str | None) -> None:
    """Keep the id of the running transaction, as the write itself reported it."""
    _own_transaction.set(transaction_id)


def lean_on_earlier() -> None:
    """Let the running transaction, should it have written nothing, wait for the standby when it commits.

    Its answer tells of what an earlier transaction wrote. Where a standby is to have that first,
    one record in the log makes this commit wait until the standby has all that came before.
    """
    if _own_transaction.get() is None:
        with connection.cursor() as cursor:
            cursor.execute(_LEAN)


def is_committed() -> bool | None:
    """Whether the remembered transaction was committed; None where nobody can say yet.

    Asked on a new connection, because the old one is gone. A commit that only this server is
    known to have is none that can be told of where a synchronous standby is to have it, too.
    """
    transaction_id = _own_transaction.get()
    if transaction_id is None:
        return None
    connection.close()
    try:
        with connection.cursor() as cursor:
            cursor.execute(_STATUS, [transaction_id])
            status, has_standby = cursor.fetchone()
    except DatabaseError:
        return None
    if status == "committed" and has_standby:
        return None
    return {"committed": True, "aborted": False}.get(status)
