"""What a transition has read under its locks, as plain values.

Promises: everything a decision may look at is in here; nothing in here can be saved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from claims.outcomes import Current
from claims.vocabulary import (
    DeliveryState,
    EffectMode,
    EffectState,
    Gate,
    ReclaimPolicy,
    ReviewPolicy,
    Right,
    SelfReview,
    State,
)


@dataclass(frozen=True, slots=True)
class PoolRow:
    id: int
    name: str
    scheduler_epoch: int
    gate: Gate
    self_review: SelfReview
    allows_unreviewed: bool
    max_ttl_seconds: int
    window_seconds: int
    backoff_seconds: int
    max_backoff_seconds: int


@dataclass(frozen=True, slots=True)
class TaskRow:
    id: UUID
    number: int
    pool_id: int
    title: str
    state: State
    reason: str
    state_version: int
    claim_generation: int
    cancel_generation: int
    input_digest: str | None
    access: tuple[str, ...]
    priority: int
    not_before: datetime | None
    ttl_seconds: int
    max_attempts: int
    attempts_used: int
    rounds: int
    review_policy: ReviewPolicy
    reclaim_policy: ReclaimPolicy
    reviewer_id: int | None
    reviewer_group_id: int | None
    preferred_runner_id: int | None
    runner_id: int | None
    attempt_id: UUID | None
    delivery_id: UUID | None
    result_commit_id: UUID | None
    history_hash: bytes
    lineage_id: UUID
    revision: int
    declares_effects: bool
    is_stale: bool
    preparer_id: int | None


@dataclass(frozen=True, slots=True)
class LeaseRow:
    expires_at: datetime
    window_ends_at: datetime
    ttl_seconds: int
    renewals: int
    nudged_at: datetime | None
    extended_at: datetime | None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """The attempt that holds the task's authority, with its runner's name."""

    id: UUID
    agent_id: int
    agent_name: str
    owner_id: int
    claim_generation: int
    scheduler_epoch: int
    is_counted: bool


@dataclass(frozen=True, slots=True)
class CommitRow:
    """The canonical commit, and the agent whose attempt made it."""

    id: UUID
    attempt_id: UUID
    agent_id: int
    claim_generation: int
    scheduler_epoch: int
    cancel_generation: int
    input_digest: str
    result_digest: str


@dataclass(frozen=True, slots=True)
class AgentRow:
    """The standing of an agent, read in the same transaction as the grant."""

    id: int
    name: str
    owner_id: int
    labels: frozenset[str]
    is_disabled: bool
    works_here: bool


@dataclass(frozen=True, slots=True)
class PersonRow:
    """The standing of a person in the task's pool; no rights when the account is off.

    ``deputy_for`` are the people who named this person their deputy in the pool for today.
    """

    id: int
    rights: frozenset[Right] = frozenset()
    groups: frozenset[int] = frozenset()
    deputy_for: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery; ``state_version`` is the task's when it was made."""

    id: UUID
    attempt_id: UUID
    agent_id: int
    makers: frozenset[int]
    round: int
    state: DeliveryState
    input_digest: str
    result_digest: str
    subject_digest: str
    claim_generation: int
    scheduler_epoch: int
    cancel_generation: int
    state_version: int
    excluded_files: tuple[str, ...] = ()
    decided_by: str = ""
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EffectRow:
    """An effect of the task, or of an earlier revision of its lineage, with its last permit.

    ``counts`` is what the preparer acknowledged of an earlier revision's effect, if anything.
    """

    id: str
    task_id: UUID
    slot: str
    mode: EffectMode
    target: str
    serial_key: str
    is_required: bool
    permit_seconds: int
    settle_seconds: int
    payload_digest: str
    state: EffectState
    version: int
    permits: int
    doubts: int
    has_happened: bool
    resource_etag: str
    permit_id: UUID | None = None
    permit_attempt_id: UUID | None = None
    permit_epoch: int | None = None
    permit_deadline: datetime | None = None
    counts: bool | None = None


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The newest revision of a lineage the task depends on."""

    lineage_id: UUID
    node_id: str
    task_id: UUID
    number: int
    state: State
    result_digest: str | None = None


@dataclass(frozen=True, slots=True)
class TaskAsRead:
    """One task under its row lock, and what was read afresh after the lock was had.

    ``now`` is the database's ``clock_timestamp()`` after the lock; no other clock counts.
    """

    now: datetime
    pool: PoolRow
    task: TaskRow
    lease: LeaseRow | None = None
    attempt: AttemptRow | None = None
    commit: CommitRow | None = None
    agent: AgentRow | None = None
    person: PersonRow = field(default_factory=lambda: PersonRow(0))
    effects: tuple[EffectRow, ...] = ()
    predecessors: tuple[Predecessor, ...] = ()

    @property
    def own_effects(self) -> tuple[EffectRow, ...]:
        """The effects of this revision."""
        return tuple(effect for effect in self.effects if effect.task_id == self.task.id)

    @property
    def earlier_effects(self) -> tuple[EffectRow, ...]:
        """The effects of other revisions of the lineage."""
        return tuple(effect for effect in self.effects if effect.task_id != self.task.id)

    @property
    def is_below_epoch(self) -> bool:
        """Whether the claim was granted under an epoch that has ended."""
        return self.attempt is not None and self.attempt.scheduler_epoch != self.pool.scheduler_epoch

    @property
    def is_expired(self) -> bool:
        """Whether the claim may be looked at by somebody else; never who may write."""
        return self.lease is not None and (self.lease.expires_at <= self.now or self.is_below_epoch)

    @property
    def attempts_are_used_up(self) -> bool:
        return self.task.attempts_used >= self.task.max_attempts

    def current(self) -> Current:
        """What to tell somebody who was refused."""
        return Current(
            state=self.task.state,
            state_version=self.task.state_version,
            scheduler_epoch=self.pool.scheduler_epoch,
            claim_generation=self.task.claim_generation,
            cancel_generation=self.task.cancel_generation,
            runner=self.attempt.agent_name if self.attempt else None,
            lease_expires_at=self.lease.expires_at if self.lease else None,
            result_commit_id=self.task.result_commit_id,
        )
