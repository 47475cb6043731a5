"""What is weak about a delivery, said first: in the server's words, the gravest first, each with where to look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claims.canonical import Item
from claims.vocabulary import EvidenceKind

GRAVE = {"excluded", "no-tests", "failed-tests", "claimed-failures", "failed-command", "absent", "size",
         "empty-diff", "hidden-characters", "damaged", "width"}  # fmt: skip
"""Codes of flags that speak against a delivery; the others ask for care."""
TABS = {
    "excluded": "diff", "outside": "diff", "empty-diff": "diff", "hidden-characters": "diff",
    "no-tests": "tests", "failed-tests": "tests", "claimed-failures": "tests",
    "failed-command": "commands", "width": "shots", "damaged": "shots", "too-large": "shots",
}  # fmt: skip
TEXTUAL = (
    EvidenceKind.DIFF,
    EvidenceKind.COMMAND,
    EvidenceKind.LOG,
    EvidenceKind.TEST_REPORT,
    EvidenceKind.FILE,
)
SHOWN = 6
"""Flags that are shown at once; more are folded."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One weakness: its words, the state that colours it, and the tab where it is seen."""

    text: str
    code: str
    tab: str

    @property
    def sign(self) -> str:
        return "x" if self.code == "DANGER" else "warn"


def flags_of(facts: Mapping[str, Any], items: Sequence[Item], summary: str) -> list[Flag]:
    """The flags of a delivery, grave ones first."""
    found = [
        Flag(str(flag.get("text", "")), "DANGER" if flag.get("code") in GRAVE else "QUIET",
             TABS.get(str(flag.get("code")), "files"))
        for flag in facts.get("flags") or []
        if isinstance(flag, Mapping)
    ]  # fmt: skip
    if is_longer(summary, items):
        found.append(Flag("The summary is longer than all the evidence that can be read.", "QUIET", "talk"))
    return sorted(found, key=lambda flag: flag.code != "DANGER")


def is_longer(summary: str, items: Sequence[Item]) -> bool:
    """Whether an agent says more than it shows: bytes of the summary against bytes of textual evidence."""
    shown = sum(item.size for item in items if item.kind in TEXTUAL)
    has_pictures = any(item.kind == EvidenceKind.SCREENSHOT for item in items)
    return len(summary.encode()) > shown and not (has_pictures and shown == 0)
