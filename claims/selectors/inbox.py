"""The review inbox: which deliveries wait for whom, computed and never stored.

Promises: a delivery stands in one waiting bucket of a person at most; what a person may not decide,
because an agent of theirs made it, is in none; the badge is the length of the same query.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias
from uuid import UUID

from django.db.models import (
    Case,
    Count,
    Exists,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    Window,
)
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import JSONObject, RowNumber
from django.utils import timezone

from claims.models import Decision, Delivery, Deputy, ReviewerGroup, Task
from claims.selectors.board import COUNT_LIMIT, number_of, sent_back
from claims.selectors.seen import SeenPool, ids_with
from claims.vocabulary import DecisionKind, DeliveryState, Right, State

BUCKETS = ("must", "can", "back")
"""The waiting buckets, in the order of the page; a delivery of ``back`` is in no other."""
DECIDED_DAYS = 7
LEFT_MINUTES = 10
"""How long a decision of somebody else is told to pages that still show its row."""

Ids: TypeAlias = "QuerySet[Any, Any] | Collection[UUID]"


@dataclass(frozen=True, slots=True)
class Seat:
    """From where a person looks: their pools, what they put aside for now, the tasks they pinned.

    ``hidden`` are deliveries, as a query or as their ids; ``pinned`` are tasks.
    """

    person_id: int
    pools: Sequence[SeenPool]
    hidden: Ids = ()
    pinned: Sequence[UUID] = ()


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """What the address asks for; ``newest`` turns the order round."""

    text: str = ""
    newest: bool = False


def pending(seat: Seat) -> QuerySet[Delivery]:
    """Current deliveries this person may decide: right to review in the pool, and not the maker.

    Its task is DELIVERED, which says the same once more: whose turn it is stands in the task, and few
    tasks of a pool are, so that the deliveries of all others are never looked at.
    """
    reviewing = ids_with(seat.pools, Right.REVIEWER)
    waiting = Delivery.objects.filter(
        state=DeliveryState.PENDING, task__state=State.DELIVERED, task__pool_id__in=reviewing
    )
    marked = Q(pool__self_review="MARKED")
    return waiting.filter(~Q(makers__contains=[seat.person_id]) | marked)


def _sent_back_by(person_id: int) -> Exists:
    """Whether this person sent the round before back."""
    asked = Decision.objects.filter(
        delivery__task_id=OuterRef("task_id"),
        delivery__round=OuterRef("round") - 1,
        reviewer_id=person_id,
        kind=DecisionKind.CHANGES_REQUESTED,
    )
    return Exists(asked)


def _deputies(person_id: int) -> QuerySet[Deputy]:
    """The row that makes this person the deputy of a delivery's named reviewer today."""
    today = timezone.now().date()
    return Deputy.objects.filter(
        deputy_id=person_id,
        pool_id=OuterRef("task__pool_id"),
        person_id=OuterRef("task__reviewer_id"),
        from_day__lte=today,
        until_day__gte=today,
    )


def _named(person_id: int) -> Q:
    """The named reviewer's, and their deputy's while they are away."""
    return Q(task__reviewer_id=person_id) | Q(Exists(_deputies(person_id)))


def _theirs(person_id: int) -> Q:
    """Whose turn it is: named, or in the task's group, or a reviewer of the pool where the task names neither.

    A named colleague's delivery is not waiting for anybody else.
    """
    group = Q(task__reviewer_group__in=ReviewerGroup.objects.filter(members=person_id))
    anyone = Q(task__reviewer__isnull=True, task__reviewer_group__isnull=True)
    return _named(person_id) | group | anyone


def waiting(seat: Seat) -> QuerySet[Delivery]:
    """Every delivery that waits for this person now: the union of ``BUCKETS``."""
    return pending(seat).filter(_theirs(seat.person_id)).exclude(pk__in=seat.hidden)


def put_aside(seat: Seat, limit: int) -> list[Delivery]:
    """What would wait for the person had they not hidden it, longest waiting first."""
    rows = pending(seat).filter(_theirs(seat.person_id), pk__in=seat.hidden)
    return _drawn(rows.order_by("delivered_at", "id")[:limit])


@dataclass(frozen=True, slots=True)
class Bucket:
    """One waiting bucket: how many it holds, and the first of them."""

    name: str
    count: int = 0
    rows: Sequence[Delivery] = ()


def bucket_of(person_id: int) -> Case:
    """Which of ``BUCKETS`` a delivery that waits for this person stands in."""
    return Case(
        When(_sent_back_by(person_id), then=Value("back")),
        When(_named(person_id), then=Value("must")),
        default=Value("can"),
    )


def buckets(seat: Seat, wanted: InboxFilter, limit: int, names: Sequence[str] = BUCKETS) -> list[Bucket]:
    """These buckets with at most ``limit`` rows each: pinned ones first, then longest waiting first. Two queries.

    The first finds and counts, the second reads what the rows show, which is large, of the few that are drawn.
    """
    is_later = Case(When(task_id__in=seat.pinned, then=0), default=1, output_field=IntegerField())
    order = ("-delivered_at", "-id") if wanted.newest else ("delivered_at", "id")
    standing = _with_text(waiting(seat), wanted.text).annotate(bucket=bucket_of(seat.person_id))
    if set(names) != set(BUCKETS):
        standing = standing.filter(bucket__in=names)
    ranked = standing.annotate(
        rank=Window(RowNumber(), partition_by="bucket", order_by=[is_later, *order]),
        total=Window(Count("*"), partition_by="bucket"),
    )
    first = ranked.filter(rank__lte=limit).order_by("rank")
    found = list(first.values_list("pk", "bucket", "total"))
    drawn = {
        row.pk: row for row in _drawn(_with_deputy(seat.person_id).filter(pk__in=[pk for pk, *_ in found]))
    }
    totals = {name: total for _, name, total in found}
    return [
        Bucket(name, totals.get(name, 0), [drawn[pk] for pk, of, _ in found if of == name and pk in drawn])
        for name in names
    ]


def _with_deputy(person_id: int) -> QuerySet[Delivery]:
    """Deliveries that know until when their named reviewer is away, where this person is their deputy."""
    until = _deputies(person_id).values("until_day")[:1]
    return Delivery.objects.annotate(away_until=Subquery(until))


_COLUMNS = (
    "round", "needs", "claims", "delivered_at", "subject_digest", "task__number", "task__title", "task__reviewer",
    "task__reviewer__first_name", "task__reviewer__last_name", "task__reviewer__username", "task__reviewer_group__name",
    "agent__name", "pool__name",
)  # fmt: skip


def _drawn(rows: QuerySet[Delivery]) -> list[Delivery]:
    """Rows with the columns that a line shows. ``told``: the counts of their facts, which are large as a whole."""

    def of(name: str, *more: str) -> KeyTransform:
        transform = KeyTransform(name, "facts")
        for each in more:
            transform = KeyTransform(each, transform)
        return transform

    def length(transform: KeyTransform) -> Func:
        return Func(transform, function="jsonb_array_length")

    first_flags = Func(of("flags"), template="jsonb_path_query_array(%(expressions)s, '$[0 to 7]')")
    told = JSONObject(
        diff=of("diff"),
        tests=of("tests"),
        screenshots=length(of("screenshots")),
        excluded=length(of("scope", "excluded")),
        outside=length(of("scope", "outside")),
        flags=first_flags,
    )
    related = ("task", "task__reviewer", "task__reviewer_group", "agent", "pool")
    return list(rows.select_related(*related).only(*_COLUMNS).annotate(told=told))


def row(seat: Seat, delivery_id: UUID) -> Delivery | None:
    """One delivery of the person's pools as a row; None where it is not seen or waits for nobody any more."""
    reviewing = ids_with(seat.pools, Right.REVIEWER)
    found = Delivery.objects.filter(pk=delivery_id, pool_id__in=reviewing, state=DeliveryState.PENDING)
    return next(iter(_drawn(found)), None)


def count(seat: Seat) -> int:
    """How many wait in all buckets together, at most ``COUNT_LIMIT`` + 1."""
    return waiting(seat).order_by()[: COUNT_LIMIT + 1].count()


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


def on_others(seat: Seat, limit: int) -> list[Delivery]:
    """Deliveries that wait for a named colleague of the person's pools, longest waiting first.

    What also waits for this person, by group or as deputy, is in their own buckets.
    """
    elsewhere = ~_theirs(seat.person_id) | Q(pk__in=seat.hidden)
    rows = pending(seat).filter(elsewhere, task__reviewer__isnull=False)
    rows = rows.exclude(task__reviewer_id=seat.person_id).select_related("task", "task__reviewer")
    names = [f"task__reviewer__{name}" for name in ("first_name", "last_name", "username")]
    columns = ("round", "delivered_at", "task__number", "task__title", *names)
    return list(rows.only(*columns).order_by("delivered_at", "id")[:limit])


def on_agents(seat: Seat, limit: int) -> list[Task]:
    """Tasks this person sent back and whose agent is at work on the next round, oldest first."""
    asked = Decision.objects.filter(
        delivery__task_id=OuterRef("pk"),
        delivery__round=OuterRef("rounds"),
        reviewer_id=seat.person_id,
        kind=DecisionKind.CHANGES_REQUESTED,
    )
    reviewing = ids_with(seat.pools, Right.REVIEWER)
    tasks = Task.objects.filter(pool_id__in=reviewing, state=State.CLAIMED, rounds__gt=0).filter(
        sent_back(), Exists(asked)
    )
    columns = ("number", "title", "state_since", "runner__name")
    return list(tasks.select_related("runner").only(*columns).order_by("state_since", "id")[:limit])


def decided_by(seat: Seat, limit: int) -> list[Decision]:
    """What this person decided in the last seven days, newest first."""
    since = timezone.now() - timedelta(days=DECIDED_DAYS)
    rows = Decision.objects.filter(
        reviewer_id=seat.person_id,
        decided_at__gte=since,
        delivery__pool_id__in=[pool.id for pool in seat.pools],
    )
    columns = ("kind", "decided_at", "delivery__round", "delivery__delivered_at")
    rows = rows.select_related("delivery__task").only(
        *columns, "delivery__task__number", "delivery__task__title"
    )
    return list(rows.order_by("-decided_at")[:limit])


def decided_elsewhere(seat: Seat, limit: int) -> list[Decision]:
    """What others decided in the person's pools in the last ``LEFT_MINUTES``, newest first."""
    since = timezone.now() - timedelta(minutes=LEFT_MINUTES)
    reviewing = ids_with(seat.pools, Right.REVIEWER)
    rows = Decision.objects.filter(decided_at__gte=since, delivery__pool_id__in=reviewing)
    rows = rows.exclude(reviewer_id=seat.person_id).select_related("reviewer")
    return list(rows.only("kind", "decided_at", "delivery_id", "reviewer").order_by("-decided_at")[:limit])


def median_wait_seconds(decisions: Sequence[Decision]) -> float | None:
    """How long the deliveries had waited when they were decided: the middle one. None without any."""
    waits = sorted((row.decided_at - row.delivery.delivered_at).total_seconds() for row in decisions)
    return waits[len(waits) // 2] if waits else None


def named_load(pool_id: int) -> dict[int, int]:
    """How many deliveries of a pool wait for each named reviewer. One query."""
    named = Delivery.objects.filter(
        pool_id=pool_id, state=DeliveryState.PENDING, task__reviewer__isnull=False
    )
    return dict(named.values_list("task__reviewer_id").annotate(number=Count("pk")))
