"""What a change of a task was about: the inputs of its revisions, and the names of reviewer groups.

Promises: one query each, none where nothing is asked for; nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from claims.models import ReviewerGroup, TaskInput


def inputs(lineage_id: UUID, revisions: Collection[int]) -> dict[int, Mapping[str, Any]]:
    """The inputs of some revisions of a lineage with their titles, by revision."""
    if not revisions:
        return {}
    rows = TaskInput.objects.filter(lineage_id=lineage_id, revision__in=revisions)
    found = rows.values_list("revision", "body", "task__title")
    return {revision: {**body, "title": title} for revision, body, title in found}


def groups(ids: Collection[int]) -> dict[int, str]:
    """The names of some reviewer groups."""
    return dict(ReviewerGroup.objects.filter(pk__in=ids).values_list("id", "name")) if ids else {}
