"""The decision that a round has to answer: one message, with what the reviewer said of each place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """What the reviewer says of one criterion: MET, NOT_MET or CANNOT_TELL. Numbers count from 1."""

    criterion: int
    verdict: str
    note: str


@dataclass(frozen=True)
class Comment:
    """What the reviewer says of one place, or of the delivery as a whole where no place is named.

    ``path`` and ``line`` are of the diff's new side; ``command``, ``stream`` and ``line`` of an output;
    ``screenshot``, ``x`` and ``y`` of a picture, in thousandths of its width and height.
    """

    text: str
    path: str | None = None
    command: str | None = None
    stream: str | None = None
    line: int | None = None
    screenshot: str | None = None
    x: int | None = None
    y: int | None = None

    @property
    def place(self) -> str:
        """Where it points, in words; empty for the delivery as a whole."""
        if self.path:
            return f"{self.path}:{self.line}" if self.line else self.path
        if self.command:
            return f"output of {self.command}" + (f", line {self.line}" if self.line else "")
        if self.screenshot and self.x is not None and self.y is not None:
            return f"{self.screenshot} at {self.x / 10:g}% across, {self.y / 10:g}% down"
        return self.screenshot or ""


@dataclass(frozen=True)
class Review:
    """The last decision on the task. ``attempt_id`` is the attempt that had delivered the round."""

    round: int
    decision: str
    note: str
    verdicts: Sequence[Verdict]
    comments: Sequence[Comment]
    attempt_id: str

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> Review:
        """A review from its JSON; what this version does not know of a comment is left out."""
        known = Comment.__dataclass_fields__
        return cls(
            round=body["round"],
            decision=body["decision"],
            note=body.get("note", ""),
            verdicts=[
                Verdict(each["criterion"], each["verdict"], each.get("note", ""))
                for each in body.get("verdicts") or []
            ],
            comments=[
                Comment(**{name: value for name, value in each.items() if name in known})
                for each in body.get("comments") or []
            ],
            attempt_id=body["attemptId"],
        )
