"""The review inbox: which deliveries wait for whom, computed and never stored.

Promises: a delivery stands in one waiting bucket of a person at most; what a person may not decide,
because an agent of theirs made it, is in none; the badge is the length of the same query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from claims.models import Decision, Delivery, ReviewerGroup, Task
from claims.selectors.board import COUNT_LIMIT, number_of, sent_back
from claims.selectors.seen import SeenPool, ids_with
from claims.vocabulary import DecisionKind, DeliveryState, Right, State

BUCKETS = ("must", "can", "back")
"""The waiting buckets, in the order of the page; a delivery of ``back`` is in no other."""
DECIDED_DAYS = 7


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """What the address asks for; ``newest`` turns the order round."""

    text: str = ""
    newest: bool = False


def pending(person_id: int, pools: Iterable[SeenPool]) -> QuerySet[Delivery]:
    """Current deliveries this person may decide: right to review in the pool, and not the maker."""
    reviewing = ids_with(pools, Right.REVIEWER)
    waiting = Delivery.objects.filter(pool_id__in=reviewing, state=DeliveryState.PENDING)
    marked = Q(pool__self_review="MARKED")
    return waiting.filter(~Q(makers__contains=[person_id]) | marked)


def _sent_back_by(person_id: int) -> Exists:
    """Whether this person sent the round before back."""
    asked = Decision.objects.filter(
        delivery__task_id=OuterRef("task_id"),
        delivery__round=OuterRef("round") - 1,
        reviewer_id=person_id,
        kind=DecisionKind.CHANGES_REQUESTED,
    )
    return Exists(asked)


def waiting(person_id: int, pools: Sequence[SeenPool]) -> QuerySet[Delivery]:
    """Every delivery that waits for this person: the union of ``BUCKETS``.

    For this person: named, or in the task's reviewer group, or a reviewer of the pool where the task
    names neither. A named colleague's delivery is not waiting for anybody else.
    """
    mine = Q(task__reviewer_id=person_id)
    group = Q(task__reviewer_group__in=ReviewerGroup.objects.filter(members=person_id))
    anyone = Q(task__reviewer__isnull=True, task__reviewer_group__isnull=True)
    return pending(person_id, pools).filter(mine | group | anyone)


def bucket(name: str, person_id: int, pools: Sequence[SeenPool]) -> QuerySet[Delivery]:
    """One waiting bucket: ``must``, ``can`` or ``back``."""
    rows = waiting(person_id, pools)
    if name == "back":
        return rows.filter(_sent_back_by(person_id))
    first = rows.exclude(_sent_back_by(person_id))
    named = Q(task__reviewer_id=person_id)
    return first.filter(named) if name == "must" else first.exclude(named)


def bucket_rows(
    name: str, person_id: int, pools: Sequence[SeenPool], wanted: InboxFilter, limit: int
) -> list[Delivery]:
    """The rows of a bucket with task and agent, longest waiting first."""
    rows = _with_text(bucket(name, person_id, pools), wanted.text)
    order = ("-delivered_at", "-id") if wanted.newest else ("delivered_at", "id")
    return list(rows.select_related("task", "agent", "pool", "task__reviewer_group").order_by(*order)[:limit])


def bucket_count(name: str, person_id: int, pools: Sequence[SeenPool], wanted: InboxFilter) -> int:
    """How many a bucket holds, at most ``COUNT_LIMIT`` + 1."""
    return _with_text(bucket(name, person_id, pools), wanted.text).order_by()[: COUNT_LIMIT + 1].count()


def _with_text(rows: QuerySet[Delivery], text: str) -> QuerySet[Delivery]:
    if not text:
        return rows
    number = number_of(text)
    if number is not None:
        return rows.filter(task__specification__number=number)
    found = (
        Q(task__title__icontains=text)
        | Q(needs__icontains=text)
        | Q(agent__name__iexact=text)
        | Q(task__access__contains=[text])
    )
    return rows.filter(found)


def on_others(person_id: int, pools: Sequence[SeenPool], limit: int) -> list[Delivery]:
    """Deliveries that wait for a named colleague of the person's pools, longest waiting first."""
    rows = pending(person_id, pools).filter(task__reviewer__isnull=False).exclude(task__reviewer_id=person_id)
    return list(rows.select_related("task", "task__reviewer", "agent").order_by("delivered_at", "id")[:limit])


def on_agents(person_id: int, pools: Sequence[SeenPool], limit: int) -> list[Task]:
    """Tasks this person sent back and whose agent is at work on the next round, oldest first."""
    asked = Decision.objects.filter(
        delivery__task_id=OuterRef("pk"),
        delivery__round=OuterRef("rounds"),
        reviewer_id=person_id,
        kind=DecisionKind.CHANGES_REQUESTED,
    )
    reviewing = ids_with(pools, Right.REVIEWER)
    tasks = Task.objects.filter(pool_id__in=reviewing, state=State.CLAIMED).filter(sent_back(), Exists(asked))
    return list(tasks.select_related("runner", "lease").order_by("state_since", "id")[:limit])


def decided_by(person_id: int, pools: Sequence[SeenPool], limit: int) -> list[Decision]:
    """What this person decided in the last seven days, newest first."""
    since = timezone.now() - timedelta(days=DECIDED_DAYS)
    rows = Decision.objects.filter(
        reviewer_id=person_id, decided_at__gte=since, delivery__pool_id__in=[pool.id for pool in pools]
    )
    return list(
        rows.select_related("delivery", "delivery__task", "delivery__agent").order_by("-decided_at")[:limit]
    )


def median_wait_seconds(decisions: Sequence[Decision]) -> float | None:
    """How long the deliveries had waited when they were decided: the middle one. None without any."""
    waits = sorted((row.decided_at - row.delivery.delivered_at).total_seconds() for row in decisions)
    return waits[len(waits) // 2] if waits else None
