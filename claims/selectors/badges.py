"""The figures of the header, each from the query function of the list it points at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.db.models import QuerySet

from claims.models import Task
from claims.selectors import approvals, doubts, inbox
from claims.selectors.board import COUNT_LIMIT, quiet
from claims.selectors.seen import SeenPool, ids_with
from claims.vocabulary import ReclaimPolicy, Right


def reviews_waiting(seat: inbox.Seat, deliveries: Callable[[inbox.Seat], int] = inbox.count) -> int:
    """What waits for this person's word: the inbox's waiting buckets and its effects. Bounded."""
    return deliveries(seat) + len(approvals.waiting(seat.person_id, seat.pools))


def quiet_claims(pool_ids: Sequence[int]) -> QuerySet[Task]:
    """Claims that nothing takes away until an operator decides: expired, under MANUAL."""
    return Task.objects.filter(quiet(), pool_id__in=pool_ids, reclaim_policy=ReclaimPolicy.MANUAL)


def quiet_count(pool_ids: Sequence[int]) -> int:
    """How many of them there are, at most ``COUNT_LIMIT`` + 1."""
    return quiet_claims(pool_ids).order_by()[: COUNT_LIMIT + 1].count()


def operations_waiting(pools: Sequence[SeenPool], quiet: Callable[[Sequence[int]], int] = quiet_count) -> int:
    """Quiet claims and effects in doubt of the pools this person operates. Bounded."""
    ids = ids_with(pools, Right.OPERATOR)
    return quiet(ids) + doubts.count(ids)
