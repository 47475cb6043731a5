"""Who stands in for whom, as a person sees it of themselves. Nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from claims.models import Deputy, Membership
from claims.vocabulary import Right


def named_by(person_id: int) -> list[Deputy]:
    """The deputies a person has named whose last day is not over, by pool."""
    rows = Deputy.objects.filter(person_id=person_id, until_day__gte=timezone.now().date())
    return list(rows.select_related("pool", "deputy").order_by("pool__name"))


def named_for(person_id: int) -> list[Deputy]:
    """Whose deputy a person is, now or from a later day on."""
    rows = Deputy.objects.filter(deputy_id=person_id, until_day__gte=timezone.now().date())
    return list(rows.select_related("pool", "person").order_by("from_day", "pk"))


def today(deputy_id: int, person_id: int | None, pool_id: int) -> date | None:
    """The last day on which somebody stands in for a person who is away; None when they do not today."""
    day = timezone.now().date()
    rows = Deputy.objects.filter(
        deputy_id=deputy_id, person_id=person_id or 0, pool_id=pool_id, from_day__lte=day, until_day__gte=day
    )
    return rows.values_list("until_day", flat=True).first()


def reviewers(pool_ids: Sequence[int], without: Sequence[int] = ()) -> dict[int, list[User]]:
    """Who may review in each of these pools, by name; ``without`` are left out. One query."""
    held = Membership.objects.filter(
        pool_id__in=pool_ids, right__in=[Right.REVIEWER, Right.ADMIN], person__is_active=True
    )
    rows = (
        held.exclude(person_id__in=without).select_related("person").order_by(F("person__first_name"), "pk")
    )
    found: dict[int, dict[int, User]] = {pool_id: {} for pool_id in pool_ids}
    for row in rows:
        found[row.pool_id][row.person_id] = row.person
    return {pool_id: list(people.values()) for pool_id, people in found.items()}
