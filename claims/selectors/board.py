"""What the board shows: six columns with bounded counts, and a table by keyset pages.

Promises: no query reads more than ``COUNT_LIMIT`` rows of a column, whatever the size of a pool;
only tasks of the pools that were passed in are read; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from claims.models import Agent, AgentPool, Attempt, CanonicalCommit, Delivery, Task
from claims.vocabulary import DeliveryState, State

COUNT_LIMIT = 10_000
"""Rows counted at most; a page says "10,000+" beyond."""
DONE_DAYS = 7
STRETCHES = (20_000, 160_000)
"""How many tasks, newest first, a search looks through: the longer one where the shorter has none that fits."""
COLUMNS = ("OPEN", "CLAIMED", "DELIVERED", "CHANGES", "DONE", "BLOCKED")
"""In the order of the page. CHANGES is CLAIMED after a request for changes; BLOCKED holds HELD too."""

_ORDER: dict[str, tuple[str, ...]] = {
    "OPEN": ("priority", "number"),
    "CLAIMED": ("state_since", "id"),
    "DELIVERED": ("state_since", "id"),
    "CHANGES": ("state_since", "id"),
    "DONE": ("-state_since", "-id"),
    "BLOCKED": ("-state_since", "-id"),
}


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """What the address asks for. ``pool_ids`` are pools the person may see, never empty of rights."""

    pool_ids: tuple[int, ...]
    state: str = ""
    agent: str = ""
    reviewer: str = ""
    label: str = ""
    text: str = ""

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the pool was asked for."""
        return any((self.state, self.agent, self.reviewer, self.label, self.text))


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its first cards and how many there are, at most ``COUNT_LIMIT`` + 1."""

    name: str
    count: int
    cards: Sequence[Task] = field(default_factory=tuple)

    @property
    def more(self) -> int:
        """How many are not drawn."""
        return self.count - len(self.cards)


def sent_back() -> Exists:
    """Whether the newest round of a task was sent back: what people see as Changes requested."""
    asked = Delivery.objects.filter(
        task_id=OuterRef("pk"), round=OuterRef("rounds"), state=DeliveryState.CHANGES_REQUESTED
    )
    return Exists(asked)


def quiet() -> Q:
    """A claim whose lease has run out, or that was granted under an ended epoch (claim.v1 section 2)."""
    return Q(state=State.CLAIMED) & (
        Q(lease__expires_at__lte=Now()) | ~Q(attempt__scheduler_epoch=F("pool__scheduler_epoch"))
    )


@dataclass(frozen=True, slots=True)
class _Narrowing:
    """A filter with its names looked up. ``floor``: older tasks are left out of what may be long."""

    conditions: Q
    floor: UUID | None

    def tasks(self, pool_ids: Sequence[int]) -> QuerySet[Task]:
        return Task.objects.filter(self.conditions, pool_id__in=pool_ids)


def _narrowing(wanted: BoardFilter) -> _Narrowing:
    """What the filter leaves. Up to two queries for names, one for the floor of a search."""
    conditions = Q()
    if wanted.agent:
        agent_id = Agent.objects.filter(name=wanted.agent).values_list("pk", flat=True).first()
        conditions &= Q(runner_id=agent_id or 0) | Q(preferred_runner_id=agent_id or 0)
    if wanted.reviewer:
        person_id = User.objects.filter(username=wanted.reviewer).values_list("pk", flat=True).first()
        conditions &= Q(reviewer_id=person_id or 0)
    if wanted.label:
        conditions &= Q(access__contains=[wanted.label])
    if wanted.text:
        number = number_of(wanted.text)
        conditions &= (
            Q(specification__number=number) if number is not None else Q(title__icontains=wanted.text)
        )
    text = "" if number_of(wanted.text) is not None else wanted.text
    searches = any((wanted.agent, wanted.reviewer, wanted.label, text))
    return _Narrowing(conditions, _floor(None, STRETCHES[0]) if searches else None)


def number_of(text: str) -> int | None:
    """The number that ``T-1042``, ``t-1042`` or ``1042`` names, or None."""
    digits = text.strip().upper().removeprefix("T-")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None


def _of_column(narrowing: _Narrowing, pool_ids: Sequence[int], name: str) -> QuerySet[Task]:
    tasks = _in_column(narrowing.tasks(pool_ids), name)
    is_long = name in ("OPEN", "DONE", "BLOCKED")
    return tasks.filter(pk__gte=narrowing.floor) if is_long and narrowing.floor else tasks


def _in_column(tasks: QuerySet[Task], name: str) -> QuerySet[Task]:
    if name == "BLOCKED":
        return tasks.filter(state__in=[State.BLOCKED, State.HELD])
    if name == "DONE":
        return tasks.filter(state=State.DONE, state_since__gte=timezone.now() - timedelta(days=DONE_DAYS))
    if name in ("CLAIMED", "CHANGES"):
        # Most claims are of tasks without a round: those are told apart without a look at any delivery.
        claimed = tasks.filter(state=State.CLAIMED)
        if name == "CHANGES":
            return claimed.filter(sent_back(), rounds__gt=0)
        return claimed.filter(Q(rounds=0) | Q(~sent_back()))
    return tasks.filter(state=name)


def columns(wanted: BoardFilter, cards: int) -> tuple[Column, ...]:
    """The six columns with up to ``cards`` cards each. A filter on state leaves the others empty.

    A search looks through the newest tasks of the columns that may be long, and all of the others.
    """
    narrowing = _narrowing(wanted)
    names = [name for name in COLUMNS if not wanted.state or wanted.state == name]
    found = {name: _column(narrowing, wanted.pool_ids, name, cards) for name in names}
    rows = with_detail(card_id for column_ids, _ in found.values() for card_id in column_ids)
    by_id = {row.pk: row for row in rows}
    return tuple(
        Column(name, found[name][1], [by_id[key] for key in found[name][0] if key in by_id])
        if name in found
        else Column(name, 0)
        for name in COLUMNS
    )


def _column(narrowing: _Narrowing, pool_ids: Sequence[int], name: str, cards: int) -> tuple[list[UUID], int]:
    """Ids of the first cards, and the bounded count. A full column is counted, a short one is not."""
    ids = _first_ids(narrowing, pool_ids, name, cards + 1)
    if len(ids) <= cards:
        return ids, len(ids)
    tasks = _of_column(narrowing, pool_ids, name)
    return ids[:cards], tasks.order_by()[: COUNT_LIMIT + 1].count()


def _first_ids(narrowing: _Narrowing, pool_ids: Sequence[int], name: str, limit: int) -> list[UUID]:
    """The first ids of a column, read pool by pool so that the index on (pool, state, since) bounds the work."""
    rows: list[tuple[object, ...]] = []
    keys = [part.lstrip("-") for part in _ORDER[name]]
    for pool_id in pool_ids:
        tasks = _of_column(narrowing, [pool_id], name)
        rows += tasks.order_by(*_ORDER[name]).values_list("pk", *keys)[:limit]
    rows.sort(key=lambda row: row[1:], reverse=_ORDER[name][0].startswith("-"))
    return [row[0] for row in rows[:limit]]  # type: ignore[misc]


def with_detail(ids: Iterable[UUID]) -> list[Task]:
    """Tasks with what a card says of them: runner, lease, delivery, commit. At most three queries."""
    tasks: list[Task] = list(
        Task.objects.filter(pk__in=list(ids))
        .select_related(
            "pool", "runner", "lease", "attempt", "delivery", "reviewer", "reviewer_group", "preferred_runner"
        )
        .defer("delivery__facts", "delivery__claims")
        .annotate(is_quiet=quiet(), is_sent_back=sent_back())
    )
    commits = commits_of([task.pk for task in tasks if task.state == State.DONE])
    for task in tasks:
        task.canonical = commits.get(task.pk)  # type: ignore[attr-defined]
    return tasks


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """The canonical commit of a task in brief: whose work, accepted by whom (nobody where no review was asked for)."""

    agent: str
    reviewer_id: int | None
    reviewer: str
    committed_at: datetime


def commits_of(task_ids: Sequence[UUID]) -> dict[UUID, CommitSeen]:
    """The canonical commits of these tasks. Two queries, none for no task."""
    if not task_ids:
        return {}
    rows = list(CanonicalCommit.objects.filter(task_id__in=task_ids).select_related("reviewer"))
    agents = dict(
        Attempt.objects.filter(pk__in=[row.attempt_id for row in rows]).values_list("pk", "agent__name")
    )
    return {
        row.task_id: CommitSeen(
            agents.get(row.attempt_id, ""),
            row.reviewer_id,
            (row.reviewer.get_full_name() or row.reviewer.get_username()) if row.reviewer else "",
            row.committed_at,
        )
        for row in rows
    }


@dataclass(frozen=True, slots=True)
class TablePage:
    """One page of the table. ``next_before`` is the key of the next older one, None at the end.

    A page may have fewer rows than asked for, even none, and still have a next one: what a filter
    looked through was bounded.
    """

    rows: Sequence[Task]
    next_before: UUID | None


def table(wanted: BoardFilter, before: UUID | None, limit: int) -> TablePage:
    """One page of the table, newest task first; ``before`` is the ``next_before`` of the page before.

    Ids are ordered by time (UUIDv7), so a stretch of the primary key bounds what is read.
    """
    found = _in_state(_narrowing(wanted).tasks(wanted.pool_ids), wanted.state)
    if before is not None:
        found = found.filter(pk__lt=before)
    if number_of(wanted.text) is not None:
        return TablePage(_newest_first(list(found.values_list("pk", flat=True)[:limit])), None)
    ids: list[UUID] = []
    floor: UUID | None = None
    for stretch in STRETCHES:
        floor = _floor(before, stretch)
        tasks = found.filter(pk__gte=floor) if floor else found
        ids = list(tasks.order_by("-pk").values_list("pk", flat=True)[: limit + 1])
        if len(ids) > limit:
            return TablePage(_newest_first(ids[:limit]), ids[limit - 1])
        if ids or floor is None:
            break
    return TablePage(_newest_first(ids), floor)


def _newest_first(ids: Sequence[UUID]) -> list[Task]:
    return sorted(with_detail(ids), key=lambda task: task.pk, reverse=True) if ids else []


def _floor(before: UUID | None, stretch: int) -> UUID | None:
    """The id that is ``stretch`` tasks older than ``before``, or than the newest; None when there are fewer."""
    older = Task.objects.all() if before is None else Task.objects.filter(pk__lt=before)
    return older.order_by("-pk").values_list("pk", flat=True)[stretch - 1 : stretch].first()


def _in_state(tasks: QuerySet[Task], state: str) -> QuerySet[Task]:
    if not state:
        return tasks
    return _in_column(tasks, state) if state in COLUMNS else tasks.filter(state=state)


def not_done_count(pool_ids: Sequence[int]) -> int:
    """Tasks that are not final, at most ``COUNT_LIMIT`` + 1."""
    states = [State.OPEN, State.CLAIMED, State.DELIVERED, State.HELD, State.BLOCKED]
    return Task.objects.filter(pool_id__in=pool_ids, state__in=states).order_by()[: COUNT_LIMIT + 1].count()


def labels_had(pool_ids: Sequence[int]) -> frozenset[str]:
    """Labels that some enabled agent of these pools has. An open task that needs another is claimed by nobody."""
    rows = AgentPool.objects.filter(pool_id__in=pool_ids, agent__is_disabled=False)
    return frozenset(label for labels in rows.values_list("agent__labels", flat=True) for label in labels)
