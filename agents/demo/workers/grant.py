"""What a demo agent was asked to do: the grant it finds in its environment, read into plain values.

The environment is the command contract of a worker-run agent: FENCEPOST_GRANT names a JSON file, FENCEPOST_OUT the
folder for what is to be delivered, FENCEPOST_CHROMIUM a browser, absent where there is none.
"""

from __future__ import annotations

import json
import os
import re
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
    """What a note led to: (old, new) texts to exchange, or None where it names no other wording, and new screenshots."""

    note: Note
    exchange: tuple[str, str] | None
    shots: tuple[str, ...] = ()


def amended(grant: Grant, *, can_photograph: bool = False) -> tuple[Grant, list[Answer]]:
    """The grant as the reviewer's notes change it, and the answer to each note."""
    answers = []
    for note in grant.review.notes if grant.review else ():
        mine = [each.text for each in grant.criteria if note.criterion in (None, each.number)]
        exchange = wording.exchange_in(note.text, mine)
        if exchange:
            grant = with_other_wording(grant, note.criterion, *exchange)
        more = more_screenshots(grant, note.text) if can_photograph and not exchange else []
        grant = replace(grant, evidence=(*grant.evidence, *more))
        shots = tuple(f"{each['name']}-{width}" for each in more for width in each["widths"])
        answers.append(Answer(note, exchange, shots))
    return grant, answers


def with_other_wording(grant: Grant, number: int | None, old: str, new: str) -> Grant:
    """The grant with a text exchanged in one criterion, or in all."""
    criteria = [
        replace(each, text=each.text.replace(old, new)) if number in (None, each.number) else each
        for each in grant.criteria
    ]
    return replace(grant, criteria=tuple(criteria))


def more_screenshots(grant: Grant, note: str) -> list[Mapping[str, Any]]:
    """The screenshots a note asks for: at other widths, or in dark mode."""
    widths, dark = wording.widths_in(note), re.search(r"\bdark\b", note, re.IGNORECASE)
    more = []
    for each in grant.screenshots():
        wanted = [width for width in widths if width not in each["widths"]]
        if wanted:
            more.append({**each, "widths": wanted})
        if dark and "theme=" not in each["page"]:
            page = each["page"] + ("&" if "?" in each["page"] else "?") + "theme=dark"
            more.append(
                {**each, "name": f"{each['name']}-dark", "page": page, "widths": widths or each["widths"]}
            )
    known = {(each["name"], width) for each in grant.screenshots() for width in each["widths"]}
    return [each for each in more if not known & {(each["name"], width) for width in each["widths"]}]
