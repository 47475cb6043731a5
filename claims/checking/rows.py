"""One task as its tables have it: everything the invariants are held against.

Plain values of one snapshot. Nothing here is locked, and nothing of it is ever saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from claims.lifecycle import EDGES, Edge
from claims.vocabulary import ActorKind, Verb

_EDGES = {(edge.source, edge.verb, edge.target): edge for edge in EDGES}


@dataclass(frozen=True, slots=True)
class Told:
    """One row of history. ``body`` is what the verb said; ``id`` orders rows of all tasks."""

    id: int
    pool_id: int
    task_id: UUID
    state_version: int
    verb: str
    from_state: str | None
    to_state: str
    claim_generation: int
    attempt_id: UUID | None
    actor_kind: str
    actor_id: int
    actor_name: str
    source: str
    request_id: str
    at: datetime
    validated: str | None
    hash: bytes
    body: Mapping[str, Any]

    @property
    def edge(self) -> Edge | None:
        """The edge it is; None where the contract has none."""
        return _EDGES.get((self.from_state, self.verb, self.to_state))  # type: ignore[arg-type]

    @property
    def grants(self) -> bool:
        """Whether an attempt begins here: an edge to CLAIMED of a verb that can grant."""
        edge = self.edge
        return edge is not None and edge.grants

    @property
    def is_of_an_agent(self) -> bool:
        return self.actor_kind == ActorKind.AGENT

    def __str__(self) -> str:
        return f"Version {self.state_version} ({self.verb})"


@dataclass(frozen=True, slots=True)
class TaskNow:
    id: UUID
    number: int
    pool_id: int
    lineage_id: UUID
    revision: int
    node_id: str
    state: str
    reason: str
    state_version: int
    claim_generation: int
    cancel_generation: int
    attempts_used: int
    rounds: int
    attempt_id: UUID | None
    runner_id: int | None
    delivery_id: UUID | None
    result_commit_id: UUID | None
    input_digest: str | None
    is_stale: bool
    preparer_id: int | None
    history_hash: bytes


@dataclass(frozen=True, slots=True)
class AttemptNow:
    """``agent_name`` is the runner's; ``noted_under`` what its last progress was compared with."""

    id: UUID
    agent_id: int
    agent_name: str
    owner_id: int
    claim_generation: int
    scheduler_epoch: int
    cancel_generation: int
    is_counted: bool
    granted_version: int
    outcome: str | None
    noted_under: str | None

    @property
    def granted(self) -> str:
        """Its fence's numbers, as a comparison writes them."""
        return f"{self.scheduler_epoch}.{self.claim_generation}.{self.cancel_generation}"


@dataclass(frozen=True, slots=True)
class LeaseNow:
    attempt_id: UUID
    agent_id: int
    claim_generation: int
    renewed_under: str | None


@dataclass(frozen=True, slots=True)
class CommitNow:
    commit_id: UUID
    attempt_id: UUID
    delivery_id: UUID | None
    claim_generation: int
    scheduler_epoch: int
    cancel_generation: int
    result_digest: str
    reviewer_id: int | None

    @property
    def fence(self) -> str:
        return f"{self.scheduler_epoch}.{self.claim_generation}.{self.cancel_generation}"


@dataclass(frozen=True, slots=True)
class DeliveryNow:
    id: UUID
    attempt_id: UUID
    agent_id: int
    makers: Sequence[int]
    round: int
    state: str
    input_digest: str
    result_digest: str
    subject_digest: str
    claim_generation: int
    scheduler_epoch: int
    cancel_generation: int

    @property
    def fence(self) -> str:
        return f"{self.scheduler_epoch}.{self.claim_generation}.{self.cancel_generation}"


@dataclass(frozen=True, slots=True)
class DecisionNow:
    delivery_id: UUID
    kind: str
    reviewer_id: int
    subject_digest: str
    marks: Sequence[str]
    makers: Sequence[int]


@dataclass(frozen=True, slots=True)
class StagedNow:
    """A result that was delivered or committed."""

    attempt_id: UUID
    result_digest: str
    late: bool
    result: Any
    evidence: Any


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted write beside history: staged, a file, a tool call. ``what`` names it."""

    what: str
    attempt_id: UUID
    validated: str | None


@dataclass(frozen=True, slots=True)
class EffectNow:
    id: str
    slot: str
    mode: str
    state: str
    version: int
    permit_id: UUID | None
    permits: int
    doubts: int
    settle_seconds: int
    payload_digest: str
    payload: Any


@dataclass(frozen=True, slots=True)
class PermitNow:
    id: UUID
    effect_id: str
    attempt_id: UUID
    number: int
    mode: str
    approval_id: UUID | None
    claim_generation: int
    scheduler_epoch: int
    cancel_generation: int
    granted_at: datetime
    deadline: datetime

    @property
    def fence(self) -> str:
        return f"{self.scheduler_epoch}.{self.claim_generation}.{self.cancel_generation}"


@dataclass(frozen=True, slots=True)
class ApprovalNow:
    id: UUID
    effect_id: str
    state: str
    payload_digest: str
    claim_generation: int
    scheduler_epoch: int
    person_id: int
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class ObservationNow:
    effect_id: str
    permit_id: UUID | None
    said: str
    is_applied: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class PinNow:
    """A result the task was opened with. ``done_row`` is the history row that made the predecessor DONE;
    ``next_row`` the first one of the predecessor's next revision."""

    node_id: str
    predecessor_number: int
    predecessor_lineage: UUID
    result_digest: str
    committed_digest: str | None
    done_row: int | None
    next_row: int | None


@dataclass(frozen=True, slots=True)
class Before:
    """The revision before this one, where the generations are carried on from."""

    claim_generation: int
    cancel_generation: int


@dataclass(frozen=True, slots=True)
class PoolNow:
    """``raises`` are moments and the epochs from then on; ``closures`` when the gate was shut, and until when."""

    id: int
    name: str
    scheduler_epoch: int
    gate: str
    raises: Sequence[tuple[datetime, int]] = ()
    closures: Sequence[tuple[datetime, datetime | None]] = ()

    def epoch_at(self, moment: datetime) -> int:
        """The epoch that the pool's events say was current then; 0 where they say nothing."""
        return max((epoch for at, epoch in self.raises if at < moment), default=0)

    def is_shut_at(self, moment: datetime) -> bool:
        """Whether the gate was DRAINING then."""
        return any(since < moment and (until is None or moment < until) for since, until in self.closures)


@dataclass(frozen=True, slots=True)
class Life:
    """All that is stored of one task, of one moment."""

    pool: PoolNow
    task: TaskNow
    input: Any
    rows: Sequence[Told]
    attempts: Mapping[UUID, AttemptNow]
    leases: Sequence[LeaseNow] = ()
    commits: Sequence[CommitNow] = ()
    deliveries: Sequence[DeliveryNow] = ()
    decisions: Sequence[DecisionNow] = ()
    staged: Sequence[StagedNow] = ()
    accepted: Sequence[Accepted] = ()
    effects: Sequence[EffectNow] = ()
    permits: Sequence[PermitNow] = ()
    approvals: Sequence[ApprovalNow] = ()
    observations: Sequence[ObservationNow] = ()
    pins: Sequence[PinNow] = ()
    depends_on: Sequence[tuple[UUID, str]] = field(default=())
    before: Before | None = None

    @property
    def steps(self) -> Iterator[tuple[Told, Told]]:
        """Each row but the first, with the one before it."""
        return pairwise(self.rows)

    def rows_of(self, *verbs: Verb) -> list[Told]:
        """The rows of these verbs."""
        return [row for row in self.rows if row.verb in verbs]


Found = Iterator[str]
"""What an invariant yields: a sentence for everything that does not hold."""
Invariant = Callable[[Life], Found]
