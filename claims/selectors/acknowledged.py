"""What preparers have said of effects of earlier revisions."""

from __future__ import annotations

from uuid import UUID

from claims.models import Acknowledgement


def of_task(task_id: UUID) -> dict[str, bool]:
    """For one revision: whether each acknowledged effect counts. One query."""
    return dict(Acknowledgement.objects.filter(task_id=task_id).values_list("effect_id", "counts"))
