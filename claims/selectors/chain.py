"""Whether a task's history is whole: each row's hash recomputed from what the row says."""

from __future__ import annotations

from itertools import chain as either
from uuid import UUID

from claims.checking.history import broken_link_in, gap_in
from claims.checking.reading import head, told
from claims.kernel.writing import GENESIS


def verify_chain(task_id: UUID) -> str | None:
    """None when every row follows from the one before; else what is wrong, in one sentence.

    The last row must be the one the task names, so that rows cut off at the end are missed too.
    """
    rows = told(task_id)
    wrong = next(either(gap_in(rows), broken_link_in(rows)), None)
    if wrong is None and head(task_id) != (len(rows), rows[-1].hash if rows else GENESIS):
        return f"Version {len(rows) + 1} is missing: the history ends before the task does."
    return wrong
