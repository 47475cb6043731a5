"""What stands around the changes: long context folded, gaps filled where the evidence holds the file. Pure.

A diff carries a few lines around each change. More of the file can be shown only where the
delivery carries the file itself, and only while its lines agree with the diff at every line that
both have; else a gap is counted and said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reviews.desk.viewers.patch import Hunk, Row

KEPT = 6
"""Unchanged lines kept on each side of a change; more are folded."""
SHORTEST_FOLD = 8


def placed(hunks: Sequence[Hunk], whole: Sequence[str] | None, *, show_all: bool) -> list[Hunk]:
    """The hunks with their gaps; ``whole`` is the file after the change, ``show_all`` opens what can be shown."""
    with_gaps = _with_gaps(hunks)
    known = whole if whole is not None and agrees(hunks, whole) else None
    if show_all:
        return _filled(with_gaps, known) if known is not None else with_gaps
    marked = [replace(hunk, can_show=known is not None) for hunk in with_gaps]
    return [part for hunk in marked for part in _folded(hunk)]


def agrees(hunks: Sequence[Hunk], whole: Sequence[str]) -> bool:
    """Whether each line that the diff has on its new side is the file's line of that number."""
    rows = (row for hunk in hunks for row in hunk.rows if row.new is not None)
    return all(0 < row.new <= len(whole) and whole[row.new - 1] == row.text for row in rows if row.new)


def _with_gaps(hunks: Sequence[Hunk]) -> list[Hunk]:
    found, end = [], 1
    for hunk in hunks:
        found.append(replace(hunk, gap=max(0, hunk.new - end)))
        end = hunk.new + sum(row.new is not None for row in hunk.rows)
    return found


def _filled(hunks: Sequence[Hunk], whole: Sequence[str]) -> list[Hunk]:
    """One hunk from the first line to the last: the evidence has them all."""
    rows: list[Row] = []
    shift, at = 0, 1
    for hunk in hunks:
        shift = hunk.new - hunk.old
        rows += _unchanged(whole, at, hunk.new, shift)
        rows += hunk.rows
        at = hunk.new + sum(row.new is not None for row in hunk.rows)
        shift += sum((row.new is not None) - (row.old is not None) for row in hunk.rows)
    rows += _unchanged(whole, at, len(whole) + 1, shift)
    return [Hunk("the whole file", "", tuple(rows), 1, 1)] if rows else []


def _unchanged(whole: Sequence[str], start: int, end: int, shift: int) -> Iterator[Row]:
    for number in range(start, end):
        yield Row("same", number - shift, number, whole[number - 1])


def _folded(hunk: Hunk) -> Iterator[Hunk]:
    """The hunk in parts, the middle of long unchanged stretches left out; the diff itself holds them."""
    start, at, gap = 0, 0, 0
    parts: list[Hunk] = []
    while at < len(hunk.rows):
        run = _run(hunk.rows, at)
        keep_before = KEPT if at else 0
        keep_after = KEPT if at + run < len(hunk.rows) else 0
        folded = run - keep_before - keep_after
        if folded >= SHORTEST_FOLD:
            parts += _part(hunk, start, at + keep_before, gap, is_first=not parts)
            start, gap = at + run - keep_after, folded
        at += max(1, run)
    yield from parts
    yield from _part(hunk, start, len(hunk.rows), gap, is_first=not parts)


def _run(rows: Sequence[Row], at: int) -> int:
    count = 0
    while at + count < len(rows) and rows[at + count].kind == "same":
        count += 1
    return count


def _part(hunk: Hunk, start: int, end: int, gap: int, *, is_first: bool) -> list[Hunk]:
    rows = hunk.rows[start:end]
    if not rows:
        return []
    if start == 0 and is_first:
        return [replace(hunk, rows=rows)]
    if is_first and not gap:
        gap = hunk.gap
    return [Hunk("", "", rows, rows[0].old or 0, rows[0].new or 0, gap, can_show=True)]
