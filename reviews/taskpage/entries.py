"""One entry of a task's timeline in words: what happened, who did it, under which fence. Pure.

Promises: a word of an agent or a person stands in quotes; equal refusals in a row are one entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from claims.models import History, Refusal
from claims.selectors.tasks import TimelinePage
from claims.vocabulary import ActorKind, AttemptOutcome, Verb
from reviews.taskpage.changes import Changed, Known, of_entry
from reviews.taskpage.telling import TRIED, chip_of, hint_of, quote_of, sentence_of

_LOST = ("FENCED", "CANCELLED", "STALE_INPUT")
"""Refusals that say that authority was lost: drawn as a panel on the lane that went dashed."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One lane beside one entry: ``line`` is on, ghost or nothing; ``code`` colours it."""

    line: str = ""
    code: str = ""
    starts: bool = False
    ends: bool = False
    marks: bool = False
    ghost_begins: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What one line of the timeline says. ``attempt`` is the lane it belongs to; ``new_attempt`` the one it begins."""

    at: datetime
    who: str
    text: str
    fence: tuple[int | None, int | None] | None = None
    chip: str = ""
    hint: str = ""
    quote: str = ""
    changes: Sequence[Changed] = ()
    attempt: UUID | None = None
    new_attempt: UUID | None = None
    before: str = ""
    after: str = ""
    refusal: Lost | None = None
    times: int = 1
    cells: tuple[Cell, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Lost:
    """A write of lost authority: what it presented, what was current, what was kept."""

    why: str
    sentence: str
    presented: tuple[int | None, int | None]
    current: tuple[int | None, int | None]
    holder: str
    state: str
    kept_files: int
    request_id: str


def entries_of(page: TimelinePage, known: Known, revision: int) -> list[Entry]:
    """The entries of one page, oldest first; equal refusals in a row become one that counts them.

    ``known`` has the names that pages call people by; history keeps the ones they sign in with.
    """
    changes = [(row.at, 0, _change(row, page, known, revision)) for row in page.history]
    refusals = [(row.at, 1, _refusal(row, page, known.people)) for row in page.refusals]
    ordered = [entry for _, _, entry in sorted([*changes, *refusals], key=lambda item: item[:2])]
    return _folded(ordered)


def _folded(entries: Sequence[Entry]) -> list[Entry]:
    folded: list[Entry] = []
    for entry in entries:
        last = folded[-1] if folded else None
        if (
            last
            and entry.before == "REFUSED" == last.before
            and (entry.who, entry.text, entry.attempt) == (last.who, last.text, last.attempt)
        ):
            folded[-1] = replace(entry, times=last.times + 1)
        else:
            folded.append(entry)
    return folded


def _who(row: History | Refusal, people: Mapping[int, str]) -> str:
    return people.get(row.actor_id, row.actor_name) if row.actor_kind == ActorKind.PERSON else row.actor_name


def _change(row: History, page: TimelinePage, known: Known, revision: int) -> Entry:
    body = row.body
    grants = "runner" in body
    ended = body.get("endedAttempt")
    return Entry(
        at=row.at,
        who=_who(row, known.people) if row.actor_kind != ActorKind.SYSTEM else "",
        text=sentence_of(row),
        fence=_fence(row, page) if grants else None,
        chip=chip_of(row),
        hint=hint_of(row),
        quote=quote_of(row),
        changes=of_entry(row, revision, known),
        attempt=UUID(ended) if ended else row.attempt_id,
        new_attempt=row.attempt_id if grants else None,
        before=row.from_state or "",
        after=_after(row),
    )


def _after(row: History) -> str:
    """The colour of the lane from here on: a round that was sent back stays in its own colour."""
    return "CHANGES" if row.verb == Verb.REQUEST_CHANGES else row.to_state


def _fence(row: History, page: TimelinePage) -> tuple[int | None, int | None]:
    epoch = row.body.get("schedulerEpoch")
    return (int(epoch) if epoch is not None else None, row.claim_generation)


def _refusal(row: Refusal, page: TimelinePage, people: Mapping[int, str]) -> Entry:
    tried = TRIED.get(row.verb, row.verb)  # type: ignore[call-overload]
    lost = row.why in _LOST
    return Entry(
        at=row.at,
        who=_who(row, people),
        text=f"came back and tried to {tried}" if lost else f"tried to {tried} and was refused",
        hint="" if lost else row.detail,
        attempt=row.attempt_id,
        before="REFUSED",
        refusal=_lost(row, page) if lost else None,
    )


def _lost(row: Refusal, page: TimelinePage) -> Lost:
    attempt = page.attempts.get(row.attempt_id) if row.attempt_id else None
    delivered = attempt is not None and attempt.outcome in (
        AttemptOutcome.DELIVERED,
        AttemptOutcome.COMMITTED,
    )
    kept = 0 if delivered or row.attempt_id is None else page.kept_files.get(row.attempt_id, 0)
    return Lost(
        why=row.why,
        sentence=row.detail,
        presented=(row.presented.get("schedulerEpoch"), row.presented.get("claimGeneration")),
        current=(row.current.get("schedulerEpoch"), row.current.get("claimGeneration")),
        holder=str(row.current.get("runner") or ""),
        state=str(row.current.get("state") or ""),
        kept_files=kept,
        request_id=row.request_id,
    )
