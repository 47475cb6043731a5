"""The record of a DONE task as an in-toto statement (Statement v1), whole enough to be verified offline.

Promises: all of it is read in one snapshot; a history row is told exactly as its hash was taken, so
that whoever has the file can take it again; nothing is left out because there is much of it. It does
not promise where the file comes from: it carries no signature (docs/how-to/verify-a-record.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from claims.checking.reading import snapshot, told
from claims.checking.results import as_written
from claims.models import CanonicalCommit, StagedResult, Task
from claims.selectors.provenance import parts, sent
from claims.selectors.provenance.parts import moment, person

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:fencepost:record:v1"
"""A name and no address; what stands under it is told in docs/how-to/verify-a-record.md."""
MEDIA_TYPE = "application/vnd.in-toto+json"


@dataclass(frozen=True, slots=True)
class Record:
    """A statement, with its parts at hand. ``rows`` are its history, ``head`` the hash of the last one."""

    task: Task
    statement: Mapping[str, Any]

    @property
    def predicate(self) -> Mapping[str, Any]:
        """What the statement says of its subjects."""
        found: Mapping[str, Any] = self.statement["predicate"]
        return found

    @property
    def file_name(self) -> str:
        """What the file is called."""
        return f"{self.task}.record.json"


def record_of(task_id: UUID) -> Record | None:
    """The record of a task as it is now; None while it has no canonical result.

    Rows that came after the commit are in it, too: a newer revision, an effect that was reconciled.
    """
    with snapshot():
        tasks = Task.objects.select_related("pool", "reviewer", "reviewer_group", "specification")
        task = tasks.filter(pk=task_id).first()
        commit = CanonicalCommit.objects.filter(task_id=task_id).select_related("reviewer").first()
        if task is None or commit is None:
            return None
        result = StagedResult.objects.get(attempt_id=commit.attempt_id, result_digest=commit.result_digest)
        predicate = {
            "task": _task(task),
            "input": as_written(task.specification.body),
            "inputDigest": task.input_digest,
            "pins": parts.pins_of(task_id),
            "attempts": parts.attempts_of(task_id),
            "deliveries": parts.deliveries_of(task_id),
            "result": as_written(result.result),
            "evidence": as_written(result.evidence),
            "effects": sent.effects_of(task_id),
            "acknowledgements": sent.acknowledgements_of(task_id),
            "commit": _commit(commit),
            "history": [parts.told_row(row) for row in told(task_id)],
            "head": {"stateVersion": task.state_version, "hash": bytes(task.history_hash).hex()},
        }
    subjects = list(_subjects(task, commit.result_digest, result.evidence))
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }
    return Record(task, statement)


def written(record: Record) -> bytes:
    """The file: UTF-8, readable, the same bytes for the same record."""
    return (json.dumps(record.statement, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _subjects(
    task: Task, result_digest: str, evidence: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The canonical JSON of the result with its manifest, then each piece of evidence, every name once."""
    names = {f"{task} result": 1}
    yield {"name": f"{task} result", "digest": {"sha256": result_digest.removeprefix("sha256:")}}
    for item in evidence:
        name = str(item["name"])
        names[name] = names.get(name, 0) + 1
        yield {
            "name": name if names[name] == 1 else f"{name} ({names[name]})",
            "digest": {"sha256": item["sha256"]},
        }


def _task(task: Task) -> dict[str, Any]:
    return {
        "taskId": str(task.pk),
        "number": task.number,
        "pool": task.pool.name,
        "title": task.title,
        "lineage": str(task.lineage_id),
        "revision": task.revision,
        "nodeId": task.node_id,
        "createdBy": task.created_by,
        "createdAt": moment(task.created_at),
        "state": str(task.state),
        "stale": task.is_stale,
        "cancelGeneration": task.cancel_generation,
        "reviewPolicy": str(task.review_policy),
        "reviewer": person(task.reviewer),
        "reviewerGroup": task.reviewer_group.name if task.reviewer_group else None,
    }


def _commit(commit: CanonicalCommit) -> dict[str, Any]:
    return {
        "commitId": str(commit.commit_id),
        "attemptId": str(commit.attempt_id),
        "deliveryId": str(commit.delivery_id) if commit.delivery_id else None,
        "fence": parts.fence(commit),
        "resultDigest": commit.result_digest,
        "reviewer": person(commit.reviewer),
        "committedAt": moment(commit.committed_at),
    }
