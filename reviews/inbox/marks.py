"""What a person pinned and put aside in their inbox: private, and it changes nothing for anybody else.

Promises: what is snoozed comes back by itself when its time is over, and at once with a new round,
which is another delivery; badge and list read the same seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db.models import Q, QuerySet
from django.utils import timezone

from claims.selectors.inbox import Seat
from claims.selectors.seen import SeenPool
from reviews.models import PinnedTask, SnoozedDelivery

MOST_PINS = 50
CHOICES = (
    ("hour", "1 hour"),
    ("tomorrow", "Tomorrow 9:00"),
    ("week", "Next week, Monday 9:00"),
)
MORNING = 9
"""The hour of the day at which what was put off comes back."""


def hidden_from(person_id: int) -> QuerySet[SnoozedDelivery, UUID]:
    """The deliveries the person does not want to see now, as a query. One handed on may be handed back."""
    asleep = Q(until__gt=timezone.now())
    handed_on = Q(until__isnull=True) & ~Q(delivery__task__reviewer_id=person_id)
    rows = SnoozedDelivery.objects.filter(asleep | handed_on, person_id=person_id)
    return rows.values_list("delivery_id", flat=True)


def seat_of(person_id: int, pools: Sequence[SeenPool]) -> Seat:
    """From where the person looks, without a query; ``with_pins`` adds what is pinned."""
    return Seat(person_id, pools, hidden_from(person_id))


def pinned_by(person_id: int) -> list[UUID]:
    """The tasks the person pinned, the latest first. One query."""
    rows = PinnedTask.objects.filter(person_id=person_id).order_by("-pinned_at", "-pk")
    return list(rows.values_list("task_id", flat=True)[:MOST_PINS])


def snoozed_until(person_id: int) -> dict[UUID, datetime | None]:
    """When each delivery that was put aside comes back; None for one that was handed on. One query."""
    hidden = SnoozedDelivery.objects.filter(person_id=person_id, delivery_id__in=hidden_from(person_id))
    return dict(hidden.values_list("delivery_id", "until")[:1_000])


def pin(person_id: int, task_id: UUID, *, is_pinned: bool) -> None:
    """Keep a task at the top, or no longer."""
    if not is_pinned:
        PinnedTask.objects.filter(person_id=person_id, task_id=task_id).delete()
        return
    row = PinnedTask(person_id=person_id, task_id=task_id, pinned_at=timezone.now())
    PinnedTask.objects.bulk_create([row], ignore_conflicts=True)


def snooze(person_id: int, delivery_id: UUID, until: datetime | None) -> None:
    """Put a delivery aside until then; None: it was handed on."""
    row = SnoozedDelivery(
        person_id=person_id, delivery_id=delivery_id, until=until, snoozed_at=timezone.now()
    )
    SnoozedDelivery.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["person", "delivery"],
        update_fields=["until", "snoozed_at"],
    )


def wake(person_id: int, delivery_id: UUID) -> None:
    """Have it back at once."""
    SnoozedDelivery.objects.filter(person_id=person_id, delivery_id=delivery_id).delete()


def moment_of(choice: str, now: datetime, zone: str = "") -> datetime | None:
    """When a choice is over, on the clock of ``zone`` (UTC where it is none); None for no such choice."""
    if choice == "hour":
        return now + timedelta(hours=1)
    local = now.astimezone(zone_of(zone))
    days = {"tomorrow": 1, "week": 7 - local.weekday()}.get(choice)
    if days is None:
        return None
    day = local.date() + timedelta(days=days)
    return datetime(day.year, day.month, day.day, MORNING, tzinfo=local.tzinfo)


def zone_of(name: str) -> ZoneInfo:
    """The time zone of this name, as a browser gives it; UTC for any other text."""
    try:
        return ZoneInfo(name[:60] or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
