"""Where a comment points: a file or a line of it, a line of an output, a point of a screenshot, or all of it.

Promises: a place is written to the agent in the shape of ``claims.comments``; it moves to another
round as it is only where the bytes it points at are the very same, or the same line is still there. Pure
but for the diffs that are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from claims.canonical import Item
from claims.comments import LAST_LINE, LONGEST_NAME, STREAMS, WHOLE
from claims.vocabulary import EvidenceKind
from reviews.desk import reading
from reviews.desk.viewers import patch
from reviews.models import PlaceKind

KINDS = tuple(PlaceKind.values)
_EVIDENCE = {
    PlaceKind.FILE: (EvidenceKind.DIFF,),
    PlaceKind.COMMAND: (EvidenceKind.COMMAND, EvidenceKind.LOG),
    PlaceKind.SCREENSHOT: (EvidenceKind.SCREENSHOT,),
}


@dataclass(frozen=True, slots=True)
class Place:
    """``name`` is a path of the diff or a piece of evidence; empty for the delivery as a whole.

    ``x`` and ``y`` are thousandths of a picture's width and height.
    """

    kind: str = PlaceKind.FILE.value
    name: str = ""
    line: int | None = None
    x: int | None = None
    y: int | None = None

    @property
    def value(self) -> str:
        """The place without its line or point, as a form names it."""
        return f"{self.kind} {self.name}" if self.name else ""

    @property
    def has_point(self) -> bool:
        return self.kind == PlaceKind.SCREENSHOT and self.x is not None and self.y is not None

    @property
    def across(self) -> str:
        """How far from the left, as a share of the picture that both people and SVG read."""
        return f"{(self.x or 0) / 10:g}%"

    @property
    def down(self) -> str:
        """How far from the top."""
        return f"{(self.y or 0) / 10:g}%"

    @property
    def words(self) -> str:
        """``app/views.py:12``, ``output of tests, line 3``, ``home-390 at 51.2% across, 20% down``."""
        if not self.name:
            return ""
        if self.kind == PlaceKind.FILE:
            return f"{self.name}:{self.line}" if self.line else self.name
        if self.kind == PlaceKind.COMMAND:
            return f"output of {self.name}" + (f", line {self.line}" if self.line else "")
        return self.name + (f" at {self.across} across, {self.down} down" if self.has_point else "")

    def as_json(self) -> dict[str, object]:
        """As the decision carries it."""
        if not self.name or self.kind == PlaceKind.FILE:
            return {"path": self.name, "line": self.line}
        if self.kind == PlaceKind.COMMAND:
            return {"command": self.name, "stream": STREAMS[0], "line": self.line}
        return {"screenshot": self.name, **({"x": self.x, "y": self.y} if self.has_point else {})}


@dataclass(frozen=True, slots=True)
class Note:
    """A comment with its place; ``number`` is its pin's, ``pk`` the draft's, 0 for one that was sent."""

    number: int
    place: Place
    text: str
    pk: int = 0


def place_of(value: str, line: str, x: str, y: str) -> Place:
    """The place that a form's fields name; what makes no sense in them is left out."""
    kind, _, name = value.partition(" ")
    if kind not in KINDS or not name:
        return Place()
    named = Place(kind, name.replace("\x00", "")[:LONGEST_NAME])
    if kind == PlaceKind.SCREENSHOT:
        across, down = number_of(x, WHOLE), number_of(y, WHOLE)
        return named if across is None or down is None else replace(named, x=across, y=down)
    return replace(named, line=number_of(line, LAST_LINE) or None)


def number_of(text: str, highest: int) -> int | None:
    """The whole number of a field, at most ``highest``; None for any other text."""
    short = text.isascii() and text.isdigit() and len(text) <= 8
    return min(int(text), highest) if short else None


def from_json(comment: Mapping[str, Any]) -> Place:
    """The place of a comment that was sent."""
    if comment.get("command"):
        return Place(PlaceKind.COMMAND.value, str(comment["command"]), comment.get("line"))
    if comment.get("screenshot"):
        name = str(comment["screenshot"])
        return Place(PlaceKind.SCREENSHOT.value, name, x=comment.get("x"), y=comment.get("y"))
    return Place(PlaceKind.FILE.value, str(comment.get("path") or ""), comment.get("line"))


def notes_of(comments: Sequence[Mapping[str, Any]]) -> list[Note]:
    """The comments of a decision, numbered."""
    return [Note(at, from_json(one), str(one.get("text", ""))) for at, one in enumerate(comments, 1)]


def address_of(place: Place, items: Sequence[Item], files: Mapping[str, int]) -> str:
    """Where the place is seen on the decision page; ``files`` has the index of each file that is drawn."""
    if place.kind == PlaceKind.FILE:
        index = files.get(place.name)
        if index is None:
            return "?" + urlencode({"tab": "diff", "path": place.name}) + "#diff"
        return f"?tab=diff#f{index}" + (f"-n{place.line}" if place.line else "")
    if place.kind == PlaceKind.SCREENSHOT:
        return f"?tab=shots#shot-{place.name}"
    outputs = [item.name for item in items if item.kind in _EVIDENCE[PlaceKind.COMMAND]]
    number = outputs.index(place.name) + 1 if place.name in outputs else 0
    line = f"o{number}-{place.line}" if place.line else f"cmd-{number}"
    return f"/commands/{number}?tab=commands&line={max(1, (place.line or 1) - 5)}#{line}"


@dataclass(frozen=True, slots=True)
class Carried:
    """A place in a newer round. ``is_same``: what it points at has not changed, so it may be said again."""

    place: Place
    is_same: bool


def carried(place: Place, old: Sequence[Item], new: Sequence[Item]) -> Carried:
    """Where a place of an older round stands in a newer one; what is not there any more points less far."""
    if not place.name:
        return Carried(place, is_same=True)
    before, after = _bytes_of(place, old), _bytes_of(place, new)
    if before and before == after:
        return Carried(place, is_same=True)
    if place.kind != PlaceKind.FILE:
        kept = Place(place.kind, place.name) if after else Place()
        return Carried(kept, is_same=False)
    if place.line is None:
        return Carried(place, is_same=False)
    line = line_of(place, old, new)
    return Carried(replace(place, line=line), is_same=line is not None)


def _bytes_of(place: Place, items: Sequence[Item]) -> tuple[str, ...]:
    """The digests of the evidence that a place points into."""
    kinds = _EVIDENCE[PlaceKind(place.kind)]
    found = [item for item in items if item.kind in kinds]
    if place.kind != PlaceKind.FILE:
        found = [item for item in found if item.name == place.name]
    return tuple(item.sha256 for item in found)


def line_of(place: Place, old: Sequence[Item], new: Sequence[Item]) -> int | None:
    """Where the line stands in the newer diff: the same text in the same file, nearest first."""
    text = next((row.text for row in _rows(old, place.name) if row.new == place.line), None)
    if text is None:
        return None
    places = [row.new for row in _rows(new, place.name) if row.new is not None and row.text == text]
    return min(places, key=lambda line: abs(line - (place.line or 0)), default=None)


def _rows(items: Sequence[Item], path: str) -> list[patch.Row]:
    item = next((item for item in items if item.kind == EvidenceKind.DIFF), None)
    if item is None:
        return []
    try:
        files = reading.patch_of(item.sha256).files
    except reading.Missing:
        return []
    return [row for file in files if file.path == path for hunk in patch.hunks_of(file) for row in hunk.rows]
