"""What a demo agent was asked to do: the grant it finds in its environment, read into plain values.

The environment is the command contract of a worker-run agent: FENCEPOST_GRANT names a JSON file, FENCEPOST_OUT the
folder for what is to be delivered, FENCEPOST_CHROMIUM a browser, absent where there is none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import wording


@dataclass(frozen=True)
class Criterion:
    """One acceptance criterion; numbers count from 1."""

    number: int
    text: str
    proof: str


@dataclass(frozen=True)
class Note:
    """One thing the reviewer wrote. The criterion is None for the decision's own note and for comments on lines."""

    text: str
    criterion: int | None = None
    path: str | None = None


@dataclass(frozen=True)
class Review:
    """The decision that sent the last round back."""

    round: int
    notes: tuple[Note, ...]
    not_met: frozenset[int]


@dataclass(frozen=True)
class Grant:
    """One task as this attempt sees it."""

    title: str
    task: str
    round: int
    criteria: tuple[Criterion, ...]
    evidence: tuple[Mapping[str, Any], ...]
    files: tuple[str, ...]
    excluded: tuple[str, ...]
    review: Review | None

    def without(self, numbers: set[int]) -> Grant:
        """The same grant with fewer criteria; the others keep their numbers."""
        return replace(self, criteria=tuple(each for each in self.criteria if each.number not in numbers))

    def screenshots(self) -> list[Mapping[str, Any]]:
        """The evidence requirements that ask for screenshots."""
        return [each for each in self.evidence if each["kind"] == "screenshot" and each.get("page")]


def read_grant() -> Grant:
    """The grant of this run. A missing variable or file ends the run: without a grant there is nothing to do."""
    return grant_from(json.loads(Path(os.environ["FENCEPOST_GRANT"]).read_text(encoding="utf-8")))


def grant_from(body: Mapping[str, Any]) -> Grant:
    """A grant from its JSON."""
    asked = body["input"]
    scope = asked.get("scope") or {}
    criteria = [
        Criterion(number, each["text"], each.get("proof") or "")
        for number, each in enumerate(asked.get("acceptance") or [], start=1)
    ]
    return Grant(
        title=body.get("title") or "",
        task=asked["task"],
        round=body.get("round") or 1,
        criteria=tuple(criteria),
        evidence=tuple(asked.get("evidence") or []),
        files=tuple(scope.get("files") or ["**"]),
        excluded=tuple(scope.get("excluded") or []),
        review=review_from(body.get("lastReview")),
    )


def review_from(body: Mapping[str, Any] | None) -> Review | None:
    """The last review; verdict notes first, then the decision's note, then comments on lines."""
    if not body:
        return None
    verdicts = body.get("verdicts") or []
    notes = [Note(each["note"], criterion=each["criterion"]) for each in verdicts if each.get("note")]
    if body.get("note"):
        notes.append(Note(body["note"]))
    notes += [
        Note(each["text"], path=each.get("path")) for each in body.get("comments") or [] if each.get("text")
    ]
    not_met = frozenset(each["criterion"] for each in verdicts if each["verdict"] != "MET")
    return Review(body.get("round") or 1, tuple(notes), not_met)


@dataclass(frozen=True)
class Answer:
    """What a note led to: (old, new) texts to exchange, or None where it names no other wording."""

    note: Note
    exchange: tuple[str, str] | None


def amended(grant: Grant) -> tuple[Grant, list[Answer]]:
    """The grant as the reviewer's notes change it, and the answer to each note."""
    criteria = list(grant.criteria)
    answers = []
    for note in grant.review.notes if grant.review else ():
        exchange = wording.exchange_in(
            note.text, [each.text for each in criteria if note.criterion in (None, each.number)]
        )
        answers.append(Answer(note, exchange))
        if exchange:
            old, new = exchange
            criteria = [
                replace(each, text=each.text.replace(old, new))
                if note.criterion in (None, each.number)
                else each
                for each in criteria
            ]
    return replace(grant, criteria=tuple(criteria)), answers
