"""What a grant carries beside its fence: read after the grant, and the same when it is read again.

Promises: the parts are those of the moment of the grant, rebuilt from rows that never change, so
that a replayed grant differs in the seconds that remain and in nothing else. (A title that was
adjusted since is the title of today.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from claims.fences import Fence
from claims.selectors.api.earlier import effects_before, predecessors_of
from claims.selectors.api.rows import Row, raw_json, rows


@dataclass(frozen=True, slots=True)
class GrantParts:
    """``round`` is the number the attempt's delivery will have; ``adopted`` what an operator gave it to go on from."""

    number: int
    title: str
    input: orjson.Fragment | Mapping[str, object]
    round: int
    last_review: Row | None
    adopted: Row | None = None
    effects: Sequence[Row] = ()
    predecessors: Sequence[Row] = ()


def parts_of_grants(fences: Sequence[Fence]) -> dict[UUID, GrantParts]:
    """The parts of several grants, by attempt."""
    found = rows(
        "SELECT f.attempt_id, t.number, t.title, i.body,"
        " CASE WHEN t.rounds = 0 THEN 1 ELSE 1 + (SELECT count(*) FROM claims_delivery d WHERE d.task_id = t.id AND d.claim_generation < f.generation) END,"
        " a.adopted_from IS NOT NULL, t.declares_effects, EXISTS (SELECT 1 FROM claims_pin n WHERE n.task_id = t.id)"
        " FROM unnest(%s::uuid[], %s::uuid[], %s::bigint[]) AS f(task_id, attempt_id, generation)"
        " JOIN claims_task t ON t.id = f.task_id JOIN claims_taskinput i ON i.task_id = t.id"
        " JOIN claims_attempt a ON a.id = f.attempt_id",
        [
            [fence.task_id for fence in fences],
            [fence.attempt_id for fence in fences],
            [fence.claim_generation for fence in fences],
        ],
    )
    generations = {fence.attempt_id: (fence.task_id, fence.claim_generation) for fence in fences}
    return {
        row[0]: GrantParts(
            row[1],
            row[2],
            raw_json(row[3]),
            row[4],
            review_before(*generations[row[0]]) if row[4] > 1 else None,
            adopted_evidence(row[0]) if row[5] else None,
            effects_before(row[0]) if row[6] else (),
            predecessors_of(generations[row[0]][0]) if row[7] else (),
        )
        for row in found
    }


def adopted_evidence(attempt_id: UUID) -> Row | None:
    """What an attempt goes on from by an operator's decision: its delivery's result, else what was staged last.

    What the adopted attempt stages later is not part of it, so that the answer stays the same.
    """
    found = rows(
        "SELECT s.attempt_id, s.result_digest, s.result, s.evidence FROM claims_attempt a"
        " JOIN claims_stagedresult s ON s.attempt_id = a.adopted_from LEFT JOIN claims_delivery d ON d.attempt_id = s.attempt_id"
        " WHERE a.id = %s::uuid AND s.staged_at <= a.started_at AND (d.id IS NULL OR d.result_digest = s.result_digest)"
        " ORDER BY s.position DESC LIMIT 1",
        [attempt_id],
    )
    if not found:
        return None
    row = found[0]
    return {
        "attemptId": row[0],
        "resultDigest": row[1],
        "result": raw_json(row[2]),
        "evidence": raw_json(row[3]),
    }


def review_before(task_id: UUID, generation: int) -> Row | None:
    """The newest decision on a delivery of a claim before this generation: what the runner has to answer."""
    found = rows(
        "SELECT d.round, x.kind, x.note, x.verdicts, x.comments, d.attempt_id FROM claims_delivery d"
        " JOIN claims_decision x ON x.delivery_id = d.id WHERE d.task_id = %s::uuid AND d.claim_generation < %s::bigint"
        " ORDER BY d.round DESC LIMIT 1",
        [task_id, generation],
    )
    if not found:
        return None
    row = found[0]
    return {
        "round": row[0],
        "decision": row[1],
        "note": row[2],
        "verdicts": verdict_list(orjson.loads(row[3])),
        "comments": raw_json(row[4]),
        "attemptId": row[5],
    }


def verdict_list(verdicts: dict[str, Any]) -> list[Row]:
    """Verdicts in the order of the criteria."""
    return [{"criterion": int(number), **verdicts[number]} for number in sorted(verdicts, key=int)]
