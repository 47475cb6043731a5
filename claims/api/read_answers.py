"""What the calls that only read answer, for the OpenAPI document."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict

from claims.api.answers import Answer, CommentAnswer, FenceAnswer, VerdictAnswer


class SeenPoolAnswer(Answer):
    pool: str
    rights: list[str]
    schedulerEpoch: int
    gate: str


class WhoAmIAnswer(Schema):
    """``agent`` or ``person``, never both."""

    model_config = ConfigDict(extra="forbid")

    agent: str | None = None
    person: str | None = None
    owner: str | None = None
    labels: list[str]
    disabled: bool | None = None
    scopes: list[str]
    attemptId: UUID | None = None
    pools: list[SeenPoolAnswer]


class PoliciesAnswer(Answer):
    reclaimPolicy: str
    selfReview: str
    allowsUnreviewed: bool
    ttlSeconds: int
    maxTtlSeconds: int
    windowSeconds: int
    maxAttempts: int
    lateEvidenceDays: int


class BlockerAnswer(Answer):
    number: int
    title: str
    runner: str | None
    since: datetime
    what: str


class ConditionAnswer(Answer):
    """How many are in the way, and the first of them by name."""

    count: int
    blockers: list[BlockerAnswer]


class ClaimsConditionAnswer(ConditionAnswer):
    """``quiet`` of the claims have a lease that has run out; they can write all the same."""

    quiet: int


class DrainAnswer(Answer):
    drained: bool
    claims: ClaimsConditionAnswer
    effects: ConditionAnswer
    deliveries: ConditionAnswer


class PoolAnswer(Answer):
    pool: str
    title: str
    schedulerEpoch: int
    gate: str
    policies: PoliciesAnswer
    counts: dict[str, int]
    countsStopAt: int
    drain: DrainAnswer


class ListedTaskAnswer(Answer):
    """A task as lists show it. ``stale``: it was built on a result that has been replaced."""

    taskId: UUID
    number: int
    pool: str
    nodeId: str
    lineage: UUID
    revision: int
    stale: bool
    title: str
    state: str
    reason: str
    stateSince: datetime
    stateVersion: int
    claimGeneration: int
    cancelGeneration: int
    inputDigest: str | None
    access: list[str]
    priority: int
    notBefore: datetime | None
    ttlSeconds: int
    maxAttempts: int
    attemptsUsed: int
    rounds: int
    reviewPolicy: str
    reclaimPolicy: str
    reviewer: str | None
    reviewerGroup: str | None
    runner: str | None
    attemptId: UUID | None
    deliveryId: UUID | None
    resultCommitId: UUID | None
    leaseExpiresAt: datetime | None
    createdBy: str
    createdAt: datetime


class TasksAnswer(Answer):
    tasks: list[ListedTaskAnswer]
    next: str | None


class RevisionAnswer(Answer):
    taskId: UUID
    number: int
    revision: int
    state: str


class NeighbourAnswer(RevisionAnswer):
    """The newest revision of a lineage on the other end of an edge, and the name of that edge."""

    nodeId: str
    title: str


class WaitedForAnswer(NeighbourAnswer):
    resultDigest: str | None


class PinAnswer(Answer):
    """Which result of which predecessor the task was opened with."""

    nodeId: str
    taskId: UUID
    number: int
    resultDigest: str


class EffectSummaryAnswer(Answer):
    effectId: str
    slot: str
    mode: str
    target: str
    required: bool
    payloadDigest: str
    state: str
    version: int
    preparedAt: datetime


class MoneyAnswer(Answer):
    amount: str
    currency: str


class SumAnswer(Answer):
    """Some attempts together; ``told`` of them said what they cost."""

    attempts: int
    told: int
    seconds: float
    tokens: int
    money: list[MoneyAnswer]


class CostsAnswer(Answer):
    """What attempts cost; ``discarded`` by how they ended."""

    accepted: SumAnswer
    inWork: SumAnswer
    discarded: dict[str, SumAnswer]


class TaskAnswer(ListedTaskAnswer):
    """One task, whole. ``blockedBy`` names what it waits for; the result is there once it is DONE."""

    input: dict[str, Any]
    resultDigest: str | None
    committedAttempt: UUID | None
    committedAt: datetime | None
    result: Any
    evidence: list[dict[str, Any]] | None
    newestRevision: RevisionAnswer
    revisions: list[RevisionAnswer]
    predecessors: list[WaitedForAnswer]
    blockedBy: list[str]
    successors: list[NeighbourAnswer]
    pins: list[PinAnswer]
    effects: list[EffectSummaryAnswer]
    cost: CostsAnswer


class HistoryRowAnswer(Answer):
    """One change. ``from`` is null for the first one; ``hash`` chains it to the one before."""

    stateVersion: int
    verb: str
    to: str
    claimGeneration: int
    attemptId: UUID | None
    actorKind: str
    actor: str
    source: str
    requestId: str
    at: datetime
    body: dict[str, Any]
    hash: str

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda schema: _with_from(schema))


class HistoryAnswer(Answer):
    history: list[HistoryRowAnswer]
    next: int | None


class RefusalRowAnswer(Answer):
    """A write that changed nothing: the fence that was presented, and what was current."""

    id: int
    verb: str
    code: str
    detail: str
    retry: str
    legalActions: list[str]
    presented: dict[str, Any]
    current: dict[str, Any]
    attemptId: UUID | None
    actorKind: str
    actor: str
    source: str
    requestId: str
    at: datetime


class RefusalsAnswer(Answer):
    refusals: list[RefusalRowAnswer]
    next: int | None


class StandingAnswer(Answer):
    """Where the attempt's task is now."""

    state: str
    reason: str
    stateVersion: int
    schedulerEpoch: int
    claimGeneration: int
    cancelGeneration: int


class OwnDeliveryAnswer(Answer):
    deliveryId: UUID
    round: int
    state: str
    decision: str | None


class AttemptAnswer(Answer):
    """An attempt as it stands. ``live``: its fence can still be committed."""

    attemptId: UUID
    taskId: UUID
    number: int
    title: str
    pool: str
    agent: str
    fence: FenceAnswer
    live: bool
    outcome: str | None
    startedAt: datetime
    endedAt: datetime | None
    note: str
    notedAt: datetime | None
    cost: dict[str, Any] | None
    leaseExpiresAt: datetime | None
    leaseSecondsRemaining: float | None
    windowEndsAt: datetime | None
    nudged: bool
    current: StandingAnswer
    delivery: OwnDeliveryAnswer | None


class DecisionAnswer(Answer):
    decision: str
    reviewer: str
    note: str
    reason: str
    verdicts: list[VerdictAnswer]
    comments: list[CommentAnswer]
    marks: list[str]
    decidedAt: datetime


class DeliveryAnswer(Answer):
    """A delivery. ``claims``, ``summary`` and ``needs`` are the agent's word, ``facts`` the server's."""

    deliveryId: UUID
    taskId: UUID
    number: int
    title: str
    pool: str
    attemptId: UUID
    agent: str
    round: int
    state: str
    inputDigest: str
    resultDigest: str
    subjectDigest: str
    claimGeneration: int
    schedulerEpoch: int
    summary: str
    needs: str
    claims: dict[str, str]
    facts: dict[str, Any]
    deliveredAt: datetime
    result: Any
    evidence: list[dict[str, Any]] | None
    decision: DecisionAnswer | None


class EventAnswer(Answer):
    """One row of history of one of the caller's pools."""

    id: int
    pool: str
    taskId: UUID
    number: int
    stateVersion: int
    verb: str
    to: str
    claimGeneration: int
    attemptId: UUID | None
    actorKind: str
    actor: str
    source: str
    at: datetime
    body: dict[str, Any]

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda schema: _with_from(schema))


class EventsAnswer(Answer):
    """``next`` is the ``after`` of the following call."""

    events: list[EventAnswer]
    next: str


def _with_from(schema: dict[str, Any]) -> None:
    """``from`` is a word of Python, so it is described here and is no attribute."""
    schema["properties"]["from"] = {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "From"}
    schema["required"].append("from")
