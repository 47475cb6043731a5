"""What claim, commit and renew write to the WAL, record by record, and whether renewals stay heap-only.

Full-page images and autovacuum are off for this step: both come with time, and not from the verb.
Stored answers (the idempotency keys and their indexes) are counted apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection

from bench import product
from claims import transitions
from claims.callers import Actor, Caller
from claims.fences import Fence
from claims.outcomes import Committed, Grants, Refused
from claims.transitions import StagedResult
from claims.vocabulary import ActorKind, Source

PAIRS = 500
RENEWALS = 1_000
LEASES = 50

RECORDS = """
WITH record AS (SELECT start_lsn, end_lsn, resource_manager || ' ' || record_type AS kind, record_length - fpi_length AS bytes
                FROM pg_get_wal_records_info(%(start)s::pg_lsn, %(end)s::pg_lsn)),
 block AS (SELECT DISTINCT ON (start_lsn) start_lsn, relfilenode FROM pg_get_wal_block_info(%(start)s::pg_lsn, %(end)s::pg_lsn, false)
           ORDER BY start_lsn, block_id)
SELECT coalesce(c.relname, ''), r.kind, count(*), sum((r.bytes + 7) / 8 * 8)
 FROM record r LEFT JOIN block b USING (start_lsn) LEFT JOIN pg_class c ON pg_relation_filenode(c.oid) = b.relfilenode
 WHERE c.relnamespace IS DISTINCT FROM 'pg_catalog'::regnamespace
 GROUP BY 1, 2 ORDER BY 4 DESC"""
STORED_ANSWERS = "idempotency"


@dataclass(frozen=True)
class Written:
    """The WAL of `calls` calls. Bytes are those of the records, padded as they are stored."""

    calls: int
    records: list[tuple[str, str, int, int]]

    def each(self, *, stored_answers: bool = False) -> float:
        """Bytes of one call, without or only stored answers."""
        chosen = [row[3] for row in self.records if (STORED_ANSWERS in row[0]) is stored_answers]
        return float(sum(chosen)) / self.calls

    def commits(self) -> float:
        """Transactions one call committed."""
        return sum(row[2] for row in self.records if row[1].startswith("Transaction COMMIT")) / self.calls

    def lines(self) -> list[str]:
        """The records of one call, the costliest first."""
        return [
            f"{row[3] / self.calls:8.1f} B  {row[2] / self.calls:5.2f} x  {row[1]:<28} {row[0]}"
            for row in self.records
            if row[3] / self.calls >= 0.5
        ]


@contextmanager
def only_the_verbs() -> Iterator[None]:
    """Full-page images and autovacuum off, and on again."""
    try:
        _switch("off")
        yield
    finally:
        _switch("on")


def pairs(place: product.Place, *, keyed: bool) -> Written:
    """Claim and commit, with an idempotency key each or without."""
    product.fill([place.many[0]], PAIRS + 100)
    for _ in range(20):
        _pair(place, keyed)
    return _measured(PAIRS, lambda: _pair(place, keyed))


def renewals(place: product.Place) -> tuple[Written, float]:
    """Renewals of some leases, and which part of their updates was heap-only."""
    product.fill([place.many[0]], LEASES)
    caller, fences = _caller(place, keyed=False), [_claim(place, keyed=False) for _ in range(LEASES)]
    turns = iter(range(RENEWALS * 2))

    def renew() -> None:
        outcome = transitions.renew(caller, fences[next(turns) % LEASES][0], 600)
        if isinstance(outcome, Refused):
            raise RuntimeError(f"renew was refused: {outcome.sentence}")

    for _ in range(LEASES):
        renew()
    before = _updates()
    written = _measured(RENEWALS, renew)
    after = _updates()
    return written, (after[1] - before[1]) / max(1, after[0] - before[0])


def _pair(place: product.Place, keyed: bool) -> None:
    fence, input_digest = _claim(place, keyed)
    staged = StagedResult({"ok": True}, [])
    outcome = transitions.commit(_caller(place, keyed), fence, input_digest, staged=staged)
    if not isinstance(outcome, Committed):
        raise RuntimeError(f"commit was refused: {outcome}")


def _claim(place: product.Place, keyed: bool) -> tuple[Fence, str]:
    pool = place.many[0]
    granted = transitions.claim_next(_caller(place, keyed), pool.name, pool.scheduler_epoch)
    if not isinstance(granted, Grants) or not granted.grants:
        raise RuntimeError(f"claim-next gave nothing: {granted}")
    return granted.grants[0].fence, granted.grants[0].input_digest


def _caller(place: product.Place, keyed: bool) -> Caller:
    agent = place.agents[0]
    actor = Actor(ActorKind.AGENT, agent.id, agent.name)
    return Caller(
        actor,
        Source.API,
        key=f"key-{time.monotonic_ns()}" if keyed else None,
        request_digest="sha256:" + "0" * 64,
    )


def _measured(calls: int, call: Callable[[], object]) -> Written:
    start = _one("SELECT pg_current_wal_insert_lsn()")
    for _ in range(calls):
        call()
    end = _one("SELECT pg_current_wal_flush_lsn()")
    with connection.cursor() as cursor:
        cursor.execute(RECORDS, {"start": start, "end": end})
        rows = [(str(row[0]), str(row[1]), int(row[2]), int(row[3])) for row in cursor.fetchall()]
    return Written(calls, rows)


def _updates() -> tuple[int, int]:
    """Updates of leases so far, and how many were heap-only."""
    _one("SELECT pg_stat_force_next_flush()")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'claims_lease'"
        )
        row: tuple[int, int] = cursor.fetchone()
    return row


def _switch(word: str) -> None:
    for name in ("full_page_writes", "autovacuum"):
        _one(f"ALTER SYSTEM SET {name} = {word}")
    _one("SELECT pg_reload_conf()")
    connection.close()
    while _one("SHOW full_page_writes") != word:
        time.sleep(0.05)


def _one(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0] if cursor.description else None
