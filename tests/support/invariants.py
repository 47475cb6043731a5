"""The invariants of claim.v1 section 7 of one task, as `manage.py check_history` holds them."""

from __future__ import annotations

from uuid import UUID

from claims import checking
from claims.checking import Certificate


def check(task_id: UUID) -> None:
    """Fails with the sentence of the first invariant that does not hold."""
    found = checking.check(task=task_id)
    assert isinstance(found, Certificate), str(found)
