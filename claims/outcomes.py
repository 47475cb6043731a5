"""What a verb answers: a value for success, or ``Refused`` with its reason.

Promises: ``RULES`` covers every ``Why`` and is the one place that says which HTTP status a
refusal has, whether a retry makes sense and which sentence a person reads. It is longer than a
file should be because it is two tables, the codes with their rules and the answers of the
verbs, and each is read whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from claims.fences import Fence
from claims.vocabulary import ApprovalState, DecisionKind, EffectState, Gate, State


class Why(StrEnum):
    """Every code of claim.v1 section 4, and those of the door before it."""

    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    MALFORMED = "MALFORMED"
    UNPROCESSABLE = "UNPROCESSABLE"
    UPGRADE_REQUIRED = "UPGRADE_REQUIRED"
    CANCELLED = "CANCELLED"
    STALE_INPUT = "STALE_INPUT"
    FENCED = "FENCED"
    OLD_EPOCH = "OLD_EPOCH"
    GATE_CLOSED = "GATE_CLOSED"
    STALE_STATE = "STALE_STATE"
    NOT_CLAIMABLE = "NOT_CLAIMABLE"
    NOT_ELIGIBLE = "NOT_ELIGIBLE"
    NOT_CLAIMED = "NOT_CLAIMED"
    NOT_QUIET = "NOT_QUIET"
    NOT_HELD = "NOT_HELD"
    WINDOW_EXCEEDED = "WINDOW_EXCEEDED"
    ALREADY_EXTENDED = "ALREADY_EXTENDED"
    ALREADY_COMMITTED = "ALREADY_COMMITTED"
    ALREADY_DELIVERED = "ALREADY_DELIVERED"
    TOO_LATE = "TOO_LATE"
    REVIEW_REQUIRED = "REVIEW_REQUIRED"
    NOT_STAGED = "NOT_STAGED"
    THIN_EVIDENCE = "THIN_EVIDENCE"
    CRITERIA_UNMET = "CRITERIA_UNMET"
    SCOPE_VIOLATION = "SCOPE_VIOLATION"
    NOT_REVIEWER = "NOT_REVIEWER"
    SELF_REVIEW = "SELF_REVIEW"
    ALREADY_DECIDED = "ALREADY_DECIDED"
    STALE_DELIVERY = "STALE_DELIVERY"
    EFFECTS_UNRESOLVED = "EFFECTS_UNRESOLVED"
    PAYLOAD_CONFLICT = "PAYLOAD_CONFLICT"
    SLOT_MISMATCH = "SLOT_MISMATCH"
    SERIAL_BUSY = "SERIAL_BUSY"
    APPROVAL_REQUIRED = "APPROVAL_REQUIRED"
    MUST_RECONCILE = "MUST_RECONCILE"
    WEAK_OBSERVATION = "WEAK_OBSERVATION"
    EPOCH_CONFLICT = "EPOCH_CONFLICT"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    IN_PROGRESS = "IN_PROGRESS"
    KEY_REUSED = "KEY_REUSED"
    RATE_LIMITED = "RATE_LIMITED"
    TOO_LARGE = "TOO_LARGE"
    UNSUPPORTED_MEDIA = "UNSUPPORTED_MEDIA"
    BUSY = "BUSY"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"


class Retry(StrEnum):
    """Whether asking again can help: the same request, a new one, or never."""

    SAME_KEY = "same_key"
    NEW_KEY = "new_key"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Rule:
    """How one reason is answered. ``then`` names the calls that make sense next."""

    status: int
    retry: Retry
    sentence: str
    then: tuple[str, ...] = ()


def _rule(status: int, retry: Retry, sentence: str, *then: str) -> Rule:
    return Rule(status, retry, sentence, then)


_NEW, _SAME, _NEVER = Retry.NEW_KEY, Retry.SAME_KEY, Retry.NEVER

RULES: dict[Why, Rule] = {
    Why.UNAUTHENTICATED: _rule(401, _NEVER, "The request carries no valid token."),
    Why.FORBIDDEN: _rule(403, _NEVER, "You do not have the right to do this."),
    Why.NOT_FOUND: _rule(404, _NEVER, "There is nothing here, or it is not yours to see."),
    Why.MALFORMED: _rule(400, _NEW, "The request is not well-formed."),
    Why.UNPROCESSABLE: _rule(422, _NEW, "The request is well-formed but makes no sense."),
    Why.UPGRADE_REQUIRED: _rule(426, _NEVER, "The request lacks fields that make the protocol."),
    Why.CANCELLED: _rule(409, _NEVER, "The task was cancelled.", "claim-next"),
    Why.STALE_INPUT: _rule(
        409, _NEVER, "The input this work was done for is no longer current.", "claim-next"
    ),
    Why.FENCED: _rule(
        409, _NEVER, "The claim this fence names has lost its authority; nothing was changed.", "claim-next"
    ),
    Why.OLD_EPOCH: _rule(409, _NEW, "The pool has a newer scheduler epoch.", "pool", "claim"),
    Why.GATE_CLOSED: _rule(409, _NEW, "The pool is draining and hands out no new claims."),
    Why.STALE_STATE: _rule(409, _NEW, "The task has changed since it was read.", "read"),
    Why.NOT_CLAIMABLE: _rule(409, _NEW, "The task cannot be claimed now.", "claim-next"),
    Why.NOT_ELIGIBLE: _rule(409, _NEVER, "This agent may not claim the task.", "claim-next"),
    Why.NOT_CLAIMED: _rule(
        409, _NEVER, "The task is not claimed, so there is nothing to do this to.", "read"
    ),
    Why.NOT_QUIET: _rule(409, _NEW, "The claim was renewed since you looked; its runner is alive.", "read"),
    Why.NOT_HELD: _rule(409, _NEVER, "The task is not held.", "read"),
    Why.WINDOW_EXCEEDED: _rule(
        409, _NEVER, "The claim cannot be renewed past the end of its window.", "deliver", "release"
    ),
    Why.ALREADY_EXTENDED: _rule(
        409, _NEVER, "This claim has been extended once already.", "release-quiet", "reassign"
    ),
    Why.ALREADY_COMMITTED: _rule(409, _NEVER, "The task has its canonical result, and it is another one."),
    Why.ALREADY_DELIVERED: _rule(
        409, _NEVER, "This claim has been delivered and waits for a decision.", "read"
    ),
    Why.TOO_LATE: _rule(409, _NEVER, "The task has been committed; it can no longer be cancelled."),
    Why.REVIEW_REQUIRED: _rule(
        409, _NEVER, "This task is accepted by a person; deliver it instead.", "deliver"
    ),
    Why.NOT_STAGED: _rule(409, _NEW, "No result with this digest has been staged by this attempt.", "stage"),
    Why.THIN_EVIDENCE: _rule(422, _NEW, "Required evidence is missing.", "stage", "deliver"),
    Why.CRITERIA_UNMET: _rule(422, _NEW, "Accepting needs every criterion met.", "request-changes"),
    Why.SCOPE_VIOLATION: _rule(
        409, _NEW, "An excluded file is touched; accepting needs a reason.", "request-changes"
    ),
    Why.NOT_REVIEWER: _rule(403, _NEVER, "Another person decides this delivery."),
    Why.SELF_REVIEW: _rule(403, _NEVER, "The evidence was made by an agent you own; another person decides."),
    Why.ALREADY_DECIDED: _rule(409, _NEVER, "This delivery has been decided."),
    Why.STALE_DELIVERY: _rule(409, _NEVER, "This is not the delivery you saw.", "read"),
    Why.EFFECTS_UNRESOLVED: _rule(
        409, _NEW, "Outside effects of this task are not settled.", "effect", "reconcile", "abandon"
    ),
    Why.PAYLOAD_CONFLICT: _rule(
        409, _NEVER, "Another payload is bound to this effect; work with that one.", "effect", "reconcile"
    ),
    Why.SLOT_MISMATCH: _rule(
        422, _NEVER, "The input declares no such slot, or not for this; a new slot is a new revision.", "read"
    ),
    Why.SERIAL_BUSY: _rule(
        409, _NEW, "Another effect with this serial key is under way or in doubt.", "effect", "execute"
    ),
    Why.APPROVAL_REQUIRED: _rule(
        409, _NEW, "A person has to approve this effect before it is sent.", "effect", "execute"
    ),
    Why.MUST_RECONCILE: _rule(
        409,
        _NEVER,
        "Whether this effect happened is not settled; look it up, do not send it.",
        "effect",
        "reconcile",
    ),
    Why.WEAK_OBSERVATION: _rule(
        409, _NEW, "The observation is kept, and is too weak to settle the effect.", "effect", "reconcile"
    ),
    Why.EPOCH_CONFLICT: _rule(409, _NEW, "The pool's epoch is not the one you saw.", "pool"),
    Why.PRECONDITION_FAILED: _rule(412, _NEW, "The task is not in the version your If-Match names.", "read"),
    Why.IN_PROGRESS: _rule(409, _SAME, "The first request with this key is still running."),
    Why.KEY_REUSED: _rule(422, _NEW, "This idempotency key was used for another request."),
    Why.RATE_LIMITED: _rule(429, _SAME, "Too many requests in a short time."),
    Why.TOO_LARGE: _rule(413, _NEVER, "The request is larger than the server takes."),
    Why.UNSUPPORTED_MEDIA: _rule(415, _NEVER, "The server does not read this media type or encoding."),
    Why.BUSY: _rule(503, _SAME, "The task is busy; nothing was changed."),
    Why.OUTCOME_UNKNOWN: _rule(503, _SAME, "Whether this happened is unknown; ask again with the same key."),
}


@dataclass(frozen=True, slots=True)
class Current:
    """What is true now, for somebody who was refused."""

    state: State
    state_version: int
    scheduler_epoch: int
    claim_generation: int
    cancel_generation: int
    runner: str | None = None
    lease_expires_at: datetime | None = None
    result_commit_id: UUID | None = None

    def as_json(self) -> dict[str, object]:
        """Under the names of the JSON API; what is not known is left out."""
        body: dict[str, object | None] = {
            "state": self.state.value,
            "stateVersion": self.state_version,
            "schedulerEpoch": self.scheduler_epoch,
            "claimGeneration": self.claim_generation,
            "cancelGeneration": self.cancel_generation,
            "runner": self.runner,
            "leaseExpiresAt": self.lease_expires_at.isoformat() if self.lease_expires_at else None,
            "resultCommitId": str(self.result_commit_id) if self.result_commit_id else None,
        }
        return {name: value for name, value in body.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was changed, and why.

    ``detail`` is one plain sentence; ``reasons`` lists every reason or missing item at once;
    ``extra`` holds fields that only this code has. ``keeps``: what was said is kept as an
    observation, so the transaction is committed although it accepted nothing.
    """

    why: Why
    detail: str = ""
    current: Current | None = None
    reasons: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    keeps: bool = False

    @property
    def rule(self) -> Rule:
        """How this reason is answered everywhere."""
        return RULES[self.why]

    @property
    def sentence(self) -> str:
        """What to tell a person or an agent."""
        return self.detail or self.rule.sentence


@dataclass(frozen=True, slots=True)
class CreatedTask:
    task_id: UUID
    number: int
    node_id: str
    state: State
    state_version: int
    input_digest: str | None


@dataclass(frozen=True, slots=True)
class Created:
    tasks: tuple[CreatedTask, ...]


@dataclass(frozen=True, slots=True)
class Adjusted:
    task_id: UUID
    state_version: int
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrantedTask:
    """What a runner needs to know of its task beside the fence, where it was read with it."""

    number: int
    title: str
    rounds: int
    input: Mapping[str, object]
    is_pinned: bool


@dataclass(frozen=True, slots=True)
class Granted:
    """A grant as it was made. ``task`` is filled where it was read in the same round trip."""

    fence: Fence
    input_digest: str
    state_version: int
    lease_expires_at: datetime
    window_ends_at: datetime
    task: GrantedTask | None = None


@dataclass(frozen=True, slots=True)
class Grants:
    grants: tuple[Granted, ...]


@dataclass(frozen=True, slots=True)
class Renewed:
    """``recovered``: the lease had run out. ``nudged``: an operator asks for a sign of life."""

    lease_expires_at: datetime
    window_ends_at: datetime
    recovered: bool
    nudged: bool
    lease_seconds_remaining: float = 0.0


@dataclass(frozen=True, slots=True)
class Progressed:
    attempt_id: UUID


@dataclass(frozen=True, slots=True)
class FileKept:
    """``is_new`` is false when this attempt already had these bytes."""

    sha256: str
    size: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Staged:
    """``late``: the fence was lost; kept apart for a while, never canonical."""

    result_digest: str
    late: bool


@dataclass(frozen=True, slots=True)
class Left:
    """The runner or an operator ended the claim; ``state`` is where the task is now."""

    task_id: UUID
    state: State
    state_version: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Delivered:
    delivery_id: UUID
    round: int
    result_digest: str
    subject_digest: str
    state_version: int


@dataclass(frozen=True, slots=True)
class Committed:
    result_commit_id: UUID
    task_id: UUID
    result_digest: str
    state_version: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A delivery sent back or rejected; ``state`` is where the task is now."""

    delivery_id: UUID
    kind: DecisionKind
    state: State
    state_version: int
    next_attempt_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The task is cancelled; a second cancel answers the same."""

    task_id: UUID
    cancel_generation: int
    state_version: int


@dataclass(frozen=True, slots=True)
class Revised:
    """``task`` is the new revision; ``revision`` counts from 1 within the lineage."""

    task: CreatedTask
    revision: int
    supersedes: UUID


@dataclass(frozen=True, slots=True)
class Acknowledged:
    task_id: UUID
    effect_id: str
    counts: bool
    state_version: int


@dataclass(frozen=True, slots=True)
class EffectMoved:
    """An effect was prepared, settled or put in doubt; its row is read by its id."""

    effect_id: str
    state: EffectState
    state_version: int


@dataclass(frozen=True, slots=True)
class Permitted:
    """The right to make one outside call, until ``deadline``. Never answered twice."""

    effect_id: str
    permit_id: UUID
    claim_generation: int
    resource_etag: str
    deadline: datetime
    seconds_remaining: float
    state_version: int


@dataclass(frozen=True, slots=True)
class Approved:
    """A person's answer about one effect, and until when it holds."""

    approval_id: UUID
    effect_id: str
    state: ApprovalState
    expires_at: datetime | None
    state_version: int


@dataclass(frozen=True, slots=True)
class ToolAccepted:
    """The fence was current when a tool server asked; ``accepted_at`` is the database's clock."""

    attempt_id: UUID
    tool: str
    args_digest: str
    accepted_at: datetime


@dataclass(frozen=True, slots=True)
class EpochRaised:
    pool: str
    scheduler_epoch: int
    before: int


@dataclass(frozen=True, slots=True)
class GateSet:
    pool: str
    gate: Gate
    scheduler_epoch: int


@dataclass(frozen=True, slots=True)
class Noted:
    """An operator's act that changes no authority: extend-once, nudge."""

    task_id: UUID
    state_version: int
    lease_expires_at: datetime | None = None
