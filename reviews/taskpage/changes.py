"""Which fields an entry of the timeline changed, each with its value before and after. Pure but for ``of_page``.

Promises: at most ``MOST`` fields an entry, the rest counted; a long text is cut and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from claims.models import History, Task
from claims.selectors import changed, people
from claims.vocabulary import ActorKind, Verb
from reviews.taskpage import asked
from reviews.taskpage.scheduling import COLUMNS, WORDS, in_words, shown_time

MOST, LONGEST = 20, 300


@dataclass(frozen=True, slots=True)
class Changed:
    """One field; an empty text is a field that is not there."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Known:
    """What the entries of a page are told with: people, groups, and the inputs of revisions."""

    people: Mapping[int, str]
    groups: Mapping[int, str]
    inputs: Mapping[int, Mapping[str, Any]]


def known_for(task: Task, rows: Sequence[History], others: Sequence[int]) -> Known:
    """All that is needed for a page of the timeline; ``others`` are further people. Three queries at most."""
    named = {column: set(_ids(rows, column)) for column in ("reviewer_id", "reviewer_group_id")}
    actors = {row.actor_id for row in rows if row.actor_kind == ActorKind.PERSON}
    revised = any(row.verb == Verb.REVISE for row in rows)
    revisions = [task.revision + step for step in (-1, 0, 1)] if revised else []
    return Known(
        people.names(named["reviewer_id"] | actors | set(others)),
        changed.groups(named["reviewer_group_id"]),
        changed.inputs(task.lineage_id, revisions),
    )


def _ids(rows: Sequence[History], column: str) -> Iterator[int]:
    for row in rows:
        pair = _pairs(row).get(column)
        yield from (one for one in pair or () if isinstance(one, int))


def _pairs(row: History) -> Mapping[str, Any]:
    """Of an adjustment: each column with its value before and after."""
    found = row.body.get("changed") if row.verb == Verb.ADJUST else None
    return found if isinstance(found, dict) else {}


def of_entry(row: History, revision: int, known: Known) -> list[Changed]:
    """The fields an entry changed, in the order of the forms."""
    if row.verb == Verb.REVISE:
        return _bounded(_revised(row, revision, known))
    pairs = _pairs(row)
    return [
        Changed(WORDS[name], *(_value(column, name, value, known) for value in pairs[column]))
        for column, name in COLUMNS.items()
        if isinstance(pairs.get(column), list) and len(pairs[column]) == 2
    ]


def _value(column: str, name: str, value: Any, known: Known) -> str:
    if value is None:
        return in_words(name, "")
    if column == "reviewer_id":
        return known.people.get(value, f"person {value}")
    if column == "reviewer_group_id":
        return known.groups.get(value, f"group {value}")
    if column == "not_before":
        return in_words(name, shown_time(datetime.fromisoformat(str(value))))
    return in_words(name, str(value))


def _revised(row: History, revision: int, known: Known) -> Iterator[Changed]:
    """From the revision before to the one the entry made: this one, or the one that takes its place.

    The title of a row that is final stays; that of the new one is told where the entry itself keeps it.
    """
    made = revision if not row.from_state else revision + 1
    before, after = known.inputs.get(made - 1), known.inputs.get(made)
    if before is None or after is None:
        return
    title = str(row.body.get("title") or before.get("title") or "")
    after = {**after, "title": title}
    base, now, same = asked.sides_of(before, after, after)
    for one in asked.rows_of(base, now, same):
        yield Changed(one.name, _cut(one.base), _cut(one.now))


def _bounded(found: Iterator[Changed]) -> list[Changed]:
    rows = list(found)
    if len(rows) <= MOST:
        return rows
    return [*rows[:MOST], Changed(f"and {len(rows) - MOST} more", "", "")]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} … (cut)"
