"""Two attempts' diffs beside each other, file by file. Each side is drawn as the decision page draws it.

Promises: a file that both change alike is said once and not drawn; what is compared and drawn for one
page is bounded, what waits has an address of its own, and what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from claims.selectors.provenance import Rival
from reviews.desk import evidence, reading
from reviews.desk.evidence.diffing import FILE_BYTES, LARGEST_FILE, Entry
from reviews.desk.viewers.interdiff import between
from reviews.desk.viewers.patch import Hunk

FILES_BESIDE = 30
LINES_BESIDE = 400
"""Changed lines of both sides that are drawn with the page; a file beyond them waits at its own address."""
LINES_COMPARED = 2_500
"""Changed lines of both sides that are compared for one page, some 50 ms of work."""
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
    """One file in both. ``waits``: it is drawn at an address of its own."""

    path: str
    sides: tuple[Side, Side]
    waits: bool = False


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


def beside(one: Rival, other: Rival, path: str = "") -> Beside:
    """The diffs of two attempts; of one file alone where ``path`` names one."""
    try:
        left, right = _diff(one), _diff(other)
        return _only(left, right, path) if path else _pairs(left, right)
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


def _only(left: _Diff, right: _Diff, path: str) -> Beside:
    mine, theirs = left.files.get(path), right.files.get(path)
    if mine is None and theirs is None:
        return Beside(thin=f"Neither of the two changes {path}.")
    return Beside((_pair(path, left, mine, right, theirs, draws=True),))


def _pairs(left: _Diff, right: _Diff) -> Beside:
    paths = [*left.files, *(path for path in right.files if path not in left.files)]
    if left.digests == right.digests:
        return Beside(same=len(paths))
    found: list[Pair] = []
    compared, lines, same = LINES_COMPARED, LINES_BESIDE, 0
    for at, path in enumerate(paths):
        mine, theirs = left.files.get(path), right.files.get(path)
        changed = sum(entry.changed for entry in (mine, theirs) if entry)
        if mine and theirs:
            compared -= changed
            if compared >= 0 and _alike(left, mine, right, theirs):
                same += 1
                continue
        if len(found) >= FILES_BESIDE or compared < 0:
            return Beside(tuple(found), same, len(paths) - at)
        draws = changed <= lines and not any(entry.is_large for entry in (mine, theirs) if entry)
        lines -= changed if draws else 0
        found.append(_pair(path, left, mine, right, theirs, draws=draws))
    return Beside(tuple(found), same)


def _pair(
    path: str, left: _Diff, mine: Entry | None, right: _Diff, theirs: Entry | None, *, draws: bool
) -> Pair:
    sides = (_side(left, mine, 0, draws=draws), _side(right, theirs, 1, draws=draws))
    return Pair(path, sides, waits=not draws)


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
    if not draws:
        return _noted(plain, f"{entry.changed:,} changed lines.")
    if entry.size > LARGEST_FILE:
        return _noted(plain, "Too large to draw. Download the diff to read it.")
    # An id of the page names one line: the sides take turns with the indexes.
    asked = reading.AskedFile(
        diff.digests[entry.source], entry.start, entry.size, 2 * entry.index + side, entry.path
    )
    drawn = reading.drawn_file(asked)
    return Side(entry.added, entry.removed, entry.standing, drawn.html, drawn.rows - drawn.shown)


def _noted(side: Side, note: str) -> Side:
    return Side(side.added, side.removed, side.standing, note=note)
