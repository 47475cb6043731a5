"""What only somebody with the rights of the database's owner could do: rows changed past their guards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from claims.checking.history import line
from claims.checking.reading import told
from claims.kernel.writing import GENESIS, chain


@contextmanager
def unguarded(*tables: str) -> Iterator[Any]:
    """A cursor while the triggers of these tables are off, which their owner may do without being a superuser."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE claims_{table} DISABLE TRIGGER USER")
        yield cursor
        for table in tables:
            cursor.execute(f"ALTER TABLE claims_{table} ENABLE TRIGGER USER")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def plant(table: str, statement: str, *values: object) -> None:
    """One statement on one table, past its triggers; it must change something."""
    with unguarded(table) as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount > 0, "nothing was planted"


def forge(task_id: UUID, version: int, change: str, *values: object) -> None:
    """Rewrite one row of a history, and hash the chain anew so that it verifies."""
    plant(
        "history",
        f"UPDATE claims_history SET {change} WHERE task_id = %s AND state_version = %s",
        *values,
        task_id,
        version,
    )
    rehash(task_id)


def rehash(task_id: UUID) -> None:
    """Hash a whole history anew, and let the task name its last row."""
    with unguarded("history", "task") as cursor:
        previous = GENESIS
        for row in told(task_id):
            previous = chain(previous, line(row))
            cursor.execute("UPDATE claims_history SET hash = %s WHERE id = %s", [previous, row.id])
        cursor.execute("UPDATE claims_task SET history_hash = %s WHERE id = %s", [previous, task_id])
