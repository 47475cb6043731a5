"""A grant as the server answered it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .reviews import Review


@dataclass(frozen=True)
class Grant:
    """A claim and what the work needs. ``body`` is the whole answer.

    ``effects`` are those of the task and its earlier revisions so far, ``predecessors`` the results
    it builds on, ``adopted`` the evidence that an operator gave it to go on from.

    ``ends_at`` is this process's monotonic clock (seconds) at which the lease ends at the latest:
    counted from before the request was sent, so that a slow answer makes it end sooner.
    """

    body: Mapping[str, Any] = field(repr=False)
    attempt_id: str
    task_id: str
    number: int
    title: str
    fence: Mapping[str, Any]
    input_digest: str
    input: Mapping[str, Any] = field(repr=False)
    round: int
    last_review: Mapping[str, Any] | None = field(repr=False)
    lease_seconds: float
    ends_at: float
    effects: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    predecessors: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    adopted: Mapping[str, Any] | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, body: Mapping[str, Any], asked_at: float | None = None) -> Grant:
        """A grant from its JSON. ``asked_at`` is the monotonic clock before the request; now when absent."""
        seconds = float(body["leaseSecondsRemaining"])
        return cls(
            body=dict(body),
            attempt_id=body["attemptId"],
            task_id=body["taskId"],
            number=body["number"],
            title=body["title"],
            fence=dict(body["fence"]),
            input_digest=body["inputDigest"],
            input=dict(body["input"]),
            round=body["round"],
            last_review=body.get("lastReview"),
            lease_seconds=seconds,
            effects=list(body.get("effects") or []),
            predecessors=list(body.get("predecessors") or []),
            adopted=body.get("adoptedEvidence"),
            ends_at=(time.monotonic() if asked_at is None else asked_at) + seconds,
        )

    @property
    def review(self) -> Review | None:
        """The decision that this round has to answer; None in a first round."""
        return Review.parse(self.last_review) if self.last_review else None

    @property
    def fence_header(self) -> str:
        """The fence as an upload carries it."""
        fence = self.fence
        return f"epoch={fence['schedulerEpoch']}, generation={fence['claimGeneration']}, cancel={fence['cancelGeneration']}"

    def __str__(self) -> str:
        return f"T-{self.number} {self.title}"
