"""What became of a transaction whose COMMIT was not answered (claim.v1 section 7, invariant 7).

Promises: success or failure is said only where PostgreSQL itself says it, on a new connection;
a commit that another server might not have is never called a success.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import DatabaseError, connection

_SYNC_WAIT = "SyncRepWaitForLSN"
_own_transaction: ContextVar[str | None] = ContextVar("own_transaction", default=None)


@dataclass(slots=True)
class Watch:
    """``is_unreplicated``: PostgreSQL warned that it stopped waiting for its standby."""

    is_unreplicated: bool = False

    def hear(self, notice: psycopg.errors.Diagnostic) -> None:
        """Take note of one notice. The source function is the same in every language."""
        if notice.source_function == _SYNC_WAIT:
            self.is_unreplicated = True


@contextmanager
def watched() -> Iterator[Watch]:
    """Listen to what PostgreSQL says while it commits."""
    connection.ensure_connection()
    raw: psycopg.Connection[Any] = connection.connection
    watch = Watch()
    raw.add_notice_handler(watch.hear)
    try:
        yield watch
    finally:
        raw.remove_notice_handler(watch.hear)


def begin() -> None:
    """Forget the transaction of an earlier verb."""
    _own_transaction.set(None)


def remember(transaction_id: str | None) -> None:
    """Keep the id of the running transaction, as the write itself reported it."""
    _own_transaction.set(transaction_id)


def is_committed() -> bool | None:
    """Whether the remembered transaction was committed; None where nobody can say yet.

    Asked on a new connection, because the old one is gone.
    """
    transaction_id = _own_transaction.get()
    if transaction_id is None:
        return None
    connection.close()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_xact_status(%s::text::xid8)", [transaction_id])
            row = cursor.fetchone()
    except DatabaseError:
        return None
    return {"committed": True, "aborted": False}.get(row[0]) if row else None
