"""What a skill is: a kind of criterion that a demo agent can read, and the work it then does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from grant import Criterion, Grant
from workspace import Workspace


@dataclass(frozen=True)
class Asked:
    """A criterion with what a skill read in it."""

    criterion: Criterion
    match: re.Match[str]

    def __getitem__(self, name: str) -> str:
        return self.match[name] or ""


@dataclass
class Work:
    """One run: the task, its files, what was done for each criterion, and the JSON result."""

    grant: Grant
    workspace: Workspace
    claims: dict[int, str] = field(default_factory=dict)
    looks: list[str] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)

    def claim(self, asked: Asked, line: str, look: str = "") -> None:
        """Says in one line what was done for a criterion, and what a reviewer should look at."""
        self.claims[asked.criterion.number] = line
        if look and look not in self.looks:
            self.looks.append(look)


@dataclass(frozen=True)
class Skill:
    """All criteria that match are done together, because one may change how another is done."""

    pattern: re.Pattern[str]
    do: Callable[[Work, list[Asked]], None]


def skill(pattern: str, do: Callable[[Work, list[Asked]], None]) -> Skill:
    """A skill from the words it understands."""
    return Skill(re.compile(pattern), do)
