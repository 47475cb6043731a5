"""Running a read: rows as tuples or under the names of the JSON API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

import orjson
from django.db import connection

Row = dict[str, Any]


def rows(statement: LiteralString, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every row of a bounded statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def named(statement: LiteralString, values: Sequence[Any]) -> list[Row]:
    """Every row of a bounded statement, its columns under the names the statement gives them."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def raw_json(text: str) -> orjson.Fragment:
    """A ``jsonb`` column as it left the database, to be put into an answer without reading it."""
    return orjson.Fragment(text.encode())
