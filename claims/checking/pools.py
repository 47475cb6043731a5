"""Invariants that no single task shows: epochs of a pool, and idempotency keys."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import LiteralString

from claims.checking.reading import rows
from claims.checking.rows import Found, PoolNow

_ACCEPTED_BELOW: LiteralString = """SELECT x.number, x.state_version, x.verb, x.epoch, x.highest FROM (
 SELECT t.number, h.state_version, h.verb, h.epoch, h.id, max(h.epoch) OVER (ORDER BY h.id) AS highest
 FROM (SELECT id, task_id, state_version, verb, substring(validated FROM '^[0-9]{1,18}')::bigint AS epoch FROM claims_history
  WHERE pool_id = %s::bigint AND validated IS NOT NULL) h LEFT JOIN claims_task t ON t.id = h.task_id
 ) x WHERE x.epoch < x.highest ORDER BY x.id LIMIT 1"""

_KEYS_OF_NOTHING: LiteralString = """WITH said AS (SELECT k.key, k.verb, k.answer->>0 AS kind, k.answer->1 AS a FROM claims_idempotencykey k)
 SELECT s.key, s.verb, s.kind FROM said s WHERE CASE s.kind
 WHEN 'Granted' THEN NOT EXISTS (SELECT 1 FROM claims_attempt x WHERE x.id = (s.a->'fence'->>'attempt_id')::uuid)
 WHEN 'Grants' THEN EXISTS (SELECT 1 FROM jsonb_array_elements(s.a->'grants') g WHERE NOT EXISTS
  (SELECT 1 FROM claims_attempt x WHERE x.id = (g->'fence'->>'attempt_id')::uuid))
 WHEN 'Created' THEN EXISTS (SELECT 1 FROM jsonb_array_elements(s.a->'tasks') g WHERE NOT EXISTS
  (SELECT 1 FROM claims_task x WHERE x.id = (g->>'task_id')::uuid))
 WHEN 'Revised' THEN NOT EXISTS (SELECT 1 FROM claims_task x WHERE x.id = (s.a->'task'->>'task_id')::uuid)
 WHEN 'Delivered' THEN NOT EXISTS (SELECT 1 FROM claims_delivery x WHERE x.id = (s.a->>'delivery_id')::uuid)
 WHEN 'Decided' THEN NOT EXISTS (SELECT 1 FROM claims_decision x WHERE x.delivery_id = (s.a->>'delivery_id')::uuid)
 WHEN 'Committed' THEN NOT EXISTS (SELECT 1 FROM claims_canonicalcommit x WHERE x.task_id = (s.a->>'task_id')::uuid
  AND x.commit_id = (s.a->>'result_commit_id')::uuid)
 WHEN 'Permitted' THEN NOT EXISTS (SELECT 1 FROM claims_permit x WHERE x.id = (s.a->>'permit_id')::uuid)
 WHEN 'Approved' THEN NOT EXISTS (SELECT 1 FROM claims_approval x WHERE x.id = (s.a->>'approval_id')::uuid)
 WHEN 'EffectMoved' THEN NOT EXISTS (SELECT 1 FROM claims_effect x WHERE x.id = s.a->>'effect_id')
 WHEN 'Left' THEN NOT EXISTS (SELECT 1 FROM claims_history h WHERE h.task_id = (s.a->>'task_id')::uuid
  AND h.state_version = (s.a->>'state_version')::bigint)
 WHEN 'Noted' THEN NOT EXISTS (SELECT 1 FROM claims_history h WHERE h.task_id = (s.a->>'task_id')::uuid
  AND h.state_version = (s.a->>'state_version')::bigint)
 WHEN 'Cancelled' THEN NOT EXISTS (SELECT 1 FROM claims_history h WHERE h.task_id = (s.a->>'task_id')::uuid AND h.verb = 'cancel')
 ELSE false END LIMIT 1"""


def the_epoch_only_rises(pool: PoolNow) -> Found:
    """A raise gives a higher epoch than any before it, and the pool never falls behind one (section 1)."""
    epochs = [epoch for _, epoch in pool.raises]
    for before, after in pairwise(epochs):
        if after <= before:
            yield f"The epoch of {pool.name} was raised from {before} to {after}."
    if epochs and pool.scheduler_epoch < epochs[-1]:
        yield f"The pool {pool.name} is at epoch {pool.scheduler_epoch}; it was raised to {epochs[-1]}."


def nothing_is_accepted_after_a_higher_epoch_was(pool: PoolNow) -> Found:
    """Once a write of an epoch was accepted, none of a lower one is (invariant 4).

    By the numbers of the rows, which are taken under the pool's lock; no clock is asked.
    """
    for number, version, verb, epoch, highest in rows(_ACCEPTED_BELOW, [pool.id]):
        yield f"T-{number} version {version} ({verb}) was accepted under epoch {epoch} after a write under {highest}."


def no_key_is_kept_without_its_change() -> Found:
    """An answer is stored in the transaction of the change that it tells of (section 4)."""
    for key, verb, kind in rows(_KEYS_OF_NOTHING, []):
        yield f"The key {key[:80]} answers {verb} with {kind}, and no such change is there."


POOL_INVARIANTS: tuple[Callable[[PoolNow], Found], ...] = (
    the_epoch_only_rises,
    nothing_is_accepted_after_a_higher_epoch_was,
)
KEY_INVARIANTS: tuple[Callable[[], Found], ...] = (no_key_is_kept_without_its_change,)
