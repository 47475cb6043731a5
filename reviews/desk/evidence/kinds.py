"""Small readings shared by the parts of the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.dateparse import parse_datetime

from claims.canonical import Item
from claims.vocabulary import EvidenceKind

GONE = "The evidence storage does not have these bytes, or does not answer. Verdicts can still be given."


def of_kind(items: Iterable[Item], *kinds: EvidenceKind) -> list[Item]:
    """The items of some kinds, in the manifest's order."""
    return [item for item in items if item.kind in kinds]


def named(items: Sequence[Item] | None, item: Item) -> Item | None:
    """The item of the same kind and name in another round."""
    return next((one for one in items or () if (one.kind, one.name) == (item.kind, item.name)), None)


def whole(value: object) -> int | None:
    """A whole number of somebody's JSON; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def moment(value: object) -> Any:
    """A time of somebody's JSON; None for anything else."""
    try:
        return parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None
