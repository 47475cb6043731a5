"""How much of what was accepted had been validated, counted for each acceptance point.

Promises: every number is counted from rows when it is asked for; none is kept anywhere, so none can
be a constant. *Validated* means more than that something was written beside the change: the numbers
that the comparison wrote are those of the fence that the attempt was granted, and for a claim those
of the pool and the task at that moment.

Renewals are counted on the claims there are, for a lease is gone with its claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

from claims.checking.reading import rows, snapshot
from claims.vocabulary import FENCED_VERBS, Verb

CANARY_POOL = "fencepost.canary"
"""The pool in which canaries write. What happens there is nobody's traffic."""

POINTS: tuple[Verb, ...] = (
    Verb.CLAIM,
    Verb.CLAIM_NEXT,
    Verb.RENEW,
    Verb.PROGRESS,
    Verb.STAGE,
    Verb.ADD_FILE,
    Verb.RELEASE,
    Verb.FAIL,
    Verb.DELIVER,
    Verb.COMMIT,
    Verb.ACCEPT,
    Verb.PREPARE,
    Verb.EXECUTE,
    Verb.CONFIRM,
    Verb.UNKNOWN,
    Verb.HAND_BACK,
    Verb.ABANDON,
    Verb.RECONCILE,
    Verb.ACCEPT_TOOL,
)
"""Every verb that carries a fence, and the claims that make one (claim.v1 section 1). A reconcile is
one where an agent makes it."""

_IN_HISTORY: LiteralString = """SELECT h.verb, count(*), count(*) FILTER (WHERE h.validated = a.scheduler_epoch || '.'
  || (CASE WHEN h.verb IN ('claim', 'claim-next') THEN h.claim_generation - 1 ELSE a.claim_generation END) || '.' || a.cancel_generation
  AND a.scheduler_epoch >= coalesce((SELECT max(e.after::bigint) FROM claims_poolevent e
   WHERE e.pool_id = h.pool_id AND e.verb = 'raise-epoch' AND e.at < h.at), 0))
 FROM claims_history h LEFT JOIN claims_attempt a ON a.id = h.attempt_id AND a.task_id = h.task_id
 WHERE h.pool_id = ANY(%s::bigint[]) AND (h.verb = ANY(%s::text[]) OR (h.verb = 'reconcile' AND h.actor_kind = 'AGENT'))
 GROUP BY h.verb"""

_BESIDE: LiteralString = """SELECT w.verb, count(*),
 count(*) FILTER (WHERE w.validated = a.scheduler_epoch || '.' || a.claim_generation || '.' || a.cancel_generation)
 FROM (
  SELECT 'renew' AS verb, l.attempt_id, l.renewed_under AS validated FROM claims_lease l WHERE l.renewals > 0
  UNION ALL SELECT 'progress', p.id, p.noted_under FROM claims_attempt p WHERE p.noted_at IS NOT NULL
  UNION ALL SELECT 'stage', s.attempt_id, s.validated FROM claims_stagedresult s WHERE NOT s.late
  UNION ALL SELECT 'add-file', f.attempt_id, f.validated FROM claims_evidencefile f WHERE NOT f.late
  UNION ALL SELECT 'accept-tool', x.attempt_id, x.validated FROM claims_toolacceptance x
 ) w JOIN claims_attempt a ON a.id = w.attempt_id JOIN claims_task t ON t.id = a.task_id
 WHERE t.pool_id = ANY(%s::bigint[]) GROUP BY w.verb"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """One acceptance point: how often it accepted, and how often what it accepted was validated."""

    point: Verb
    accepted: int
    validated: int

    @property
    def ratio(self) -> float | None:
        """From 0 to 1; None where nothing was accepted yet."""
        return self.validated / self.accepted if self.accepted else None

    @property
    def is_whole(self) -> bool:
        """Whether there was traffic and all of it was validated."""
        return self.accepted > 0 and self.validated == self.accepted


def coverage(pool: str | None = None) -> tuple[Coverage, ...]:
    """Every acceptance point, in a pool or in all but that of the canaries.

    Raises ``LookupError`` where there is no such pool.
    """
    with snapshot():
        pools = _pools(pool)
        fenced = [verb.value for verb in FENCED_VERBS]
        found = [*rows(_IN_HISTORY, [pools, fenced]), *rows(_BESIDE, [pools])]
    counted = {verb: (accepted, validated) for verb, accepted, validated in found}
    return tuple(Coverage(point, *counted.get(point.value, (0, 0))) for point in POINTS)


def _pools(name: str | None) -> list[int]:
    if name is None:
        return [row[0] for row in rows("SELECT id FROM claims_pool WHERE name <> %s::text", [CANARY_POOL])]
    found = [row[0] for row in rows("SELECT id FROM claims_pool WHERE name = %s::text", [name])]
    if not found:
        raise LookupError(f"There is no pool {name}.")
    return found
