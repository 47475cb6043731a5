"""What the conversation of a delivery draws: comments with where they point, and those of the round before.

Promises: a comment of the round before is offered again only to who made it, only where what it points
at is the same, and it is said again only when that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from claims.vocabulary import EvidenceKind
from reviews.desk import drafts, places
from reviews.desk.criteria import Seen
from reviews.desk.places import Note, Place
from reviews.models import PlaceKind

if TYPE_CHECKING:  # the page draws from here
    from reviews.desk.page import Opened


@dataclass(frozen=True, slots=True)
class Said:
    """A comment and the address on the decision page where its place is seen; empty for the whole delivery."""

    note: Note
    href: str

    @property
    def is_pin(self) -> bool:
        return self.note.place.has_point


@dataclass(frozen=True, slots=True)
class Choice:
    """One place a comment can be about, as the form's list has it."""

    value: str
    name: str
    group: str


def said_of(comments: Sequence[Note], seen: Seen) -> list[Said]:
    """The comments with their addresses."""
    files = {each.file.path: each.file.index for each in seen.diff.files}
    return [
        Said(note, places.address_of(note.place, seen.items, files) if note.place.name else "")
        for note in comments
    ]


def choices_of(seen: Seen, place: Place) -> list[Choice]:
    """Every place a comment can be about; the one that is chosen is always among them."""
    found = [
        Choice(f"{PlaceKind.FILE.value} {each.file.path}", each.file.path, "File") for each in seen.diff.files
    ]
    for item in seen.items:
        if item.kind in (EvidenceKind.COMMAND, EvidenceKind.LOG):
            found.append(Choice(f"{PlaceKind.COMMAND.value} {item.name}", item.name, "Output"))
        if item.kind == EvidenceKind.SCREENSHOT:
            found.append(Choice(f"{PlaceKind.SCREENSHOT.value} {item.name}", item.name, "Screenshot"))
    if place.name and place.value not in {each.value for each in found}:
        found.insert(0, Choice(place.value, place.name, "Chosen"))
    return found


def sayable_again(one: Opened) -> list[Note]:
    """The person's own comments on the round before whose place has not changed, and which are not drafts yet."""
    before = one.before
    if before is None or before.decision is None or before.decision.reviewer_id != one.person.pk:
        return []
    now = {(note.place, note.text) for note in one.typed.comments}
    found = []
    for note in places.notes_of(before.decision.comments):
        there = places.carried(note.place, before.items, one.items)
        if note.place.name and there.is_same and (there.place, note.text) not in now:
            found.append(Note(note.number, there.place, note.text))
    return found


def say_again(one: Opened, number: str) -> None:
    """One of them becomes a draft of this round."""
    for note in sayable_again(one):
        if str(note.number) == number:
            drafts.say(one.person.pk, one.delivery.pk, note.place, note.text)
