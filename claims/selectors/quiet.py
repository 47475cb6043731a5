"""Quiet claims and what is known about each: the facts behind an operator's decision.

Promises: nothing here guesses; guesses are made of these facts by the page. Every list is bounded;
only pools that were passed in are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Max, Min, Q, Sum
from django.db.models.functions import Coalesce, Now

from claims.models import Agent, EvidenceFile, Task
from claims.selectors.badges import quiet_claims
from claims.selectors.board import quiet
from claims.selectors.tasks import agents_for
from claims.vocabulary import ReclaimPolicy, State

QUIET_LIMIT = 50
AGENTS_LIMIT = 20
_LISTED = (
    "number", "title", "claim_generation", "pool__scheduler_epoch", "runner__name", "attempt__scheduler_epoch",
    "attempt__started_at", "attempt__noted_at", "lease__expires_at", "lease__renewed_at", "lease__renewals",
)  # fmt: skip
_CLAIM = ("pool", "runner", "runner__owner", "attempt", "attempt__owner", "lease")


def rows(pool_ids: Sequence[int]) -> list[Task]:
    """Quiet claims with what a line says of each, longest quiet first. One query."""
    found = quiet_claims(pool_ids).select_related("pool", "runner", "attempt", "lease").only(*_LISTED)
    return list(found.order_by("lease__expires_at", "id")[:QUIET_LIMIT])


def find(task_id: UUID, pool_ids: Sequence[int]) -> Task | None:
    """A task of these pools with its claim, whatever its state. One query."""
    found = Task.objects.filter(pk=task_id, pool_id__in=pool_ids)
    return found.select_related(*_CLAIM).annotate(is_quiet=quiet()).first()


@dataclass(frozen=True, slots=True)
class Pulse:
    """The claims of some pools together: how many live, how many wait for an operator.

    ``oldest_sign`` is the oldest last sign of life among live ones.
    """

    live: int
    quiet: int
    oldest_sign: datetime | None


def pulse(pool_ids: Sequence[int]) -> Pulse:
    """How many claims live, how many ``quiet_claims`` there are, and how long the stillest live one is still. One query."""
    claimed = Task.objects.filter(pool_id__in=pool_ids, state=State.CLAIMED)
    sign = Coalesce("lease__renewed_at", "attempt__started_at")
    is_live = Q(lease__expires_at__gt=Now(), attempt__scheduler_epoch=F("pool__scheduler_epoch"))
    found = claimed.aggregate(
        live=Count("pk", filter=is_live),
        quiet=Count("pk", filter=quiet() & Q(reclaim_policy=ReclaimPolicy.MANUAL)),
        oldest=Min(sign, filter=is_live),
    )
    return Pulse(found["live"], found["quiet"], found["oldest"])


@dataclass(frozen=True, slots=True)
class Around:
    """What is true around one claim: its evidence, its runner's other claims, who could take it."""

    files: int
    size_bytes: int
    runner_live: int
    runner_quiet: int
    runner_last_sign: datetime | None
    others_last_sign: datetime | None
    fit: Sequence[Agent]
    fit_idle: int


def around(task: Task) -> Around:
    """The facts around a claim. Four queries."""
    held_by = [task.attempt_id] if task.attempt_id else []
    kept = EvidenceFile.objects.filter(attempt_id__in=held_by).aggregate(files=Count("id"), size=Sum("size"))
    sign = Coalesce("lease__renewed_at", "attempt__started_at")
    others = Task.objects.filter(pool_id=task.pool_id, state=State.CLAIMED).exclude(pk=task.pk)
    mine = Q(runner_id=task.runner_id)
    found = others.aggregate(
        live=Count("pk", filter=mine & Q(lease__expires_at__gt=Now())),
        quiet=Count("pk", filter=mine & Q(lease__expires_at__lte=Now())),
        last=Max(sign, filter=mine & Q(lease__expires_at__gt=Now())),
        last_of_others=Max(sign, filter=~mine & Q(lease__expires_at__gt=Now())),
    )
    fit = [agent for agent in agents_for(task, AGENTS_LIMIT)[0] if agent.pk != task.runner_id]
    busy = set(
        Task.objects.filter(state=State.CLAIMED, runner_id__in=[agent.pk for agent in fit]).values_list(
            "runner_id", flat=True
        )
    )
    return Around(
        kept["files"],
        kept["size"] or 0,
        found["live"],
        found["quiet"],
        found["last"],
        found["last_of_others"],
        fit,
        sum(agent.pk not in busy for agent in fit),
    )
