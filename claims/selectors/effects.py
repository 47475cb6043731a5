"""Reads of outside effects: one of them whole, those of a task, and the lists that wait for people.

Promises: an effect past its permit's deadline, or of an ended epoch, reads as UNKNOWN here as it
does in every decision; nothing is written; every list is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from claims import decide
from claims.decide.rows import EffectRow
from claims.models import Approval, Effect, Observation, Permit, Task
from claims.selectors.api.rows import rows
from claims.vocabulary import ApprovalState, EffectMode, EffectState, State

LIMIT = 200
OBSERVATIONS_LIMIT = 100


@dataclass(frozen=True, slots=True)
class PermitSeen:
    """The last permit of an effect. ``is_live``: it may still be acted on."""

    permit_id: UUID
    number: int
    attempt_id: UUID
    agent_id: int
    claim_generation: int
    scheduler_epoch: int
    granted_at: datetime
    deadline: datetime
    is_live: bool


@dataclass(frozen=True, slots=True)
class ApprovalSeen:
    """The last answer of a person. ``is_good``: a permit could consume it now."""

    approval_id: UUID
    state: ApprovalState
    person: str
    payload_digest: str
    claim_generation: int
    scheduler_epoch: int
    doubt: int
    note: str
    at: datetime
    expires_at: datetime | None
    is_good: bool


@dataclass(frozen=True, slots=True)
class ObservationSeen:
    """What somebody saw or said of an effect."""

    said: str
    via: str
    look_up: str
    is_strong: bool
    is_applied: bool
    permit_id: UUID | None
    attempt_id: UUID | None
    etag: str
    receipt: Any
    note: str
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EffectSeen:
    """An effect as it reads now.

    ``state`` is that of every decision; ``version`` is what an operator posts, ``etag`` what a
    runner's observation names. ``claim_generation`` and ``scheduler_epoch`` are the task's and the
    pool's, for an approval to post. ``settles_at``: when a paused sender can no longer send.
    """

    effect_id: str
    task_id: UUID
    number: int
    title: str
    task_state: State
    runner_id: int | None
    preparer_id: int | None
    pool_id: int
    pool: str
    claim_generation: int
    scheduler_epoch: int
    slot: str
    mode: EffectMode
    target: str
    serial_key: str
    is_required: bool
    state: EffectState
    state_since: datetime
    version: int
    etag: str
    permits: int
    doubts: int
    has_happened: bool
    payload_digest: str
    payload: Any
    resource_etag: str
    receipt: Any
    prepared_at: datetime
    settles_at: datetime | None
    permit: PermitSeen | None = None
    approval: ApprovalSeen | None = None
    observations: tuple[ObservationSeen, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _Around:
    """What effects are judged by, read at one moment."""

    now: datetime
    tasks: Mapping[UUID, Task]
    permits: Mapping[UUID, Permit]
    approvals: Mapping[str, Approval]
    observations: Mapping[str, list[ObservationSeen]]


def effect(effect_id: str) -> EffectSeen | None:
    """One effect with all that is known of it; None where there is none."""
    found = _seen(Effect.objects.filter(id=effect_id))
    return found[0] if found else None


def of_task(task_id: UUID) -> list[EffectSeen]:
    """The effects of one revision of a task, as they were prepared."""
    return _seen(Effect.objects.filter(task_id=task_id).order_by("prepared_at", "id"))


def of_lineage(lineage_id: UUID) -> list[EffectSeen]:
    """The effects of all revisions of a task, for a preparer to acknowledge."""
    return _seen(Effect.objects.filter(lineage_id=lineage_id).order_by("prepared_at", "id"))


def for_operators(pool_ids: Sequence[int], limit: int = LIMIT) -> list[EffectSeen]:
    """What is under way or in doubt, and what is PREPARED though somebody saw it happen; oldest first."""
    in_doubt = Q(state__in=[EffectState.EXECUTING.value, EffectState.UNKNOWN.value])
    contested = Q(state=EffectState.PREPARED.value, has_happened=True)
    found = Effect.objects.filter(in_doubt | contested, pool_id__in=list(pool_ids))
    return _seen(found.order_by("state_since", "id"), limit)


def for_reviewers(pool_ids: Sequence[int], limit: int = LIMIT) -> list[EffectSeen]:
    """What waits for a person before it is sent and may not be sent yet; oldest first."""
    found = Effect.objects.filter(
        pool_id__in=list(pool_ids),
        mode=EffectMode.NON_REPLAYABLE.value,
        state=EffectState.PREPARED.value,
        has_happened=False,
        task__state=State.CLAIMED.value,
    )
    waiting = _seen(found.order_by("state_since", "id"), limit)
    return [each for each in waiting if each.approval is None or not _is_answered(each, each.approval)]


def _is_answered(seen: EffectSeen, approval: ApprovalSeen) -> bool:
    """Granted and good, or refused for this very claim and doubt."""
    if approval.state is not ApprovalState.REFUSED:
        return approval.is_good
    return (approval.claim_generation, approval.doubt) == (seen.claim_generation, seen.doubts)


def _seen(found: QuerySet[Effect], limit: int = LIMIT) -> list[EffectSeen]:
    """The effects of a query with what is around them: six queries, however many effects."""
    effects = list(found.select_related("pool")[:limit])
    if not effects:
        return []
    around = _around(effects)
    return [_one(each, around) for each in effects]


def _around(effects: Sequence[Effect]) -> _Around:
    ids = [each.id for each in effects]
    permits = Permit.objects.in_bulk([each.permit_id for each in effects if each.permit_id])
    answers = Approval.objects.filter(effect_id__in=ids).select_related("person").order_by("at", "id")
    said: dict[str, list[ObservationSeen]] = {}
    for row in Observation.objects.filter(effect_id__in=ids).order_by("at", "id"):
        kept = said.setdefault(row.effect_id, [])
        if len(kept) < OBSERVATIONS_LIMIT:
            kept.append(_observation(row))
    tasks = Task.objects.in_bulk([each.task_id for each in effects])
    now: datetime = rows("SELECT clock_timestamp()", [])[0][0]
    return _Around(now, tasks, permits, {answer.effect_id: answer for answer in answers}, said)


def _one(row: Effect, around: _Around) -> EffectSeen:
    task, pool = around.tasks[row.task_id], row.pool
    permit = around.permits.get(row.permit_id) if row.permit_id else None
    judged = _judged(row, permit)
    is_live = decide.is_live_at(judged, around.now, pool.scheduler_epoch, task.attempt_id)
    is_in_doubt = judged.state is EffectState.EXECUTING and not is_live
    return EffectSeen(
        effect_id=row.id,
        task_id=task.id,
        number=task.number,
        title=task.title,
        task_state=State(task.state),
        runner_id=task.runner_id,
        preparer_id=task.preparer_id,
        pool_id=pool.id,
        pool=pool.name,
        claim_generation=task.claim_generation,
        scheduler_epoch=pool.scheduler_epoch,
        slot=row.slot,
        mode=judged.mode,
        target=row.target,
        serial_key=row.serial_key,
        is_required=row.is_required,
        state=EffectState.UNKNOWN if is_in_doubt else judged.state,
        state_since=row.state_since,
        version=row.version,
        etag=decide.etag(around.now, judged),
        permits=row.permits,
        doubts=row.doubts,
        has_happened=row.has_happened,
        payload_digest=row.payload_digest,
        payload=row.payload,
        resource_etag=row.resource_etag,
        receipt=row.receipt,
        prepared_at=row.prepared_at,
        settles_at=decide.settles_at(judged),
        permit=_permit(permit, is_live) if permit else None,
        approval=_approval(around.approvals[row.id], row, task, around.now)
        if row.id in around.approvals
        else None,
        observations=tuple(around.observations.get(row.id, ())),
    )


def _judged(row: Effect, permit: Permit | None) -> EffectRow:
    """The effect as the decisions take it."""
    return EffectRow(
        id=row.id,
        task_id=row.task_id,
        slot=row.slot,
        mode=EffectMode(row.mode),
        target=row.target,
        serial_key=row.serial_key,
        is_required=row.is_required,
        permit_seconds=row.permit_seconds,
        settle_seconds=row.settle_seconds,
        payload_digest=row.payload_digest,
        state=EffectState(row.state),
        version=row.version,
        permits=row.permits,
        doubts=row.doubts,
        has_happened=row.has_happened,
        resource_etag=row.resource_etag,
        permit_id=row.permit_id,
        permit_attempt_id=permit.attempt_id if permit else None,
        permit_epoch=permit.scheduler_epoch if permit else None,
        permit_deadline=permit.deadline if permit else None,
    )


def _permit(permit: Permit, is_live: bool) -> PermitSeen:
    return PermitSeen(
        permit.id,
        permit.number,
        permit.attempt_id,
        permit.agent_id,
        permit.claim_generation,
        permit.scheduler_epoch,
        permit.granted_at,
        permit.deadline,
        is_live,
    )


def _approval(row: Approval, effect: Effect, task: Task, now: datetime) -> ApprovalSeen:
    is_bound = (row.payload_digest, row.claim_generation, row.scheduler_epoch, row.doubt) == (
        effect.payload_digest,
        task.claim_generation,
        effect.pool.scheduler_epoch,
        effect.doubts,
    )
    is_current = row.state == ApprovalState.GRANTED and row.expires_at is not None and row.expires_at > now
    return ApprovalSeen(
        row.id,
        ApprovalState(row.state),
        row.person.get_full_name() or row.person.get_username(),
        row.payload_digest,
        row.claim_generation,
        row.scheduler_epoch,
        row.doubt,
        row.note,
        row.at,
        row.expires_at,
        is_bound and is_current,
    )


def _observation(row: Observation) -> ObservationSeen:
    return ObservationSeen(
        row.said,
        row.via,
        row.look_up,
        row.is_strong,
        row.is_applied,
        row.permit_id,
        row.attempt_id,
        row.etag,
        row.receipt,
        row.note,
        row.actor_name,
        row.at,
    )
