"""`python -m tests.day.audit`: what the database says of acknowledged answers (JSON in, JSON out).

Runs in the environment of the started programs. Input: `tasks`, `attempts`, `deliveries`, `commits`, as the
API had answered them. Output: `missing`, what is not there with the same ids and digests; `broken`, histories
whose chain does not hold; `stuck`, tasks that nothing moves on; `quiet`, claims whose lease ran out.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django


def main() -> None:
    """Read, look, and write the report."""
    django.setup()
    told = json.load(sys.stdin)
    json.dump({"missing": missing(told), "broken": broken(), **standing()}, sys.stdout)


def missing(told: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Each acknowledged answer whose row is not there as it was told."""
    from claims.models import Attempt, CanonicalCommit, Delivery, Task

    gone = [
        f"task {each['taskId']}"
        for each in told["tasks"]
        if not Task.objects.filter(id=each["taskId"]).exists()
    ]
    for fence in told["attempts"]:
        row = Attempt.objects.filter(
            id=fence["attemptId"],
            task_id=fence["taskId"],
            scheduler_epoch=fence["schedulerEpoch"],
            claim_generation=fence["claimGeneration"],
        )
        gone += [] if row.exists() else [f"attempt {fence}"]
    for each in told["deliveries"]:
        digests = {"result_digest": each["resultDigest"], "subject_digest": each["subjectDigest"]}
        found = Delivery.objects.filter(id=each["deliveryId"], round=each["round"], **digests).exists()
        gone += [] if found else [f"delivery {each}"]
    for each in told["commits"]:
        commit = CanonicalCommit.objects.filter(
            commit_id=each["resultCommitId"], task_id=each["taskId"], result_digest=each["resultDigest"]
        )
        gone += [] if commit.exists() else [f"commit {each}"]
    return gone


def broken() -> dict[str, str]:
    """Tasks whose history does not add up, with the reason."""
    from claims.models import Task
    from claims.selectors.chain import verify_chain

    checked = {str(task_id): verify_chain(task_id) for task_id in Task.objects.values_list("id", flat=True)}
    return {task: why for task, why in checked.items() if why is not None}


def standing() -> dict[str, list[str]]:
    """Tasks that are not final and that nothing moves on, and claims that nobody renews."""
    from django.utils import timezone

    from claims.models import Task
    from claims.vocabulary import ReclaimPolicy, State

    now, stuck, quiet = timezone.now(), [], []
    final = (State.DONE, State.CANCELLED, State.SUPERSEDED)
    for task in Task.objects.exclude(state__in=final).select_related("lease", "delivery", "runner"):
        lease = getattr(task, "lease", None)
        says = f"{task} {task.state} {task.reason or ''}".strip()
        if task.state == State.CLAIMED and (lease is None or lease.attempt_id != task.attempt_id):
            stuck.append(f"{says}: no lease")
        elif task.state == State.CLAIMED and lease.expires_at <= now:
            is_auto = task.reclaim_policy == ReclaimPolicy.AUTO
            (stuck if is_auto else quiet).append(f"{says}: {task.runner.name} let its lease run out")
        elif task.state == State.OPEN and task.attempts_used >= task.max_attempts:
            stuck.append(f"{says}: open, but its attempts are used up")
        elif task.state == State.DELIVERED and task.delivery is None:
            stuck.append(f"{says}: no delivery")
        elif task.state == State.HELD and not task.reason:
            stuck.append(f"{says}: held without a reason")
    return {"stuck": stuck, "quiet": quiet}


if __name__ == "__main__":
    main()
