"""Attempts whose evidence can be taken over by another runner (claim.v1 section 2)."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Exists, OuterRef

from claims.models import Attempt, Delivery, StagedResult

LIMIT = 200


def attempts(task_ids: Collection[UUID]) -> dict[UUID, list[Attempt]]:
    """The ended attempts of these tasks that staged or delivered a result, newest first. One query."""
    if not task_ids:
        return {}
    staged = StagedResult.objects.filter(attempt_id=OuterRef("pk"))
    delivered = Delivery.objects.filter(attempt_id=OuterRef("pk"))
    rows = Attempt.objects.filter(task_id__in=list(task_ids), outcome__isnull=False)
    rows = rows.filter(Exists(staged) | Exists(delivered)).select_related("agent")
    found: dict[UUID, list[Attempt]] = {}
    for attempt in rows.order_by("-claim_generation")[:LIMIT]:
        found.setdefault(attempt.task_id, []).append(attempt)
    return found
