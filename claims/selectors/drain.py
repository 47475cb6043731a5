"""What keeps a pool from being drained, by name (claim.v1 section 7, invariant 16).

Promises: each count is one of rows at the moment of asking, all of one snapshot, so that work on
its way from one condition to the next is never missed; at most ``NAMED`` of each are named.
A claim or a delivery of an earlier epoch can no longer write and is none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from django.db import connection

from claims.vocabulary import Gate

NAMED = 20

_BLOCKERS: LiteralString = """
WITH pool AS MATERIALIZED (SELECT scheduler_epoch FROM claims_pool WHERE id = %(pool)s::bigint)
(SELECT 'claim' AS kind, t.total, t.quiet, t.number, t.title, coalesce(r.name, '') AS runner, t.state_since AS since,
  CASE WHEN t.is_quiet THEN 'quiet' ELSE 'live' END AS what
 FROM (SELECT *, count(*) OVER () AS total, count(*) FILTER (WHERE is_quiet) OVER () AS quiet
  FROM (SELECT number, title, runner_id, state_since,
    (SELECT l.expires_at <= clock_timestamp() FROM claims_lease l WHERE l.task_id = t.id) AS is_quiet
   FROM claims_task t WHERE pool_id = %(pool)s::bigint AND state = 'CLAIMED'
    AND (SELECT a.scheduler_epoch FROM claims_attempt a WHERE a.id = t.attempt_id) = (SELECT scheduler_epoch FROM pool)) held
  ORDER BY state_since, number LIMIT %(named)s::int) t
 LEFT JOIN claims_agent r ON r.id = t.runner_id
 ORDER BY t.state_since, t.number)
UNION ALL
(SELECT 'effect', count(*) OVER (), 0, t.number, t.title, coalesce(r.name, ''), e.state_since, e.slot || ' is ' || e.state
 FROM claims_effect e JOIN claims_task t ON t.id = e.task_id
 LEFT JOIN claims_permit m ON m.id = e.permit_id LEFT JOIN claims_agent r ON r.id = m.agent_id
 WHERE e.pool_id = %(pool)s::bigint AND e.state IN ('EXECUTING', 'UNKNOWN')
 ORDER BY e.state_since, t.number LIMIT %(named)s::int)
UNION ALL
(SELECT 'delivery', d.total, 0, t.number, t.title, coalesce(r.name, ''), d.delivered_at, 'round ' || d.round
 FROM (SELECT task_id, agent_id, round, delivered_at, id, count(*) OVER () AS total FROM claims_delivery
  WHERE pool_id = %(pool)s::bigint AND state = 'PENDING' AND scheduler_epoch = (SELECT scheduler_epoch FROM pool)
  ORDER BY delivered_at, id LIMIT %(named)s::int) d
 JOIN claims_task t ON t.id = d.task_id LEFT JOIN claims_agent r ON r.id = d.agent_id
 ORDER BY d.delivered_at, d.id)"""

_POOL: LiteralString = "SELECT name, scheduler_epoch, gate FROM claims_pool WHERE id = %s::bigint"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that is in the way: a task, who ran it, since when, and what exactly."""

    number: int
    title: str
    runner: str
    since: datetime
    what: str

    def __str__(self) -> str:
        by = f", {self.runner}" if self.runner else ""
        return f"T-{self.number} {self.title} ({self.what}{by}, since {self.since:%Y-%m-%d %H:%M UTC})"

    def as_json(self) -> dict[str, object]:
        """Under the names of the JSON API."""
        return {
            "number": self.number,
            "title": self.title,
            "runner": self.runner or None,
            "since": self.since,
            "what": self.what,
        }


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the three conditions: how many are in the way, and the first of them, oldest first."""

    count: int = 0
    blockers: tuple[Blocker, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Under the names of the JSON API."""
        return {"count": self.count, "blockers": [blocker.as_json() for blocker in self.blockers]}


@dataclass(frozen=True, slots=True)
class DrainStatus:
    """How far a pool is from being drained. ``quiet`` is how many of the claims are."""

    pool: str
    scheduler_epoch: int
    gate: Gate
    claims: Condition
    quiet: int
    effects: Condition
    deliveries: Condition

    @property
    def is_drained(self) -> bool:
        """No claim can write, no effect is under way or in doubt, no delivery awaits its commit."""
        return not (self.claims.count or self.effects.count or self.deliveries.count)

    @property
    def sentence(self) -> str:
        """The status in one line."""
        counts = f"{self.claims.count} claims can write ({self.quiet} quiet), {self.effects.count} effects are open"
        counts += f", {self.deliveries.count} deliveries await their commit"
        return f"{self.pool} is {'' if self.is_drained else 'not '}drained: {counts}; gate {self.gate}."

    def as_json(self) -> dict[str, object]:
        """Under the names of the JSON API."""
        return {
            "drained": self.is_drained,
            "claims": {**self.claims.as_json(), "quiet": self.quiet},
            "effects": self.effects.as_json(),
            "deliveries": self.deliveries.as_json(),
        }


def status(pool_id: int) -> DrainStatus:
    """The status of a pool now. Two queries. Raises ``LookupError`` where there is no such pool."""
    pools = _rows(_POOL, [pool_id])
    if not pools:
        raise LookupError(f"pool {pool_id} does not exist")
    rows = _rows(_BLOCKERS, {"pool": pool_id, "named": NAMED})
    name, epoch, gate = pools[0]
    quiet = next((row[2] for row in rows if row[0] == "claim"), 0)
    return DrainStatus(
        name,
        epoch,
        Gate(gate),
        _condition(rows, "claim"),
        quiet,
        _condition(rows, "effect"),
        _condition(rows, "delivery"),
    )


def _condition(rows: list[tuple[Any, ...]], kind: str) -> Condition:
    of_kind = [row for row in rows if row[0] == kind]
    if not of_kind:
        return Condition()
    return Condition(of_kind[0][1], tuple(Blocker(*row[3:8]) for row in of_kind))


def _rows(statement: LiteralString, values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
