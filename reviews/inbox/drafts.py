"""The verdicts a person has given and not sent yet: private, shown to nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Q

from claims.models import Delivery
from claims.selectors.seen import SeenPool, ids_with
from claims.vocabulary import DeliveryState, Right
from reviews.models import CommentDraft, Draft, VerdictDraft


@dataclass(frozen=True, slots=True)
class UnsentDraft:
    """What is unsent on one delivery, in a line, and when the person last typed."""

    delivery: Delivery
    words: str
    typed_at: datetime


def drafts_of(person_id: int, pools: Sequence[SeenPool]) -> list[UnsentDraft]:
    """The person's unsent drafts on current deliveries of these pools, newest first. Four queries."""
    judged = _by_delivery(VerdictDraft, person_id, Count("pk", filter=~Q(verdict="")))
    comments = _by_delivery(CommentDraft, person_id, Count("pk"))
    notes = _by_delivery(Draft, person_id, Count("pk", filter=~Q(note="") | ~Q(comment="")))
    ids = judged.keys() | comments.keys() | notes.keys()
    if not ids:
        return []
    current = Delivery.objects.filter(
        pk__in=ids, state=DeliveryState.PENDING, pool_id__in=ids_with(pools, Right.REVIEWER)
    ).select_related("task__specification")
    found = [_unsent(row, [counts.get(row.pk) for counts in (judged, comments, notes)]) for row in current]
    return sorted((one for one in found if one), key=lambda one: one.typed_at, reverse=True)


def _by_delivery(model: Any, person_id: int, count: Any) -> dict[UUID, tuple[int, datetime]]:
    """How many of these the person has on each delivery, and when the last was typed."""
    rows = model.objects.filter(person_id=person_id).order_by().values("delivery_id")
    grouped = rows.annotate(number=count, at=Max("typed_at"))
    return {row["delivery_id"]: (row["number"], row["at"]) for row in grouped}


def _unsent(delivery: Delivery, counts: list[tuple[int, datetime] | None]) -> UnsentDraft | None:
    """The line of one delivery; None where everything typed was taken back."""
    judged, comments, notes = (found[0] if found else 0 for found in counts)
    if not judged + comments + notes:
        return None
    criteria = len(delivery.task.specification.body.get("acceptance", []))
    parts = [f"{judged} of {criteria} judged"] if criteria else []
    if comments:
        parts.append(f"{comments} comment{'' if comments == 1 else 's'} not sent")
    if notes:
        parts.append("a note")
    return UnsentDraft(delivery, ", ".join(parts), max(found[1] for found in counts if found))
