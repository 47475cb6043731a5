"""A check taken out of the tables of the tests' database, which would take long to make anew.

The migrations say what the tables check. A mutant of one of them is brought about by what its line
comes to: a function with the same words taken out, or a trigger dropped; it is put back afterwards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg

from tests.support.mutants.mutant import Mutant

_TRIGGER = re.compile(r"pgid='(\w+)', table='(\w+)'")
_FUNCTIONS = """SELECT pg_get_functiondef(oid) FROM pg_proc
 WHERE pronamespace = 'public'::regnamespace AND position(%s in prosrc) > 0"""
_DEFINITION = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = %s AND tgrelid = %s::regclass"

Row = tuple[str, ...]


@contextmanager
def tables_without(mutant: Mutant, database: str) -> Iterator[None]:
    """Take the mutant's check out of a database while the block runs; nothing for other mutants."""
    if not mutant.is_of_tables:
        yield
        return
    url = urlsplit(os.environ["FENCEPOST_DATABASE_URL"])._replace(path=f"/{database}").geturl()
    with psycopg.connect(url, autocommit=True) as connection:
        without, again = _both_ways(connection, mutant)
        _execute(connection, without)
        try:
            yield
        finally:
            _execute(connection, again)


def _both_ways(connection: psycopg.Connection[Row], mutant: Mutant) -> tuple[list[str], list[str]]:
    """The statements that take the check out, and those that put it back.

    Raises ``LookupError`` where the tables have no such check.
    """
    functions = [row[0] for row in connection.execute(_FUNCTIONS, [mutant.old])]
    if functions:
        return [function.replace(mutant.old, mutant.new) for function in functions], functions
    line = next(line for line in mutant.text().splitlines() if mutant.new in line)
    found = _TRIGGER.search(line)
    row = connection.execute(_DEFINITION, found.groups()).fetchone() if found else None
    if found is None or row is None:
        raise LookupError(f"{mutant.name}: the tables have no such check")
    return [f"DROP TRIGGER {found[1]} ON {found[2]}"], [row[0]]


def _execute(connection: psycopg.Connection[Row], statements: Sequence[str]) -> None:
    for statement in statements:
        connection.execute(statement.encode())
