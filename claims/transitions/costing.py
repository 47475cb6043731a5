"""What an attempt has cost, kept with the verb that tells it, also where its claim was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from django.db.models import QuerySet

from claims import cost
from claims.callers import Caller
from claims.fences import Fence
from claims.models import Attempt
from claims.outcomes import Refused, Why

T = TypeVar("T")
Cost = Mapping[str, object]

_LOST = {Why.CANCELLED, Why.STALE_INPUT, Why.FENCED, Why.ALREADY_DELIVERED}


def with_cost(caller: Caller, fence: Fence, told: Cost | None, answer: T | Refused) -> T | Refused:
    """What was decided, after the cost told with it is kept on the attempt's own row.

    MALFORMED for a cost that is none, or whose totals fall. A fence that lost its authority stays
    refused: only what its ended attempt cost is kept, and nothing of the task or its new claim
    changes.
    """
    if told is None:
        return answer
    try:
        cost.check(told)
    except cost.CostInvalid as flaw:
        return Refused(Why.MALFORMED, str(flaw))
    attempt = _granted(caller, fence).first()
    is_refused = isinstance(answer, Refused)
    if attempt is None or (isinstance(answer, Refused) and answer.why not in _LOST):
        return answer
    try:
        total = cost.total(told, attempt.cost)
    except cost.CostInvalid as flaw:
        return answer if is_refused else Refused(Why.MALFORMED, str(flaw))
    _granted(caller, fence).update(cost=total)
    return replace(answer, keeps=True) if isinstance(answer, Refused) else answer


def _granted(caller: Caller, fence: Fence) -> QuerySet[Attempt]:
    """The caller's attempt, if this very fence was granted to it."""
    return Attempt.objects.filter(
        id=fence.attempt_id,
        task_id=fence.task_id,
        agent_id=caller.actor.id,
        scheduler_epoch=fence.scheduler_epoch,
        claim_generation=fence.claim_generation,
        cancel_generation=fence.cancel_generation,
    )
