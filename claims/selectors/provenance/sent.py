"""The part of a record that tells of outside effects: what was bound, permitted, approved and seen of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from claims.checking.results import as_written
from claims.models import Acknowledgement, Approval, Effect, Observation, Permit
from claims.selectors.provenance.parts import fence, moment, person

Rows = dict[str, list[dict[str, Any]]]


def effects_of(task_id: UUID) -> list[dict[str, Any]]:
    """The effects of one revision as they were prepared. Four queries, one where there are none."""
    effects = list(Effect.objects.filter(task_id=task_id).order_by("prepared_at", "id"))
    ids = [row.id for row in effects]
    permits = _of(ids, Permit.objects.order_by("effect_id", "number"), _permit)
    approvals = _of(ids, Approval.objects.select_related("person").order_by("at", "id"), _approval)
    seen = _of(ids, Observation.objects.order_by("at", "id"), _observation)
    return [
        {
            "effectId": row.id,
            "slot": row.slot,
            "mode": str(row.mode),
            "target": row.target,
            "serialKey": row.serial_key,
            "required": row.is_required,
            "payloadDigest": row.payload_digest,
            "payload": as_written(row.payload),
            "preparedBy": str(row.prepared_by),
            "preparedAt": moment(row.prepared_at),
            "state": str(row.state),
            "version": row.version,
            "receipt": as_written(row.receipt),
            "permits": permits[row.id],
            "approvals": approvals[row.id],
            "observations": seen[row.id],
        }
        for row in effects
    ]


def acknowledgements_of(task_id: UUID) -> list[dict[str, Any]]:
    """What was said for this revision of effects of earlier ones. One query."""
    rows = Acknowledgement.objects.filter(task_id=task_id).select_related("person").order_by("at", "id")
    return [
        {
            "effectId": row.effect_id,
            "counts": row.counts,
            "person": person(row.person),
            "reason": row.reason,
            "at": moment(row.at),
        }
        for row in rows
    ]


def _of(ids: Iterable[str], rows: QuerySet[Any], told: Any) -> Rows:
    """Rows by the effect they belong to; no query for no effect."""
    found: Rows = defaultdict(list)
    for row in rows.filter(effect_id__in=list(ids)):
        found[row.effect_id].append(told(row))
    return found


def _permit(row: Permit) -> dict[str, Any]:
    return {
        "permitId": str(row.id),
        "number": row.number,
        "attemptId": str(row.attempt_id),
        "fence": fence(row),
        "approvalId": str(row.approval_id) if row.approval_id else None,
        "grantedAt": moment(row.granted_at),
        "deadline": moment(row.deadline),
    }


def _approval(row: Approval) -> dict[str, Any]:
    return {
        "approvalId": str(row.id),
        "state": str(row.state),
        "person": person(row.person),
        "payloadDigest": row.payload_digest,
        "claimGeneration": row.claim_generation,
        "schedulerEpoch": row.scheduler_epoch,
        "doubt": row.doubt,
        "note": row.note,
        "at": moment(row.at),
        "expiresAt": moment(row.expires_at),
        "endedAt": moment(row.ended_at),
    }


def _observation(row: Observation) -> dict[str, Any]:
    return {
        "said": str(row.said),
        "via": str(row.via),
        "lookUp": row.look_up,
        "strong": row.is_strong,
        "applied": row.is_applied,
        "permitId": str(row.permit_id) if row.permit_id else None,
        "attemptId": str(row.attempt_id) if row.attempt_id else None,
        "receipt": as_written(row.receipt),
        "note": row.note,
        "actor": [str(row.actor_kind), row.actor_id, row.actor_name],
        "at": moment(row.at),
    }
