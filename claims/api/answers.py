"""What the calls answer, for the OpenAPI document. Answers are written from rows, not through these."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict


class Answer(Schema):
    model_config = ConfigDict(extra="forbid")


class FenceAnswer(Answer):
    taskId: UUID
    attemptId: UUID
    schedulerEpoch: int
    claimGeneration: int
    cancelGeneration: int


class CommentAnswer(Schema):
    """What a reviewer says of one place of the evidence, or of the delivery as a whole (``path`` empty).

    A place is ``path`` and ``line`` of the diff's new side, ``command``, ``stream`` and ``line`` of an
    output, or ``screenshot`` with ``x`` and ``y`` in thousandths of its width and height. Commands and
    screenshots go by the names they have in the manifest. What a place has no use for is absent.
    """

    path: str | None = None
    command: str | None = None
    stream: str | None = None
    line: int | None = None
    screenshot: str | None = None
    x: int | None = None
    y: int | None = None
    text: str


class VerdictAnswer(Answer):
    criterion: int
    verdict: str
    note: str


class ReviewAnswer(Answer):
    """The decision a runner has to answer: one structured message."""

    round: int
    decision: str
    note: str
    verdicts: list[VerdictAnswer]
    comments: list[CommentAnswer]
    attemptId: UUID


class AdoptedAnswer(Answer):
    """What an operator gave the runner to go on from; its files may be named in the next manifest."""

    attemptId: UUID
    resultDigest: str
    result: Any
    evidence: list[dict[str, Any]]


class EarlierEffectAnswer(Answer):
    """An effect of the task or of an earlier revision, as it was when the claim was granted.

    ``acknowledged``: what the preparer said of an earlier revision's effect; true where it counts.
    """

    effectId: str
    taskId: UUID
    revision: int
    slot: str
    mode: str
    target: str
    state: str
    payloadDigest: str
    payload: Any
    preparedAt: datetime
    acknowledged: bool | None


class PredecessorAnswer(Answer):
    """The result that the input is pinned to. ``result`` is null where a grant has no room for it."""

    nodeId: str
    taskId: UUID
    number: int
    resultDigest: str
    resultCommitId: UUID
    attemptId: UUID
    result: Any
    evidence: list[dict[str, Any]] | None


class GrantAnswer(Answer):
    """A claim: the fence, and everything the work needs."""

    fence: FenceAnswer
    attemptId: UUID
    taskId: UUID
    number: int
    title: str
    inputDigest: str
    input: dict[str, Any]
    stateVersion: int
    leaseExpiresAt: datetime
    leaseSecondsRemaining: float
    windowEndsAt: datetime
    round: int
    lastReview: ReviewAnswer | None
    effects: list[EarlierEffectAnswer]
    predecessors: list[PredecessorAnswer]
    adoptedEvidence: AdoptedAnswer | None


class GrantsAnswer(Answer):
    grants: list[GrantAnswer]


class RenewedAnswer(Answer):
    leaseExpiresAt: datetime
    leaseSecondsRemaining: float
    windowEndsAt: datetime
    recovered: bool
    nudged: bool


class RenewalAnswer(Schema):
    """One item of a batch: the renewal's fields, or ``problem``."""

    attemptId: UUID
    leaseExpiresAt: datetime | None = None
    leaseSecondsRemaining: float | None = None
    windowEndsAt: datetime | None = None
    recovered: bool | None = None
    nudged: bool | None = None
    problem: ProblemAnswer | None = None


class RenewalsAnswer(Answer):
    renewals: list[RenewalAnswer]


class ProgressedAnswer(Answer):
    attemptId: UUID


class LeftAnswer(Answer):
    taskId: UUID
    state: str
    stateVersion: int
    reason: str


class FileAnswer(Answer):
    sha256: str
    size: int


class StagedAnswer(Answer):
    resultDigest: str
    late: bool


class DeliveredAnswer(Answer):
    deliveryId: UUID
    round: int
    resultDigest: str
    subjectDigest: str
    stateVersion: int


class CommittedAnswer(Answer):
    outcome: str
    resultCommitId: UUID
    taskId: UUID
    resultDigest: str
    stateVersion: int


class CreatedTaskAnswer(Answer):
    taskId: UUID
    number: int
    nodeId: str
    state: str
    stateVersion: int
    inputDigest: str | None


class CreatedAnswer(Answer):
    tasks: list[CreatedTaskAnswer]


class AdjustedAnswer(Answer):
    taskId: UUID
    stateVersion: int
    changed: list[str]


class RevisedAnswer(CreatedTaskAnswer):
    """``supersedes`` is the revision before; ``revision`` counts from 1."""

    revision: int
    supersedes: UUID


class CancelledAnswer(Answer):
    taskId: UUID
    state: str
    cancelGeneration: int
    stateVersion: int


class AcknowledgedAnswer(Answer):
    taskId: UUID
    effectId: str
    counts: bool
    stateVersion: int


class ProblemAnswer(Schema):
    """An error (RFC 9457). ``retry``: the same request, a new one, or never."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    retry: str
    legalActions: list[str]
    requestId: str
    current: dict[str, Any] | None = None
    reasons: list[str] | None = None


RenewalAnswer.model_rebuild()
