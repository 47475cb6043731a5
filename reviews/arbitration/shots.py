"""Screenshots of two attempts, paired by name. Each is a picture that the server draws anew.

Promises: a picture that is missing, damaged or too large is a sentence; the list is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from claims.canonical import Item
from claims.selectors.provenance import Rival
from claims.vocabulary import EvidenceKind
from reviews.desk import evidence, reading
from reviews.desk.viewers.pictures import NotAPicture, Size

SHOTS_BESIDE = 12
"""Names of screenshots that are laid side by side; more are in the lists of evidence."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One side: ``note`` stands where no picture can be drawn."""

    sha256: str = ""
    size: Size | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One name in both attempts; ``is_same``: the very same bytes."""

    name: str
    sides: tuple[Picture, Picture]
    is_same: bool


def pairs(one: Rival, other: Rival) -> list[Pair]:
    """The screenshots of two attempts, in the order of the first one's manifest."""
    return list(_pairs(_named(one), _named(other)))[:SHOTS_BESIDE]


def _named(rival: Rival) -> dict[str, Item]:
    return {item.name: item for item in evidence.of_kind(rival.items, EvidenceKind.SCREENSHOT)}


def _pairs(left: dict[str, Item], right: dict[str, Item]) -> Iterator[Pair]:
    for name in [*left, *(name for name in right if name not in left)][:SHOTS_BESIDE]:
        mine, theirs = left.get(name), right.get(name)
        is_same = bool(mine and theirs and mine.sha256 == theirs.sha256)
        yield Pair(name, (_picture(mine), _picture(theirs)), is_same)


def _picture(item: Item | None) -> Picture:
    if item is None:
        return Picture(note="No such screenshot.")
    try:
        return Picture(item.sha256, reading.size_of(item.sha256))
    except NotAPicture as flaw:
        return Picture(item.sha256, note=str(flaw))
    except reading.Missing:
        return Picture(item.sha256, note="The evidence storage does not have these bytes any more.")
