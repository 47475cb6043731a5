"""What the decision page reads: a delivery, its rounds, its evidence, and who may decide.

Promises: only deliveries of the pools that were passed in are answered; nothing is written; every
list is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from claims.canonical import Item
from claims.models import Delivery, Membership, ReviewerGroup
from claims.selectors import inbox
from claims.selectors.contract import manifest, specification_of
from claims.vocabulary import Right

ROUNDS_LIMIT = 50
NAMES_LIMIT = 5


def find(delivery_id: UUID, pool_ids: Sequence[int]) -> Delivery | None:
    """The delivery with task, pool, agent and decision, where it is in one of these pools. One query."""
    return (
        Delivery.objects.filter(pk=delivery_id, pool_id__in=pool_ids)
        .select_related(
            "task",
            "task__reviewer",
            "task__reviewer_group",
            "task__runner",
            "pool",
            "agent",
            "agent__owner",
            "decision",
            "decision__reviewer",
        )
        .first()
    )


def rounds(task_id: UUID) -> list[Delivery]:
    """The rounds of a task from the first to the newest, each with agent and decision. One query.

    Their facts are left where they are, for they may be large: ``facts_of`` reads those of one round.
    """
    rows = Delivery.objects.filter(task_id=task_id).select_related("agent", "decision", "decision__reviewer")
    return list(rows.defer("facts").order_by("-round")[:ROUNDS_LIMIT])[::-1]


def acceptance(task_id: UUID) -> list[dict[str, Any]]:
    """The acceptance criteria of a task in their order; their numbers begin at 1."""
    return list((specification_of(task_id) or {}).get("acceptance", []))


def evidence(delivery: Delivery) -> Sequence[Item]:
    """The manifest of what was delivered."""
    return manifest(delivery.attempt_id, delivery.result_digest)


def has_evidence(delivery: Delivery, sha256: str) -> Item | None:
    """The item of the delivery with these bytes; None when it has none such."""
    return next((item for item in evidence(delivery) if item.sha256 == sha256), None)


def same_evidence(before: Sequence[Item], now: Sequence[Item], criterion: int) -> bool:
    """Whether a criterion rests on the very same bytes in both rounds.

    A criterion that no item names rests on all of the evidence.
    """
    return fingerprint(before, criterion) == fingerprint(now, criterion)


def fingerprint(items: Sequence[Item], criterion: int) -> frozenset[tuple[str, str, str]]:
    """What a criterion rests on: name, kind and digest of each item that names it, else of all items."""
    named = [item for item in items if criterion in item.criteria] or list(items)
    return frozenset((item.name, item.kind, item.sha256) for item in named)


def groups_of(person_id: int, pool_id: int) -> frozenset[int]:
    """The reviewer groups of a person in a pool."""
    rows = ReviewerGroup.objects.filter(pool_id=pool_id, members=person_id)
    return frozenset(rows.values_list("pk", flat=True))


def reviewers_of(pool_id: int, without: Sequence[int] = ()) -> list[str]:
    """Names of people who may review in a pool, at most five; ``without`` are left out."""
    held = Membership.objects.filter(pool_id=pool_id, right__in=[Right.REVIEWER, Right.ADMIN])
    people = User.objects.filter(pk__in=held.values("person_id"), is_active=True).exclude(
        pk__in=list(without)
    )
    return [person.get_full_name() or person.get_username() for person in people.order_by("pk")[:NAMES_LIMIT]]


def neighbours(seat: inbox.Seat, beside: UUID, limit: int = 200) -> tuple[UUID | None, UUID | None]:
    """The deliveries before and after this one among those that wait for the person."""
    ids = list(inbox.waiting(seat).order_by("delivered_at", "id").values_list("pk", flat=True)[:limit])
    if beside not in ids:
        return None, ids[0] if ids else None
    at = ids.index(beside)
    return ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None


def facts_of(delivery: Delivery) -> Mapping[str, Any]:
    """What the server established about the evidence when it was delivered."""
    return delivery.facts if isinstance(delivery.facts, dict) else {}
