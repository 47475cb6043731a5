"""A diff without changes of white space: lines that differ in nothing else count as unchanged. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from reviews.desk.viewers.patch import Hunk, Row

LONGEST_RUN = 400
"""Lines of one change that are compared with each other; a longer one is compared line by line."""


def without_spacing(hunks: Sequence[Hunk]) -> tuple[list[Hunk], int]:
    """The hunks with such lines as context, and how many lines that hid."""
    kept: list[Hunk] = []
    hidden = 0
    for hunk in hunks:
        rows = tuple(_rows(hunk.rows))
        hidden += sum(row.kind != "same" for row in hunk.rows) - sum(row.kind != "same" for row in rows)
        if any(row.kind != "same" for row in rows):
            kept.append(replace(hunk, rows=rows))
    return kept, hidden


def _rows(rows: Sequence[Row]) -> Iterator[Row]:
    at = 0
    while at < len(rows):
        if rows[at].kind == "same":
            yield rows[at]
            at += 1
            continue
        end = at
        while end < len(rows) and rows[end].kind != "same":
            end += 1
        yield from _change(rows[at:end])
        at = end


def _change(rows: Sequence[Row]) -> Iterator[Row]:
    """One change, removed lines first: pairs that differ only in white space become unchanged lines."""
    old = [row for row in rows if row.kind == "del"]
    new = [row for row in rows if row.kind == "add"]
    at_old = at_new = 0
    for mine, theirs in _pairs(old, new):
        yield from old[at_old:mine]
        yield from new[at_new:theirs]
        yield Row("same", old[mine].old, new[theirs].new, new[theirs].text)
        at_old, at_new = mine + 1, theirs + 1
    yield from old[at_old:]
    yield from new[at_new:]


def _pairs(old: Sequence[Row], new: Sequence[Row]) -> Iterator[tuple[int, int]]:
    before, after = ["".join(row.text.split()) for row in old], ["".join(row.text.split()) for row in new]
    if max(len(before), len(after)) > LONGEST_RUN:
        if len(before) == len(after):
            yield from ((at, at) for at in range(len(before)) if before[at] == after[at])
        return
    for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            yield block.a + offset, block.b + offset
