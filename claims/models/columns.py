"""Column kinds shared by the tables."""

from __future__ import annotations

from enum import StrEnum
from typing import Any
from uuid import UUID

import uuid_utils.compat
from django.db import models
from django.db.models import Q


def new_id() -> UUID:
    """A UUIDv7 (RFC 9562): ordered by time, so that index pages fill in order."""
    return uuid_utils.compat.uuid7()


def word(words: type[StrEnum], **options: Any) -> models.CharField[str, str]:
    """A column that holds one word of a list of ``vocabulary``; ``one_of`` is its CHECK."""
    return models.CharField(max_length=20, **options)


def one_of(column: str, words: type[StrEnum], *, null: bool = False) -> models.CheckConstraint:
    """The CHECK that a column holds a word of the list, or nothing where it may be null."""
    condition = Q(**{f"{column}__in": [word.value for word in words]})
    if null:
        condition |= Q(**{f"{column}__isnull": True})
    return models.CheckConstraint(condition=condition, name=f"%(class)s_{column}_is_a_word")


def whole(table: str, *columns: str) -> models.CheckConstraint:
    """The CHECK that the columns of a row of the hot path fit each other, by the function ``claims_<table>_is_whole``.

    PostgreSQL parses the text of every CHECK again for each statement, but keeps the plan of a
    function; several CHECKs cost an update more than the write itself. The function answers
    false never: it names the rule that is broken, as a CHECK of that name would be named.
    """
    condition = models.Func(*columns, function=f"claims_{table}_is_whole", output_field=models.BooleanField())
    return models.CheckConstraint(condition=condition, name=f"{table}_is_whole")


def loose(to: str, **options: Any) -> models.ForeignKey[Any, Any]:
    """A reference without a database constraint, for rows written on the hot path.

    A constraint would lock the referenced row at every write, and many writers of one row
    make MultiXacts; what it guards is guarded by the kernel instead.
    """
    options.setdefault("db_index", False)
    return models.ForeignKey(
        to, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", **options
    )
