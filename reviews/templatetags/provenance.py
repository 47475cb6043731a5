"""What other pages say of rival evidence: one line that leads to the attempts side by side."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import template

from claims.models import CanonicalCommit, Task
from claims.selectors import provenance

register = template.Library()


@register.inclusion_tag("arbitration/_others.html")
def other_evidence(
    task: Task, attempt_id: UUID | None = None, commit: CanonicalCommit | None = None
) -> dict[str, Any]:
    """How many attempts have evidence beside this one, or the committed one, as a link. One query.

    Nothing is drawn where there are none.
    """
    beside = attempt_id or (commit.attempt_id if commit else None)
    return {"task": task, "count": provenance.count_beside(task.pk, beside), "is_beside": beside is not None}
