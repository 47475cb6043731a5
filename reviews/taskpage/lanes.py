"""The lanes of a timeline: one a generation that held authority, dashed once it was lost. Pure.

Promises: a lane is solid exactly while its fence could write or be committed; after the loss it goes
on dashed up to the last refusal of that attempt and no further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from reviews.taskpage.entries import Cell, Entry

MOST = 6
"""Lanes drawn at most: those that were refused first, then the newest."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One attempt and its generation."""

    attempt: UUID
    generation: int


def lanes_of(entries: Sequence[Entry], generations: dict[UUID, int]) -> list[Lane]:
    """The lanes that the entries touch, by generation; at most ``MOST``."""
    touched = {key for entry in entries for key in (entry.attempt, entry.new_attempt) if key in generations}
    refused = {entry.attempt for entry in entries if entry.refusal}
    first = sorted(touched, key=lambda key: (key not in refused, -generations[key]))[:MOST]
    return [Lane(key, generations[key]) for key in sorted(first, key=lambda key: generations[key])]


def drawn(entries: Sequence[Entry], lanes: Sequence[Lane]) -> list[Entry]:
    """The entries with a cell for each lane."""
    columns = [_column(entries, lane) for lane in lanes]
    return [replace(entry, cells=tuple(column[at] for column in columns)) for at, entry in enumerate(entries)]


def live_codes(entries: Sequence[Entry], lanes: Sequence[Lane]) -> list[str]:
    """For the line after the last entry: the colour of each lane that can still write, else nothing."""
    return [_walk(entries, lane)[1] for lane in lanes]


def _column(entries: Sequence[Entry], lane: Lane) -> list[Cell]:
    return _walk(entries, lane)[0]


def _walk(entries: Sequence[Entry], lane: Lane) -> tuple[list[Cell], str]:
    """Every cell of one lane, and its colour at the end when it is still alive."""
    key = lane.attempt
    last_refusal = max(
        (at for at, entry in enumerate(entries) if entry.attempt == key and entry.refusal), default=-1
    )
    code = _code_before(entries, key)
    begins = next((at for at, entry in enumerate(entries) if entry.new_attempt == key), -1)
    cells = []
    for at, entry in enumerate(entries):
        is_dashed, is_last = begins <= at < last_refusal, at == last_refusal
        cell, code = _step(entry, key, code, is_refused_later=is_dashed, is_last_refusal=is_last)
        cells.append(cell)
    return cells, code


def _code_before(entries: Sequence[Entry], key: UUID) -> str:
    """The lane's colour above the first entry: of an attempt whose grant is on an older page."""
    for entry in entries:
        if entry.new_attempt == key or (entry.attempt == key and entry.refusal):
            return ""
        if entry.attempt == key and entry.before != "REFUSED":
            return entry.before or "CLAIMED"
    return ""


def _step(
    entry: Entry, key: UUID, code: str, *, is_refused_later: bool, is_last_refusal: bool
) -> tuple[Cell, str]:
    if entry.new_attempt == key:
        return Cell("on", entry.after, starts=True, marks=True), entry.after
    if code and entry.new_attempt is not None:
        return Cell("on", entry.after, ends=True, marks=True, ghost_begins=is_refused_later), ""
    if entry.before == "REFUSED" or entry.attempt != key:
        if code:
            return Cell("on", code), code
        if is_last_refusal:
            return Cell("ghost", ends=True, refused=True), ""
        return Cell("ghost" if is_refused_later else ""), ""
    if not code:
        return Cell(), ""
    if entry.after not in ("CLAIMED", "DELIVERED"):
        return Cell("on", entry.after, ends=True, marks=True, ghost_begins=is_refused_later), ""
    return Cell("on", entry.after, marks=True), entry.after
