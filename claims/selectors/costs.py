"""What attempts cost: what was accepted, what is in work, what was discarded and how it ended.

Promises: every attempt is in exactly one of the three, and what it told is counted there. An
attempt that told nothing is counted and adds nothing. Money is summed by currency, never across.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

from django.db import connection

# A delivered attempt shares the fate of its delivery; one that was sent back, that of its task: the next
# attempt goes on from its work.
_PLACED: LiteralString = """SELECT a.cost,
 CASE WHEN a.outcome IS NULL THEN 'IN_WORK' WHEN a.outcome = 'COMMITTED' THEN 'ACCEPTED'
  WHEN a.outcome <> 'DELIVERED' THEN a.outcome WHEN d.state = 'PENDING' THEN 'IN_WORK'
  WHEN d.state <> 'CHANGES_REQUESTED' OR t.state IN ('CANCELLED', 'SUPERSEDED') THEN d.state
  WHEN t.state = 'DONE' THEN 'ACCEPTED' ELSE 'IN_WORK' END AS place
 FROM claims_attempt a JOIN claims_task t ON t.id = a.task_id LEFT JOIN claims_delivery d ON d.attempt_id = a.id"""

_SUMS: LiteralString = """SELECT place, count(*), count(cost), cost->'money'->>'currency',
 coalesce(sum((cost->>'seconds')::numeric), 0)::float8, coalesce(sum((cost->>'tokens')::numeric), 0)::bigint,
 sum((cost->'money'->>'amount')::numeric) FROM placed GROUP BY 1, 4"""

# Ids of attempts are UUIDv7: ordered by time, so that the primary key bounds how far back is read.
_SINCE: LiteralString = """a.id >= (SELECT (substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-0000-0000-000000000000')::uuid
 FROM lpad(to_hex((extract(epoch FROM clock_timestamp() - make_interval(days => %s::int)) * 1000)::bigint), 12, '0') AS h)"""


@dataclass(frozen=True, slots=True)
class Sum:
    """Some attempts together. ``told`` is how many of them said what they cost."""

    attempts: int = 0
    told: int = 0
    seconds: float = 0.0
    tokens: int = 0
    money: dict[str, Decimal] = field(default_factory=dict)

    def __add__(self, other: Sum) -> Sum:
        currencies = sorted({*self.money, *other.money})
        money = {
            name: self.money.get(name, Decimal()) + other.money.get(name, Decimal()) for name in currencies
        }
        return Sum(
            self.attempts + other.attempts,
            self.told + other.told,
            self.seconds + other.seconds,
            self.tokens + other.tokens,
            money,
        )

    def as_json(self) -> dict[str, object]:
        """Under the names of the JSON API; amounts as decimal strings."""
        money = [{"amount": str(self.money[name]), "currency": name} for name in sorted(self.money)]
        return {
            "attempts": self.attempts,
            "told": self.told,
            "seconds": self.seconds,
            "tokens": self.tokens,
            "money": money,
        }


@dataclass(frozen=True, slots=True)
class Costs:
    """``discarded`` is by how the attempt ended, or what became of its delivery."""

    accepted: Sum = field(default_factory=Sum)
    in_work: Sum = field(default_factory=Sum)
    discarded: dict[str, Sum] = field(default_factory=dict)

    @property
    def wasted(self) -> Sum:
        """All that was discarded, together."""
        return sum(self.discarded.values(), Sum())

    def as_json(self) -> dict[str, object]:
        """Under the names of the JSON API."""
        return {
            "accepted": self.accepted.as_json(),
            "inWork": self.in_work.as_json(),
            "discarded": {name: self.discarded[name].as_json() for name in sorted(self.discarded)},
        }


def of_task(task_id: UUID) -> Costs:
    """The costs of one task's attempts, of this revision alone. One query."""
    return _costs(_PLACED + " WHERE a.task_id = %s::uuid", [task_id])


def of_pool(pool_id: int, days: int = 30) -> Costs:
    """The costs of the attempts that began in a pool within the last ``days``. One query."""
    return _costs(_PLACED + " WHERE t.pool_id = %s::bigint AND " + _SINCE, [pool_id, days])


def _costs(placed: LiteralString, values: list[Any]) -> Costs:
    with connection.cursor() as cursor:
        cursor.execute(f"WITH placed AS ({placed}) {_SUMS}", values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    found: dict[str, Sum] = {}
    for place, attempts, told, currency, seconds, tokens, amount in rows:
        money = {currency: amount} if currency else {}
        found[place] = found.get(place, Sum()) + Sum(attempts, told, seconds, tokens, money)
    accepted, in_work = found.pop("ACCEPTED", Sum()), found.pop("IN_WORK", Sum())
    return Costs(accepted, in_work, found)
