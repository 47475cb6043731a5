"""What a person who writes a task has to know of its pool: who decides, who can take it, what is at work.

Promises: nothing is written; every list is bounded; each function asks the number of queries it says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count

from claims.models import Agent, Membership, Pool, ReviewerGroup, Task, TaskInput
from claims.rights import IMPLIED
from claims.selectors.board import number_of
from claims.vocabulary import Right, State

DELIVERIES_COUNTED = 5_000
TASKS_AT_WORK = 100
AGENTS_LIMIT = 500
PEOPLE_LIMIT = 200
LATEST = 4

_REVIEWING = [right.value for right, carried in IMPLIED.items() if Right.REVIEWER in carried]


@dataclass(frozen=True, slots=True)
class ReviewerSeen:
    """A person who may decide, and how many deliveries wait for them by name."""

    id: int
    name: str
    full_name: str
    waiting: int


@dataclass(frozen=True, slots=True)
class AgentSeen:
    """An enabled agent of the pool."""

    name: str
    owner_id: int
    labels: frozenset[str]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A pool as its preparers see it. ``groups`` are reviewer groups with the number of their members."""

    pool: Pool
    reviewers: Sequence[ReviewerSeen]
    groups: Sequence[tuple[str, int]]
    agents: Sequence[AgentSeen]

    @property
    def labels(self) -> frozenset[str]:
        """Every label that some agent has."""
        return frozenset().union(*(agent.labels for agent in self.agents))


@dataclass(frozen=True, slots=True)
class AtWork:
    """A task that is claimed or delivered, and which files it may change."""

    number: int
    files: Sequence[str]
    excluded: Sequence[str]


@dataclass(frozen=True, slots=True)
class Before:
    """A task that another is to wait for."""

    number: int
    title: str
    state: State


def around(pool_id: int) -> Surroundings:
    """The pool, its reviewers with their load, its groups and its agents. Five queries."""
    pool = Pool.objects.get(pk=pool_id)
    held = Membership.objects.filter(pool_id=pool_id, right__in=_REVIEWING, person__is_active=True)
    people = {
        row.person_id: row.person
        for row in held.select_related("person").order_by("person__username")[:PEOPLE_LIMIT]
    }
    rows = Task.objects.filter(pool_id=pool_id, state=State.DELIVERED, reviewer_id__isnull=False)
    load = Counter(rows.values_list("reviewer_id", flat=True)[:DELIVERIES_COUNTED])
    groups = ReviewerGroup.objects.filter(pool_id=pool_id).annotate(count=Count("members")).order_by("name")
    agents = Agent.objects.filter(agent_pools__pool_id=pool_id, is_disabled=False).order_by("name")[
        :AGENTS_LIMIT
    ]
    return Surroundings(
        pool,
        [_reviewer(person, load[person.pk]) for person in people.values()],
        [(group.name, group.count) for group in groups[:PEOPLE_LIMIT]],
        [AgentSeen(agent.name, agent.owner_id, frozenset(agent.labels)) for agent in agents],
    )


def _reviewer(person: User, waiting: int) -> ReviewerSeen:
    name = person.get_username()
    return ReviewerSeen(person.pk, name, person.get_full_name() or name, waiting)


def at_work(pool_id: int) -> list[AtWork]:
    """The newest claimed and delivered tasks of the pool that name files. One query."""
    rows = Task.objects.filter(pool_id=pool_id, state__in=(State.CLAIMED, State.DELIVERED))
    found = rows.order_by("-state_since").values_list("number", "specification__body__scope")[:TASKS_AT_WORK]
    return [
        AtWork(number, scope.get("files", ()), scope.get("excluded", ()))
        for number, scope in found
        if isinstance(scope, dict) and scope.get("files")
    ]


def named(pool_id: int, names: Sequence[str]) -> Mapping[str, Before]:
    """The newest revision of each task of the pool that is named as T-1042 or 1042. Two queries, none for no name."""
    numbers = {name: number for name in names[:PEOPLE_LIMIT] if (number := number_of(name)) is not None}
    if not numbers:
        return {}
    known = TaskInput.objects.filter(task__pool_id=pool_id, number__in=numbers.values())
    lineages = dict(known.values_list("number", "lineage_id"))
    newest: dict[Any, Before] = {}
    rows = TaskInput.objects.filter(lineage_id__in=lineages.values()).order_by("revision")
    for lineage, number, title, state in rows.values_list(
        "lineage_id", "number", "task__title", "task__state"
    ):
        newest[lineage] = Before(number, title, State(state))
    return {name: newest[lineages[number]] for name, number in numbers.items() if number in lineages}


def latest(pool_id: int) -> list[Before]:
    """Tasks that can stand model for another: the last ones done, then the last ones opened. Two queries."""
    rows = Task.objects.filter(pool_id=pool_id).order_by("-state_since")
    found = [*rows.filter(state=State.DONE)[:LATEST], *rows.filter(state=State.OPEN)[:LATEST]]
    return [Before(task.number, task.title, State(task.state)) for task in found]
