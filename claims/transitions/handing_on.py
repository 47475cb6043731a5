"""Handing a delivery on: another reviewer of the pool decides it, and history says why."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User

from claims import decide, kernel
from claims.callers import Caller
from claims.models import Delivery
from claims.outcomes import Adjusted, Refused, Why
from claims.vocabulary import Verb


@kernel.verb(Verb.ADJUST, "DELIVERED -> DELIVERED")
def hand_on(
    caller: Caller, delivery_id: UUID, subject_digest: str, reviewer: str, reason: str
) -> Adjusted | Refused:
    """DELIVERED -> DELIVERED. The turn to decide goes to another ``reviewer``, named as they sign in.

    Refused with NOT_FOUND to any token, NOT_REVIEWER to whom it does not wait for, ALREADY_DECIDED,
    STALE_DELIVERY, or UNPROCESSABLE for a person who may not decide it and for no reason given.
    """
    subject = Delivery.objects.filter(id=delivery_id).values("task_id").first()
    if subject is None or not caller.is_at_hand:
        return Refused(Why.NOT_FOUND)
    seen = kernel.take(caller, subject["task_id"])
    delivery = kernel.read_delivery(delivery_id)
    if seen is None or delivery is None:
        return Refused(Why.NOT_FOUND)
    chosen = User.objects.filter(username=reviewer).values_list("pk", flat=True).first()
    to = kernel.person_in(seen.pool.id, chosen or 0)
    change = decide.hand_on(seen, delivery, subject_digest, to, reviewer, reason)
    if isinstance(change, Refused):
        return change

    advanced = kernel.advance(caller, seen, change)
    return Adjusted(seen.task.id, advanced.state_version, ("reviewer_id",))
