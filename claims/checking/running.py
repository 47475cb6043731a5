"""Replaying the stored history against the invariants of claim.v1 section 7.

Promises: what is certified was read from the tables alone, each task in one snapshot; nothing is
written, locked or repaired. A violation names the first invariant that does not hold, by task in
the order of ids. It is not a proof that nothing ever happened: only that what is stored agrees.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from claims.checking import authority, graph, history, ledger, results, tables
from claims.checking.pools import KEY_INVARIANTS, POOL_INVARIANTS
from claims.checking.reading import lives, pool_ids, pool_now, rows, snapshot
from claims.checking.rows import Invariant, Life

INVARIANTS: tuple[Invariant, ...] = (
    *history.INVARIANTS,
    *authority.INVARIANTS,
    *results.INVARIANTS,
    *ledger.INVARIANTS,
    *graph.INVARIANTS,
    *tables.INVARIANTS,
)
"""In the order in which they are held against each task."""

Heard = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Violation:
    """The first thing that does not hold: which invariant, of which task (if of one), in one sentence."""

    invariant: str
    sentence: str
    task_id: UUID | None = None
    number: int | None = None

    def __str__(self) -> str:
        where = f"T-{self.number}: " if self.number is not None else ""
        return f"{where}{self.sentence} ({self.invariant})"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was looked at, and that all of it holds.

    ``head`` is the SHA-256 of the head hashes of all tasks in the order of their ids: two
    certificates of the same tasks with the same head speak of the same history. ``at`` is the
    database's time when the check began.
    """

    pool: str | None
    tasks: int
    rows: int
    attempts: int
    deliveries: int
    commits: int
    effects: int
    permits: int
    invariants: tuple[str, ...]
    head: str
    at: datetime


def check(
    pool: str | None = None, task: UUID | None = None, heard: Heard | None = None
) -> Certificate | Violation:
    """Hold the stored history of all tasks, of one pool, or of one task against the invariants.

    ``heard`` is told the number of tasks looked at, from time to time. Raises ``LookupError`` where
    there is no such pool or task.
    """
    at: datetime = rows("SELECT clock_timestamp()", [])[0][0]
    pool_id = _pool_id(pool) if pool is not None else None
    if task is not None and next(lives(pool_id, task), None) is None:
        raise LookupError(f"There is no task {task}{f' in {pool}' if pool else ''}.")
    violation = _broken_of_pools(pool_id) if task is None else None
    if violation:
        return violation
    counted: Counter[str] = Counter()
    whole = hashlib.sha256()
    for life in lives(pool_id, task):
        violation = first_violation(life)
        if violation:
            return violation
        _count(counted, life)
        whole.update(life.task.id.bytes + life.task.history_hash)
        if heard and counted["tasks"] % 10_000 == 0:
            heard(counted["tasks"])
    violation = _broken_of_keys() if task is None else None
    if violation:
        return violation
    numbers = {name: counted[name] for name in COUNTED}
    head = f"sha256:{whole.hexdigest()}"
    return Certificate(pool, invariants=names(task is None), head=head, at=at, **numbers)


def first_violation(life: Life) -> Violation | None:
    """The first invariant that one task breaks."""
    for invariant in INVARIANTS:
        for sentence in invariant(life):
            return Violation(name_of(invariant), sentence, life.task.id, life.task.number)
    return None


def names(is_whole: bool) -> tuple[str, ...]:
    """The names of the invariants that are held; those of pools and keys where it is not one task."""
    held: list[Callable[..., Iterator[str]]] = [*INVARIANTS]
    if is_whole:
        held += [*POOL_INVARIANTS, *KEY_INVARIANTS]
    return tuple(name_of(invariant) for invariant in held)


def name_of(invariant: Callable[..., Iterator[str]]) -> str:
    """An invariant's name, as a sentence."""
    return invariant.__name__.replace("_", " ")


COUNTED = ("tasks", "rows", "attempts", "deliveries", "commits", "effects", "permits")
"""What a certificate says it has read, each a number of it."""


def _count(counted: Counter[str], life: Life) -> None:
    counted["tasks"] += 1
    for name in COUNTED[1:]:
        counted[name] += len(getattr(life, name))


def _broken_of_pools(pool_id: int | None) -> Violation | None:
    with snapshot():
        named = [pool_id] if pool_id is not None else pool_ids()
        for pool in map(pool_now, named):
            for invariant in POOL_INVARIANTS:
                for sentence in invariant(pool):
                    return Violation(name_of(invariant), sentence)
    return None


def _broken_of_keys() -> Violation | None:
    with snapshot():
        for invariant in KEY_INVARIANTS:
            for sentence in invariant():
                return Violation(name_of(invariant), sentence)
    return None


def _pool_id(name: str) -> int:
    found = rows("SELECT id FROM claims_pool WHERE name = %s::text", [name])
    if not found:
        raise LookupError(f"There is no pool {name}.")
    return int(found[0][0])
