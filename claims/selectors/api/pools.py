"""Pools as their members see them. Counts stop at ``CAP``: what is shown is the size of a heap."""

from __future__ import annotations

from collections.abc import Sequence

from claims.rights import expand
from claims.selectors import drain
from claims.selectors.api.rows import Row, named, rows
from claims.vocabulary import State

CAP = 10_000


def pools_of(pool_ids: Sequence[int]) -> list[Row]:
    """The name, id, epoch and gate of each pool, by name."""
    return named(
        'SELECT id, name AS pool, scheduler_epoch AS "schedulerEpoch", gate FROM claims_pool WHERE id = ANY(%s::bigint[]) ORDER BY name',
        [list(pool_ids)],
    )


def rights_of(person_id: int) -> dict[int, list[str]]:
    """What a person may do, by pool; each right with those it carries."""
    found = rows(
        'SELECT pool_id, array_agg("right"::text) FROM claims_membership WHERE person_id = %s::int GROUP BY pool_id',
        [person_id],
    )
    return {pool_id: sorted(expand(held)) for pool_id, held in found}


def agent_standing(agent_id: int) -> Row:
    """The owner and labels of an agent, and whether it is disabled."""
    return named(
        "SELECT u.username AS owner, a.labels, a.is_disabled AS disabled FROM claims_agent a JOIN auth_user u ON u.id = a.owner_id"
        " WHERE a.id = %s::bigint",
        [agent_id],
    )[0]


def pool_now(pool_id: int) -> Row:
    """A pool, its policies, how much lies in each state, and what keeps it from being drained."""
    row = named(
        'SELECT name AS pool, title, scheduler_epoch AS "schedulerEpoch", gate, reclaim_policy, self_review, allows_unreviewed, ttl_seconds,'
        " max_ttl_seconds, window_seconds, max_attempts, late_evidence_days FROM claims_pool WHERE id = %s::bigint",
        [pool_id],
    )[0]
    return {
        "pool": row["pool"],
        "title": row["title"],
        "schedulerEpoch": row["schedulerEpoch"],
        "gate": row["gate"],
        "policies": {
            "reclaimPolicy": row["reclaim_policy"],
            "selfReview": row["self_review"],
            "allowsUnreviewed": row["allows_unreviewed"],
            "ttlSeconds": row["ttl_seconds"],
            "maxTtlSeconds": row["max_ttl_seconds"],
            "windowSeconds": row["window_seconds"],
            "maxAttempts": row["max_attempts"],
            "lateEvidenceDays": row["late_evidence_days"],
        },
        "counts": _counts(pool_id),
        "countsStopAt": CAP,
        "drain": drain.status(pool_id).as_json(),
    }


def _counts(pool_id: int) -> dict[str, int]:
    found = rows(
        "SELECT s.state, (SELECT count(*) FROM (SELECT 1 FROM claims_task t WHERE t.pool_id = %s::bigint AND t.state = s.state LIMIT %s::int) few)"
        " FROM unnest(%s::text[]) AS s(state)",
        [pool_id, CAP, [state.value for state in State]],
    )
    return dict(found)
