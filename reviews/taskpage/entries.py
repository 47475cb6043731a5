"""One entry of a task's timeline in words: what happened, who did it, under which fence. Pure.

Promises: every verb of the history has its sentence; a word of an agent or a person stands in quotes;
what is not known is left out rather than guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from claims.models import History, Refusal
from claims.selectors.tasks import TimelinePage
from claims.vocabulary import ActorKind, AttemptOutcome, Verb
from reviews.shell.words import span

_LOST = ("FENCED", "CANCELLED", "STALE_INPUT")
"""Refusals that say that authority was lost: drawn as a panel on the lane that went dashed."""

_TRIED = {
    Verb.CLAIM: "claim it",
    Verb.RENEW: "renew the lease",
    Verb.PROGRESS: "report progress",
    Verb.ADD_FILE: "add a file",
    Verb.STAGE: "stage a result",
    Verb.RELEASE: "give it back",
    Verb.FAIL: "report a failure",
    Verb.DELIVER: "deliver",
    Verb.COMMIT: "commit",
    Verb.ACCEPT: "accept",
    Verb.REQUEST_CHANGES: "request changes",
    Verb.REJECT: "reject",
    Verb.ADJUST: "change it",
    Verb.RELEASE_QUIET: "release the claim",
    Verb.REASSIGN: "reassign it",
    Verb.EXTEND_ONCE: "extend the lease",
    Verb.NUDGE: "nudge the runner",
    Verb.REQUEUE: "requeue it",
}


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


def entries_of(page: TimelinePage) -> list[Entry]:
    """The entries of one page, oldest first; equal refusals in a row become one that counts them."""
    changes = [(row.at, 0, _change(row, page)) for row in page.history]
    refusals = [(row.at, 1, _refusal(row, page)) for row in page.refusals]
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


def _change(row: History, page: TimelinePage) -> Entry:
    body = row.body
    grants = "runner" in body
    ended = body.get("endedAttempt")
    return Entry(
        at=row.at,
        who=row.actor_name if row.actor_kind != ActorKind.SYSTEM else "",
        text=_sentence(row),
        fence=_fence(row, page) if grants else None,
        chip=_chip(row),
        hint=_hint(row),
        quote=str(body.get("reason", "")),
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


_SENTENCES = {
    Verb.CREATE: "{written}",
    Verb.ADJUST: "changed how it is scheduled",
    Verb.CLAIM: "claimed it",
    Verb.CLAIM_NEXT: "claimed it",
    Verb.RELEASE: "gave it back, {moved}",
    Verb.FAIL: "{failed}, {moved}",
    Verb.DELIVER: "delivered round {round}",
    Verb.COMMIT: "committed the result, no review asked for",
    Verb.ACCEPT: "accepted round {round}",
    Verb.REQUEST_CHANGES: "requested changes to round {round}",
    Verb.REJECT: "rejected round {round}, {moved}",
    Verb.RELEASE_QUIET: "released the claim, {moved}",
    Verb.REASSIGN: "gave it to {runner}",
    Verb.EXTEND_ONCE: "gave the claim one more term",
    Verb.NUDGE: "asked the runner for a sign of life",
    Verb.REQUEUE: "put it back, attempts start anew",
    Verb.LAPSE: "The claim lapsed, {moved}",
    Verb.DISABLE_AGENT: "switched the agent off, {moved}",
}


def _sentence(row: History) -> str:
    """What happened, in words; the verb itself where there are none for it yet."""
    sentence = _SENTENCES.get(row.verb)  # type: ignore[call-overload]
    if sentence is None:
        return str(row.verb)
    return str(sentence).format(
        moved=f"gen {row.claim_generation - 1} became {row.claim_generation}",
        failed="failed" if row.body.get("retryable", True) else "failed for good",
        round=row.body.get("round", ""),
        written="The task was written" if row.actor_kind == ActorKind.SYSTEM else "wrote the task",
        runner=row.body.get("runner", "another agent"),
    )


def _chip(row: History) -> str:
    if row.to_state == "HELD":
        return "HELD"
    return row.to_state if row.verb in (Verb.DELIVER, Verb.ACCEPT, Verb.COMMIT) else ""


def _hint(row: History) -> str:
    body, parts = row.body, []
    if row.verb == Verb.REQUEST_CHANGES:
        parts.append(
            f"{body['runner']} keeps the task"
            if "runner" in body
            else "its agent cannot take it now: open to others"
        )
    if body.get("ttlSeconds"):
        parts.append(f"lease of {span(body['ttlSeconds'])}")
    if body.get("held"):
        parts.append(str(body["held"]))
    if body.get("ended") == AttemptOutcome.FENCED:
        parts.append("its epoch had ended")
    if row.verb == Verb.ADJUST:
        parts += [str(name) for name in body.get("changed", body) if isinstance(name, str)]
    return ", ".join(parts)


def _refusal(row: Refusal, page: TimelinePage) -> Entry:
    tried = _TRIED.get(row.verb, row.verb)  # type: ignore[call-overload]
    lost = row.why in _LOST
    return Entry(
        at=row.at,
        who=row.actor_name,
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
