"""What the page of one task shows: its specification, rounds, claims and timeline.

Promises: a task of a pool that was not passed in is not found; every list is bounded and pages by
key; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Min

from claims.models import (
    Agent,
    Attempt,
    CanonicalCommit,
    Decision,
    Delivery,
    EvidenceFile,
    History,
    Refusal,
    Task,
)
from claims.selectors.board import number_of, quiet, sent_back

ROUNDS_LIMIT = 50
ATTEMPTS_LIMIT = 50
REFUSALS_LIMIT = 200


def find(ref: str, pool_ids: Sequence[int]) -> Task | None:
    """The task that ``T-1042``, ``1042`` or a task id names, in one of these pools; else None. One query."""
    key = _key(ref)
    if key is None:
        return None
    return (
        Task.objects.filter(pool_id__in=pool_ids, **key)
        .select_related(
            "pool",
            "runner",
            "lease",
            "attempt",
            "delivery",
            "reviewer",
            "reviewer_group",
            "preferred_runner",
            "specification",
        )
        .annotate(is_quiet=quiet(), is_sent_back=sent_back())
        .first()
    )


def _key(ref: str) -> dict[str, object] | None:
    number = number_of(ref)
    if number is not None:
        return {"specification__number": number}
    try:
        return {"pk": UUID(ref)}
    except ValueError:
        return None


def counts(task: Task) -> tuple[int, int]:
    """How many entries the timeline has, and how many times authority was granted."""
    refused = Refusal.objects.filter(task_id=task.pk).order_by()[: REFUSALS_LIMIT + 1].count()
    return task.state_version + refused, Attempt.objects.filter(task_id=task.pk).order_by()[
        : ATTEMPTS_LIMIT + 1
    ].count()


def rounds(task: Task) -> list[Delivery]:
    """The deliveries, newest round first, each with agent and decision. One query."""
    rows = Delivery.objects.filter(task_id=task.pk).select_related("agent", "decision", "decision__reviewer")
    return list(rows.order_by("-round")[:ROUNDS_LIMIT])


def attempts(task: Task) -> list[Attempt]:
    """The attempts, newest generation first, each with its agent. One query."""
    rows = Attempt.objects.filter(task_id=task.pk).select_related("agent", "owner")
    return list(rows.order_by("-claim_generation")[:ATTEMPTS_LIMIT])


def commit_of(task: Task) -> CanonicalCommit | None:
    """The canonical result, with the person who accepted it."""
    return CanonicalCommit.objects.filter(task_id=task.pk).select_related("reviewer", "delivery").first()


def last_decision(task: Task) -> Decision | None:
    """The decision on the newest round, where there is one."""
    return (
        Decision.objects.filter(delivery__task_id=task.pk, delivery__round=task.rounds)
        .select_related("reviewer", "delivery")
        .first()
    )


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """Entries from older to newer. ``before`` is the key of the next older page, or None on the oldest."""

    history: Sequence[History]
    refusals: Sequence[Refusal]
    attempts: dict[UUID, Attempt]
    kept_files: dict[UUID, int]
    before: int | None


def timeline(task: Task, before: int | None, limit: int) -> TimelinePage:
    """One page: the changes below state version ``before``, and the refusals of the same stretch of time.

    Four queries. Refusals beyond ``REFUSALS_LIMIT`` in one stretch are left out, oldest first.
    """
    rows = History.objects.filter(task_id=task.pk)
    until: datetime | None = None
    if before is not None:
        until = rows.filter(state_version=before).aggregate(at=Min("at"))["at"]
        rows = rows.filter(state_version__lt=before)
    page = list(rows.order_by("-state_version")[: limit + 1])
    more = len(page) > limit
    page = page[:limit]
    since = page[-1].at if more and page else None
    refusals = _refusals(task, since, until)
    ids = {row.attempt_id for row in page if row.attempt_id}
    ids |= {row.attempt_id for row in refusals if row.attempt_id}
    known = {row.pk: row for row in Attempt.objects.filter(pk__in=ids).select_related("agent")} if ids else {}
    return TimelinePage(
        history=page[::-1],
        refusals=refusals[::-1],
        attempts=known,
        kept_files=_kept_files(row.attempt_id for row in refusals if row.attempt_id),
        before=page[-1].state_version if more else None,
    )


def _refusals(task: Task, since: datetime | None, until: datetime | None) -> list[Refusal]:
    rows = Refusal.objects.filter(task_id=task.pk)
    if since is not None:
        rows = rows.filter(at__gte=since)
    if until is not None:
        rows = rows.filter(at__lt=until)
    return list(rows.order_by("-id")[:REFUSALS_LIMIT])


def _kept_files(attempt_ids: Iterable[UUID]) -> dict[UUID, int]:
    """How many files of these attempts are kept though they belong to no round."""
    ids = list(attempt_ids)
    if not ids:
        return {}
    rows = (
        EvidenceFile.objects.filter(attempt_id__in=ids)
        .order_by()
        .values_list("attempt_id")
        .annotate(files=Count("id"))
    )
    return dict(rows)


def agents_for(task: Task, limit: int = 5) -> tuple[list[Agent], int]:
    """Enabled agents of the pool that have every label the task needs, and how many more there are."""
    rows = Agent.objects.filter(
        agent_pools__pool_id=task.pool_id, is_disabled=False, labels__contains=task.access
    ).order_by("name")
    found = list(rows[: limit + 1])
    return found[:limit], max(0, len(found) - limit)
