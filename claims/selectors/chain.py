"""Whether a task's history is whole: each row's hash recomputed from what the row says."""

from __future__ import annotations

from uuid import UUID

from claims.kernel.writing import GENESIS, chain
from claims.models import History, Task


def verify_chain(task_id: UUID) -> str | None:
    """None when every row follows from the one before; else what is wrong, in one sentence.

    The last row must be the one the task names, so that rows cut off at the end are missed too.
    """
    previous = GENESIS
    expected_version = 1
    for row in History.objects.filter(task_id=task_id).order_by("state_version").iterator():
        if row.state_version != expected_version:
            return f"Version {expected_version} is missing: the next row is version {row.state_version}."
        if chain(previous, _line(row)) != bytes(row.hash):
            return f"Version {row.state_version} is not what was written, or does not follow from the row before it."
        previous, expected_version = bytes(row.hash), expected_version + 1
    head = Task.objects.filter(id=task_id).values_list("state_version", "history_hash").first()
    if head is None or (head[0], bytes(head[1])) != (expected_version - 1, previous):
        return f"Version {expected_version} is missing: the history ends before the task does."
    return None


def _line(row: History) -> dict[str, object]:
    return {
        "taskId": str(row.task_id),
        "stateVersion": row.state_version,
        "verb": row.verb,
        "from": row.from_state,
        "to": row.to_state,
        "claimGeneration": row.claim_generation,
        "attemptId": str(row.attempt_id) if row.attempt_id else None,
        "actor": [row.actor_kind, row.actor_id, row.actor_name],
        "source": row.source,
        "requestId": row.request_id,
        "at": row.at.isoformat(timespec="microseconds"),
        "body": row.body,
        "validated": row.validated,
    }
