"""Two attempts' diffs beside each other, file by file. Each side is drawn as the decision page draws it.

Promises: a file that both change alike is said once and not drawn; what is drawn is bounded, and what
is left out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from claims.selectors.provenance import Rival
from reviews.desk import evidence, reading
from reviews.desk.evidence.diffing import FILE_BYTES, Entry
from reviews.desk.viewers.interdiff import between
from reviews.desk.viewers.patch import Hunk

FILES_BESIDE = 30
ROWS_BESIDE = 1_500
"""Changed lines of both sides that are drawn for one page."""
ABSENT = "Leaves this file alone."


@dataclass(frozen=True, slots=True)
class Side:
    """One attempt's change of one file; ``note`` stands where nothing is drawn."""

    added: int = 0
    removed: int = 0
    standing: str = ""
    html: SafeString | str = ""
    rows_left: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One file in both; ``is_same``: the two change it alike."""

    path: str
    sides: tuple[Side, Side]
    is_same: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """All files of the two, those that differ first. ``thin`` says what cannot be read."""

    pairs: tuple[Pair, ...] = ()
    same: int = 0
    left_out: int = 0
    thin: str = ""


@dataclass(frozen=True, slots=True)
class _Diff:
    """One side's diffs and the files in them."""

    digests: tuple[str, ...]
    files: dict[str, Entry]


def beside(one: Rival, other: Rival) -> Beside:
    """The diffs of two attempts."""
    try:
        left, right = _diff(one), _diff(other)
        return _pairs(left, right)
    except reading.Missing:
        return Beside(thin="The evidence storage does not have the bytes of one of the two any more.")


def has_diff(rival: Rival) -> bool:
    """Whether there is anything to lay beside another."""
    return bool(evidence.diffs_of(rival.items))


def _diff(rival: Rival) -> _Diff:
    diffs = evidence.diffs_of(rival.items)
    facts = rival.delivery.facts if rival.delivery and isinstance(rival.delivery.facts, dict) else {}
    entries = evidence.entries_of(diffs, facts)
    return _Diff(tuple(item.sha256 for item in diffs), {entry.path: entry for entry in entries})


def _pairs(left: _Diff, right: _Diff) -> Beside:
    found: list[Pair] = []
    rows, same, left_out = ROWS_BESIDE, 0, 0
    for path in [*left.files, *(path for path in right.files if path not in left.files)]:
        mine, theirs = left.files.get(path), right.files.get(path)
        changed = sum(entry.changed for entry in (mine, theirs) if entry)
        if mine and theirs and _alike(left, mine, right, theirs):
            same += 1
            continue
        if len(found) >= FILES_BESIDE:
            left_out += 1
            continue
        draws = changed <= rows
        rows -= changed if draws else 0
        found.append(Pair(path, (_side(left, mine, 0, draws=draws), _side(right, theirs, 1, draws=draws))))
    return Beside(tuple(found), same, left_out)


def _alike(left: _Diff, mine: Entry, right: _Diff, theirs: Entry) -> bool:
    """Whether the two diffs of a file have the same lines; what is not compared is taken for different."""
    if mine.is_binary or theirs.is_binary or (mine.added, mine.removed) != (theirs.added, theirs.removed):
        return False
    if max(mine.size, theirs.size) > FILE_BYTES:
        return False
    found = between(_hunks(left, mine), _hunks(right, theirs))
    return not (found.came or found.went or found.is_cut)


def _hunks(diff: _Diff, entry: Entry) -> Sequence[Hunk]:
    return reading.hunks_at(diff.digests[entry.source], entry.start, entry.size)


def _side(diff: _Diff, entry: Entry | None, side: int, *, draws: bool) -> Side:
    if entry is None:
        return Side(note=ABSENT)
    plain = Side(entry.added, entry.removed, entry.standing)
    if entry.is_binary:
        return _noted(plain, "A binary file: its bytes are not drawn.")
    if entry.is_large or not draws:
        return _noted(
            plain, f"{entry.changed:,} changed lines: too many to draw here. Download the diff to read them."
        )
    # An id of the page names one line: the sides take turns with the indexes.
    asked = reading.AskedFile(
        diff.digests[entry.source], entry.start, entry.size, 2 * entry.index + side, entry.path
    )
    drawn = reading.drawn_file(asked)
    return Side(entry.added, entry.removed, entry.standing, drawn.html, drawn.rows - drawn.shown)


def _noted(side: Side, note: str) -> Side:
    return Side(side.added, side.removed, side.standing, note=note)
