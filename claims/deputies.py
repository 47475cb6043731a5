"""Deputies: who decides in a person's place in a pool while that person is away.

Promises: a deputy is another reviewer of the same pool; a person has one at a time in each pool; naming
one takes nothing from the person, who may still decide. Days are UTC's, both included. Whether
somebody is a deputy now is read in the transition, by the database's clock.
"""

from __future__ import annotations

from datetime import date, timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from claims.models import Deputy, Pool
from claims.rights import expand
from claims.vocabulary import Right

LONGEST_DAYS = 120


def name(person_id: int, pool: Pool, deputy_id: int, from_day: date, until_day: date) -> str:
    """Name a deputy in the place of the one before. Answers what speaks against it; empty when it is done."""
    today = timezone.now().date()
    if until_day < from_day:
        return "The last day is before the first."
    if until_day < today:
        return "The last day is over already."
    if until_day - from_day > timedelta(days=LONGEST_DAYS):
        return f"A deputy is named for at most {LONGEST_DAYS} days; hand the role over for longer."
    if deputy_id == person_id:
        return "A deputy is another person."
    if not _reviews(person_id, pool) or not _reviews(deputy_id, pool):
        return f"Both of you have to be reviewers of {pool.name}."
    Deputy.objects.update_or_create(
        pool=pool,
        person_id=person_id,
        defaults={
            "deputy_id": deputy_id,
            "from_day": from_day,
            "until_day": until_day,
            "named_at": timezone.now(),
        },
    )
    return ""


def end(person_id: int, pool_id: int) -> bool:
    """Have no deputy in a pool any more; whether there was one."""
    gone, _ = Deputy.objects.filter(person_id=person_id, pool_id=pool_id).delete()
    return gone > 0


def _reviews(person_id: int, pool: Pool) -> bool:
    person = User.objects.filter(pk=person_id, is_active=True).first()
    held = person.memberships.filter(pool=pool).values_list("right", flat=True) if person else ()
    return Right.REVIEWER in expand(held)
