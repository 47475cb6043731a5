"""What the calls about outside effects answer, for the OpenAPI document."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from claims.api.answers import Answer


class PermitAnswer(Answer):
    """The last permit. ``live``: its call may still be made. Reading it gives no right to make one."""

    permitId: UUID
    number: int
    attemptId: UUID
    runner: str
    claimGeneration: int
    schedulerEpoch: int
    grantedAt: datetime
    deadline: datetime
    live: bool


class GivenPermitAnswer(PermitAnswer):
    """The right to make one call: what the outside system can refuse a late or second one by."""

    secondsRemaining: float
    idempotencyKey: str
    resourceEtag: str | None


class ApprovalAnswer(Answer):
    """A person's last answer about the effect, and all that it is bound to."""

    approvalId: UUID
    state: str
    person: str
    payloadDigest: str
    claimGeneration: int
    schedulerEpoch: int
    doubt: int
    note: str
    at: datetime
    expiresAt: datetime | None


class ObservationAnswer(Answer):
    """What somebody saw or said. ``applied``: it moved the effect."""

    said: str
    via: str
    lookUp: str
    strong: bool
    applied: bool
    etag: str
    permitId: UUID | None
    attemptId: UUID | None
    receipt: Any
    note: str
    actor: str
    at: datetime


class EffectAnswer(Answer):
    """An effect. ``settlesAt``: until then a paused sender may still send."""

    effectId: str
    taskId: UUID
    number: int
    revision: int
    pool: str
    slot: str
    mode: str
    target: str
    serialKey: str
    required: bool
    payloadDigest: str
    payload: Any
    preparedAt: datetime
    state: str
    stateVersion: int
    version: int
    etag: str
    hasHappened: bool
    settlesAt: datetime | None
    permit: PermitAnswer | None
    approval: ApprovalAnswer | None
    observations: list[ObservationAnswer]
    receipt: Any
    resourceEtag: str | None


class PermittedAnswer(EffectAnswer):
    permit: GivenPermitAnswer


class ToolAnswer(Answer):
    """``acceptedAt`` is the moment, by the database's clock, at which the fence was current."""

    outcome: str
    attemptId: UUID
    tool: str
    argsDigest: str
    acceptedAt: datetime
