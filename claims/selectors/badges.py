"""The figures of the header, each from the query function of the list it points at."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from claims.models import Task
from claims.selectors import inbox
from claims.selectors.board import COUNT_LIMIT, quiet
from claims.selectors.seen import SeenPool, ids_with
from claims.vocabulary import ReclaimPolicy, Right


def reviews_waiting(person_id: int, pools: Sequence[SeenPool]) -> int:
    """Deliveries that wait for this person: the inbox's waiting buckets together. Bounded."""
    return inbox.waiting(person_id, pools).order_by()[: COUNT_LIMIT + 1].count()


def quiet_claims(pool_ids: Sequence[int]) -> QuerySet[Task]:
    """Claims that nothing takes away until an operator decides: expired, under MANUAL."""
    return Task.objects.filter(quiet(), pool_id__in=pool_ids, reclaim_policy=ReclaimPolicy.MANUAL)


def operations_waiting(pools: Sequence[SeenPool]) -> int:
    """Quiet claims of the pools this person operates. Bounded."""
    return quiet_claims(ids_with(pools, Right.OPERATOR)).order_by()[: COUNT_LIMIT + 1].count()
