"""Outside effects that only an operator, or the holder's look-up, can settle.

Promises: the count and the list go by the same rule: UNKNOWN as written or as it reads, and
PREPARED while somebody saw it happen. A call that is under way is not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from claims.inputs import Slot, parse_input
from claims.models import Effect, Permit, TaskInput
from claims.selectors.board import COUNT_LIMIT
from claims.selectors.effects import EffectSeen
from claims.vocabulary import EffectState


def in_doubt(pool_ids: Sequence[int]) -> QuerySet[Effect]:
    """The rows behind the badge."""
    live = Permit.objects.filter(
        pk=OuterRef("permit_id"),
        deadline__gt=Now(),
        scheduler_epoch=OuterRef("pool__scheduler_epoch"),
        attempt_id=OuterRef("task__attempt_id"),
    )
    unknown = Q(state=EffectState.UNKNOWN)
    lapsed = Q(state=EffectState.EXECUTING) & ~Exists(live)
    contested = Q(state=EffectState.PREPARED, has_happened=True)
    return Effect.objects.filter(unknown | lapsed | contested, pool_id__in=list(pool_ids))


def count(pool_ids: Sequence[int]) -> int:
    """How many there are, at most ``COUNT_LIMIT`` + 1. One query."""
    return in_doubt(pool_ids).order_by()[: COUNT_LIMIT + 1].count() if pool_ids else 0


def is_in_doubt(effect: EffectSeen) -> bool:
    """The same of one effect that was read."""
    contested = effect.state is EffectState.PREPARED and effect.has_happened
    return contested or effect.state is EffectState.UNKNOWN


def slots(task_ids: Collection[UUID]) -> dict[tuple[UUID, str], Slot]:
    """The declared slots of some tasks, by task and name. One query, none for no task."""
    if not task_ids:
        return {}
    rows = TaskInput.objects.filter(task_id__in=list(task_ids)).values_list("task_id", "body")
    return {(task_id, slot.slot): slot for task_id, body in rows for slot in parse_input(body).effects}
