"""Where two lines that replace each other differ, and which rows stand beside each other. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviews.desk.viewers.patch import Row
from reviews.desk.viewers.texts import LINE_LIMIT

Pair = tuple[int | None, int | None]
"""Positions of a row of the old side and one of the new side; None where a side has none."""


def marks_of(rows: Sequence[Row]) -> dict[int, tuple[int, int]]:
    """Where lines that replace each other differ: runs of as many removed as added lines, pair by pair."""
    found: dict[int, tuple[int, int]] = {}
    at = 0
    while at < len(rows):
        removed = _run(rows, at, "del")
        added = _run(rows, at + removed, "add")
        if removed and removed == added:
            for offset in range(removed):
                found.update(_differ(rows, at + offset, at + removed + offset))
        at += max(1, removed + added)
    return found


def pairs_of(rows: Sequence[Row]) -> Iterator[Pair]:
    """The rows side by side: context on both, removed lines beside the added ones after them."""
    at = 0
    while at < len(rows):
        if rows[at].kind == "same":
            yield at, at
            at += 1
            continue
        removed = _run(rows, at, "del")
        added = _run(rows, at + removed, "add")
        for offset in range(max(removed, added)):
            yield (
                at + offset if offset < removed else None,
                at + removed + offset if offset < added else None,
            )
        at += max(1, removed + added)


def _run(rows: Sequence[Row], at: int, kind: str) -> int:
    count = 0
    while at + count < len(rows) and rows[at + count].kind == kind:
        count += 1
    return count


def _differ(rows: Sequence[Row], before: int, after: int) -> dict[int, tuple[int, int]]:
    old, new = rows[before].text, rows[after].text
    if max(len(old), len(new)) > LINE_LIMIT:
        return {}
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    kept = start + end
    if kept == 0 or kept < max(len(old.strip()), len(new.strip())) // 3:
        return {}
    return {before: (start, len(old) - end), after: (start, len(new) - end)}
