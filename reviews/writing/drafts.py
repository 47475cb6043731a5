"""Drafts of tasks: kept on the server as they are typed, and open in one place at a time.

Promises: what is posted is kept, or it is said why not and nothing is written over; one page holds the
seat of a draft, another is told and can take it over; a published draft is never published again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from reviews.models import TaskDraft
from reviews.writing import sources
from reviews.writing.fields import shown

MOST_DRAFTS = 50
PUBLISHED_FOR = timedelta(days=30)
"""How long a draft that became a task is known as such."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What one page holds: the text, what both sides last agreed on, and the form where it waits for the text."""

    draft: UUID
    source: str
    base: str = ""
    pending: Mapping[str, str] = field(default_factory=dict)
    seat: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The draft is open in another page, or was changed by one since; nothing was kept."""

    draft: TaskDraft


def of(person_id: int) -> list[TaskDraft]:
    """A person's drafts, the newest first. One query."""
    rows = TaskDraft.objects.filter(person_id=person_id, published__isnull=True)
    return list(rows.defer("source", "base", "pending").order_by("-typed_at")[:MOST_DRAFTS])


def find(person_id: int, draft_id: UUID) -> TaskDraft | None:
    """A person's draft; another's is not there. One query."""
    return TaskDraft.objects.filter(pk=draft_id, person_id=person_id).first()


def save(person_id: int, typed: Typed, *, take: bool = False) -> TaskDraft | Elsewhere | None:
    """Keep what was typed; None for a draft of somebody else. ``take`` takes it over from another page."""
    fresh = {"person_id": person_id, "seat": typed.seat, "version": 0, "typed_at": timezone.now()}
    with transaction.atomic():
        TaskDraft.objects.get_or_create(pk=typed.draft, defaults=fresh)
        row = TaskDraft.objects.select_for_update().get(pk=typed.draft)
        if row.person_id != person_id:
            return None
        if row.published is not None or (not take and _is_elsewhere(row, typed)):
            return Elsewhere(row)
        row.source, row.base, row.pending = typed.source, typed.base, dict(typed.pending)
        row.title, row.seat, row.version = title_of(typed.source), typed.seat, row.version + 1
        row.typed_at = timezone.now()
        row.save()
    return row


def _is_elsewhere(row: TaskDraft, typed: Typed) -> bool:
    if row.seat and row.seat == typed.seat:
        return False
    if row.seat:
        return True
    return row.version not in (0, typed.version) and row.source != typed.source


def sit(person_id: int, draft_id: UUID, seat: str) -> TaskDraft | Elsewhere | None:
    """Take the seat of a draft where it is free; None where there is no such draft."""
    free = TaskDraft.objects.filter(
        pk=draft_id, person_id=person_id, seat__in=("", seat), published__isnull=True
    )
    if free.update(seat=seat):
        return find(person_id, draft_id)
    row = find(person_id, draft_id)
    return Elsewhere(row) if row else None


def leave(person_id: int, draft_id: UUID, seat: str) -> None:
    """Give the seat up, where this page has it."""
    TaskDraft.objects.filter(pk=draft_id, person_id=person_id, seat=seat).update(seat="")


def discard(person_id: int, draft_id: UUID) -> None:
    """Forget a draft."""
    TaskDraft.objects.filter(pk=draft_id, person_id=person_id, published__isnull=True).delete()


def published(person_id: int, draft_id: UUID, number: int) -> None:
    """The draft has become a task. Old ones that did are forgotten."""
    mine = TaskDraft.objects.filter(person_id=person_id)
    mine.filter(pk=draft_id).update(published=number, seat="")
    mine.filter(published__isnull=False, typed_at__lt=timezone.now() - PUBLISHED_FOR).delete()


def title_of(source: str) -> str:
    """What a draft is called in lists: its title, else the beginning of what it says."""
    body = sources.read(source).body or {}
    said = shown("line", body.get("title")) or shown("line", body.get("task")) or source.strip()
    return said.partition("\n")[0][:200]
