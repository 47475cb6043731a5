"""The input of a task: the immutable specification an agent works from (claim.v1 section 9).

Promises: what ``parse_input`` returns is complete, bounded and free of unknown fields. It does
not say whether the work can be done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from claims.lookups.recipes import Recipe
from claims.vocabulary import EffectMode, EvidenceKind, ReclaimPolicy, ReviewPolicy

NAME = re.compile(r"[a-z0-9_.-]{1,120}")
"""Ids that people choose: pools, agents, nodes, slots, labels, evidence."""

TASK_NUMBER = re.compile(r"T-([0-9]{1,15})")
"""How people name a task that exists."""

Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Line = Annotated[str, Field(min_length=1, max_length=2_000)]
Glob = Annotated[str, Field(min_length=1, max_length=500)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9_.-]{1,120}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScopeOfFiles(_Part):
    """Which files may be changed. An excluded file is never in scope."""

    files: list[Glob] = Field(default_factory=list, max_length=500)
    excluded: list[Glob] = Field(default_factory=list, max_length=500)


class Criterion(_Part):
    """One thing that must hold, and how it will be proved."""

    text: Line
    proof: str = Field(default="", max_length=2_000)


class Requirement(_Part):
    """One piece of evidence a delivery must carry; lacking it is THIN_EVIDENCE.

    ``run`` is a command a worker of this server runs itself; ``path`` is a file it reads from
    the workspace; ``page`` and ``widths`` (CSS pixels) say what a screenshot shows.
    """

    kind: str
    name: Name | None = None
    run: str | None = Field(default=None, max_length=2_000)
    path: str | None = Field(default=None, max_length=500)
    page: str | None = Field(default=None, max_length=500)
    widths: list[Annotated[int, Field(ge=200, le=4_000)]] = Field(default_factory=list, max_length=8)
    criteria: list[Annotated[int, Field(ge=1, le=200)]] = Field(default_factory=list, max_length=200)

    @field_validator("kind")
    @classmethod
    def _kind_is_known(cls, kind: str) -> str:
        if kind not in set(EvidenceKind):
            raise ValueError(f"must be one of {', '.join(EvidenceKind)}")
        return kind

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Requirement:
        if self.run is not None and self.kind not in (EvidenceKind.COMMAND, EvidenceKind.TEST_REPORT):
            raise ValueError("run belongs to evidence of kind command or test-report")
        if self.widths and self.kind != EvidenceKind.SCREENSHOT:
            raise ValueError("widths belong to evidence of kind screenshot")
        return self

    def item_names(self) -> list[str]:
        """The names a manifest must carry for this requirement; empty when any of the kind will do."""
        if self.name is None:
            return []
        if self.widths:
            return [f"{self.name}-{width}" for width in self.widths]
        return [self.name]


class Slot(_Part):
    """The declared place of one outside effect (claim.v1 section 5).

    A permit is live for ``permitSeconds``; its sender may still be on its way for
    ``settleSeconds`` after that. ``lookup`` is how a doubt is looked up.
    """

    slot: Name
    mode: str
    target: Annotated[str, Field(min_length=1, max_length=500)]
    serialKey: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    lookup: Recipe | None = None
    required: bool = False
    permitSeconds: Annotated[int, Field(ge=1, le=3_600)] = 60
    settleSeconds: Annotated[int, Field(ge=0, le=86_400)] = 60

    @field_validator("mode")
    @classmethod
    def _mode_is_known(cls, mode: str) -> str:
        if mode not in set(EffectMode):
            raise ValueError(f"must be one of {', '.join(EffectMode)}")
        return mode

    @property
    def serial_key(self) -> str:
        """What serialises NON_REPLAYABLE effects and finds earlier ones; the target unless declared."""
        return self.serialKey or self.target

    @property
    def effective_mode(self) -> EffectMode:
        """A slot with neither conditional write nor look-up nor reservation *is* NON_REPLAYABLE."""
        if self.mode == EffectMode.QUERYABLE and self.lookup is None:
            return EffectMode.NON_REPLAYABLE
        return EffectMode(self.mode)


class Input(_Part):
    """The specification. ``access`` lists the labels an agent must have to claim the task."""

    task: Text
    scope: ScopeOfFiles = Field(default_factory=ScopeOfFiles)
    access: list[Name] = Field(default_factory=list, max_length=50)
    acceptance: list[Criterion] = Field(default_factory=list, max_length=200)
    evidence: list[Requirement] = Field(default_factory=list, max_length=200)
    effects: list[Slot] = Field(default_factory=list, max_length=100)

    @field_validator("effects")
    @classmethod
    def _slots_differ(cls, effects: list[Slot]) -> list[Slot]:
        names = [effect.slot for effect in effects]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"the slot {twice[0]} is declared twice")
        return effects

    @model_validator(mode="after")
    def _criteria_exist(self) -> Input:
        for position, requirement in enumerate(self.evidence):
            beyond = [number for number in requirement.criteria if number > len(self.acceptance)]
            if beyond:
                raise ValueError(
                    f"evidence {position + 1} names criterion {beyond[0]}, and there are {len(self.acceptance)}"
                )
        return self


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing wrong with an input: a JSON pointer and a sentence."""

    pointer: str
    message: str


class InputInvalid(ValueError):
    """The input is not one; ``flaws`` holds everything that is wrong with it."""

    def __init__(self, flaws: list[Flaw]) -> None:
        super().__init__("; ".join(f"{flaw.pointer}: {flaw.message}" for flaw in flaws))
        self.flaws = flaws


def parse_input(body: object) -> Input:
    """The input in a JSON value.

    Raises ``InputInvalid`` with every flaw at once.
    """
    try:
        return Input.model_validate(body)
    except ValidationError as error:
        raise InputInvalid(
            [
                Flaw(
                    "/" + "/".join(str(part) for part in found["loc"]),
                    found["msg"].removeprefix("Value error, "),
                )
                for found in error.errors(include_url=False)
            ]
        ) from error


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to be created. ``None`` means the default of its pool."""

    title: str
    input: Mapping[str, object]
    node_id: str = ""
    priority: int = 2
    not_before: datetime | None = None
    max_attempts: int | None = None
    review_policy: ReviewPolicy = ReviewPolicy.REVIEW
    reviewer: str | None = None
    reviewer_group: str | None = None
    reclaim_policy: ReclaimPolicy | None = None
    ttl_seconds: int | None = None
    depends_on: tuple[str, ...] = field(default=())
