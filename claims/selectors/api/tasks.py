"""Tasks, their history and what was refused about them, as keyset pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from claims.outcomes import RULES, Why
from claims.selectors.api.lineage import standing
from claims.selectors.api.rows import Row, named, raw_json

_TASK: LiteralString = (
    'SELECT t.id AS "taskId", t.number, p.name AS pool, t.node_id AS "nodeId", t.lineage_id AS lineage, t.revision, t.is_stale AS stale, t.title, t.state, t.reason,'
    ' t.state_since AS "stateSince", t.state_version AS "stateVersion", t.claim_generation AS "claimGeneration",'
    ' t.cancel_generation AS "cancelGeneration", t.input_digest AS "inputDigest", t.access, t.priority, t.not_before AS "notBefore",'
    ' t.ttl_seconds AS "ttlSeconds", t.max_attempts AS "maxAttempts", t.attempts_used AS "attemptsUsed", t.rounds,'
    ' t.review_policy AS "reviewPolicy", t.reclaim_policy AS "reclaimPolicy", u.username AS reviewer, g.name AS "reviewerGroup",'
    ' r.name AS runner, t.attempt_id AS "attemptId", t.delivery_id AS "deliveryId", t.result_commit_id AS "resultCommitId",'
    ' l.expires_at AS "leaseExpiresAt", t.created_by AS "createdBy", t.created_at AS "createdAt"'
)
_FROM: LiteralString = (
    " FROM claims_task t JOIN claims_pool p ON p.id = t.pool_id LEFT JOIN auth_user u ON u.id = t.reviewer_id"
    " LEFT JOIN claims_reviewergroup g ON g.id = t.reviewer_group_id LEFT JOIN claims_agent r ON r.id = t.runner_id"
    " LEFT JOIN claims_lease l ON l.task_id = t.id"
)


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks: in these pools, older than ``before`` (a number), and as far as given the rest."""

    pool_ids: Sequence[int]
    state: str | None = None
    label: str | None = None
    words: str | None = None
    before: int | None = None
    limit: int = 50


def tasks(wanted: TaskFilter) -> list[Row]:
    """A page of tasks, newest first. ``words`` are looked for in titles as they are; ``T-12`` is a number."""
    where: list[LiteralString] = ["t.pool_id = ANY(%s::bigint[])"]
    values: list[object] = [list(wanted.pool_ids)]
    if wanted.state is not None:
        where.append("t.state = %s::text")
        values.append(wanted.state)
    if wanted.label is not None:
        where.append("%s::text = ANY(t.access)")
        values.append(wanted.label)
    number = _number(wanted.words)
    if number is not None:
        where.append("t.number = %s::bigint")
        values.append(number)
    elif wanted.words:
        where.append("strpos(lower(t.title), lower(%s::text)) > 0")
        values.append(wanted.words)
    if wanted.before is not None:
        where.append("t.number < %s::bigint")
        values.append(wanted.before)
    conditions: LiteralString = " AND ".join(where)
    return named(
        _TASK + _FROM + " WHERE " + conditions + " ORDER BY t.number DESC LIMIT %s::int",
        [*values, wanted.limit],
    )


def task(task_id: UUID) -> Row:
    """One task with its input, its place among others and, when it is done, its canonical result."""
    row = named(
        _TASK
        + ', i.body AS input, c.result_digest AS "resultDigest", c.attempt_id AS "committedAttempt", c.committed_at AS "committedAt", s.result, s.evidence'
        + _FROM
        + " JOIN claims_taskinput i ON i.task_id = t.id LEFT JOIN claims_canonicalcommit c ON c.task_id = t.id"
        " LEFT JOIN claims_stagedresult s ON s.attempt_id = c.attempt_id AND s.result_digest = c.result_digest WHERE t.id = %s::uuid",
        [task_id],
    )[0]
    for name in ("input", "result", "evidence"):
        row[name] = raw_json(row[name]) if row[name] is not None else None
    return {**row, **standing(task_id, row["lineage"])}


def history(task_id: UUID, after: int, limit: int) -> list[Row]:
    """Rows of a task's history with a state version above ``after``, oldest first."""
    found = named(
        'SELECT state_version AS "stateVersion", verb, from_state AS "from", to_state AS "to", claim_generation AS "claimGeneration",'
        ' attempt_id AS "attemptId", actor_kind AS "actorKind", actor_name AS actor, source, request_id AS "requestId", at, body,'
        " encode(hash, 'hex') AS hash FROM claims_history WHERE task_id = %s::uuid AND state_version > %s::bigint"
        " ORDER BY state_version LIMIT %s::int",
        [task_id, after, limit],
    )
    return [{**row, "body": raw_json(row["body"])} for row in found]


def refusals(task_id: UUID, before: int | None, limit: int) -> list[Row]:
    """What was refused about a task, newest first; ``before`` is the id of the last row of the page before."""
    found = named(
        'SELECT id, verb, why AS code, detail, presented, current, attempt_id AS "attemptId", actor_kind AS "actorKind", actor_name AS actor,'
        ' source, request_id AS "requestId", at FROM claims_refusal WHERE task_id = %s::uuid AND id < %s::bigint ORDER BY id DESC LIMIT %s::int',
        [task_id, before if before is not None else 2**62, limit],
    )
    return [
        {
            **row,
            "retry": RULES[Why(row["code"])].retry.value,
            "legalActions": list(RULES[Why(row["code"])].then),
            "presented": raw_json(row["presented"]),
            "current": raw_json(row["current"]),
        }
        for row in found
    ]


def _number(words: str | None) -> int | None:
    digits = words[2:] if words and words[:2] in ("T-", "t-") else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None
