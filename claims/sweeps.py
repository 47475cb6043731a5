"""What the clock does, in bounded batches: nothing here is needed for safety, only for progress.

Promises: any number of sweeps may run at once, stop half-way or never come back; each change is a
transition that reads afresh under its locks, so a sweep acting on what it read before changes
nothing that has moved since. Every due claim is dealt with within two sweeps.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import structlog
from django.core.cache import cache
from django.core.files.storage import storages
from django.db import connection

from claims import evidence, kernel, transitions
from claims.callers import sweep_caller
from claims.evidence.storage import path_of
from claims.outcomes import EffectMoved, Left

log = structlog.get_logger(__name__)

BATCH = 200
BUDGET_SECONDS = 8.0
ORPHAN_AGE = timedelta(hours=24)
SHARDS = 256
LAST_GOOD = "claims:last-good-sweep"

_DUE: LiteralString = """SELECT l.task_id FROM claims_lease l JOIN claims_task t ON t.id = l.task_id
 JOIN claims_attempt a ON a.id = l.attempt_id JOIN claims_pool p ON p.id = t.pool_id
 WHERE t.state = 'CLAIMED' AND (a.scheduler_epoch <> p.scheduler_epoch
   OR (t.reclaim_policy = 'AUTO' AND l.expires_at <= clock_timestamp()))
 AND NOT l.task_id = ANY(%s::uuid[]) ORDER BY l.expires_at LIMIT %s::int"""

_OVERDUE: LiteralString = """SELECT e.id FROM claims_effect e JOIN claims_permit p ON p.id = e.permit_id
 WHERE e.state = 'EXECUTING' AND p.deadline <= clock_timestamp() AND NOT e.id = ANY(%s::text[])
 ORDER BY p.deadline LIMIT %s::int"""

_DISABLED: LiteralString = """SELECT DISTINCT l.agent_id FROM claims_lease l JOIN claims_agent g ON g.id = l.agent_id
 WHERE g.is_disabled LIMIT %s::int"""

_UNOPENED: LiteralString = """SELECT t.id FROM claims_task t WHERE t.state = 'BLOCKED' AND NOT EXISTS (
 SELECT 1 FROM claims_dependency d JOIN LATERAL (SELECT n.state FROM claims_taskinput i JOIN claims_task n ON n.id = i.task_id
   WHERE i.lineage_id = d.predecessor_lineage ORDER BY i.revision DESC LIMIT 1) newest ON true
 WHERE d.successor_lineage = t.lineage_id AND newest.state <> 'DONE') LIMIT %s::int"""

_OUTDATED: LiteralString = """SELECT DISTINCT p.task_id FROM claims_taskinput i JOIN claims_task newer ON newer.id = i.task_id AND newer.state = 'DONE'
 JOIN claims_task older ON older.lineage_id = i.lineage_id AND older.revision < i.revision
 JOIN claims_dependency d ON d.predecessor_lineage = i.lineage_id
 JOIN claims_taskinput s ON s.lineage_id = d.successor_lineage
 JOIN claims_pin p ON p.task_id = s.task_id AND p.predecessor_id = older.id
 JOIN claims_task t ON t.id = p.task_id AND NOT t.is_stale AND t.state IN ('OPEN', 'CLAIMED', 'DELIVERED', 'HELD', 'DONE')
 WHERE i.revision > 1 AND NOT EXISTS (SELECT 1 FROM claims_taskinput j WHERE j.lineage_id = i.lineage_id AND j.revision > i.revision)
 LIMIT %s::int"""

_FORGET_LATE: LiteralString = """DELETE FROM claims_evidencefile WHERE id IN (
 SELECT f.id FROM claims_evidencefile f JOIN claims_task t ON t.id = f.task_id JOIN claims_pool p ON p.id = t.pool_id
 WHERE f.late AND f.added_at < clock_timestamp() - make_interval(days => p.late_evidence_days) LIMIT %s::int)"""

_FORGET_BLOBS: LiteralString = """DELETE FROM claims_blob WHERE sha256 IN (
 SELECT b.sha256 FROM claims_blob b WHERE b.kept_at < clock_timestamp() - %s::interval
 AND NOT EXISTS (SELECT 1 FROM claims_evidencefile f WHERE f.sha256 = b.sha256) LIMIT %s::int)"""

_WANTED: LiteralString = """SELECT s.sha256 FROM unnest(%s::text[]) AS s(sha256)
 WHERE EXISTS (SELECT 1 FROM claims_blob b WHERE b.sha256 = s.sha256)
 OR EXISTS (SELECT 1 FROM claims_evidencefile f WHERE f.sha256 = s.sha256)"""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one round did."""

    lapsed: int = 0
    held: int = 0
    keys: int = 0
    permits: int = 0


@dataclass(frozen=True, slots=True)
class Collected:
    """What one round of collecting evidence took away."""

    late: int = 0
    blobs: int = 0
    files: int = 0


def sweep(budget_seconds: float = BUDGET_SECONDS) -> Swept:
    """One round over claims, permits and keys; the time of a round that went through is kept for operators."""
    swept = Swept(
        lapse_due(budget_seconds), hold_disabled(), kernel.expire_keys(), expire_permits(budget_seconds)
    )
    cache.set(LAST_GOOD, _clock().isoformat(), None)
    return swept


def last_good() -> datetime | None:
    """When the last sweep went through; None where that is not known. For display only."""
    written = cache.get(LAST_GOOD)
    return datetime.fromisoformat(written) if isinstance(written, str) else None


def lapse_due(budget_seconds: float = BUDGET_SECONDS) -> int:
    """End expired AUTO claims and claims of an old epoch; how many were ended."""
    end, lapsed = time.monotonic() + budget_seconds, 0
    stuck: list[UUID] = []
    while True:
        due = [row[0] for row in _rows(_DUE, [stuck, BATCH])]
        for task_id in due:
            ended = _tried(lambda task_id=task_id: transitions.lapse(sweep_caller(), task_id), task_id)  # type: ignore[misc]
            if isinstance(ended, Left):
                lapsed += 1
            else:
                stuck.append(task_id)
            if time.monotonic() > end:
                return lapsed
        if len(due) < BATCH:
            return lapsed


def expire_permits(budget_seconds: float = BUDGET_SECONDS) -> int:
    """Write down that permits' deadlines have passed: EXECUTING -> UNKNOWN; how many effects.

    They read as UNKNOWN from that moment on anyway; this puts them on the operators' list.
    """
    end, expired = time.monotonic() + budget_seconds, 0
    stuck: list[str] = []
    while True:
        due = [row[0] for row in _rows(_OVERDUE, [stuck, BATCH])]
        for effect_id in due:
            moved = _tried(
                lambda effect_id=effect_id: transitions.expire_permit(sweep_caller(), effect_id),  # type: ignore[misc]
                effect_id,
            )
            if isinstance(moved, EffectMoved):
                expired += 1
            else:
                stuck.append(effect_id)
            if time.monotonic() > end:
                return expired
        if len(due) < BATCH:
            return expired


def hold_disabled() -> int:
    """Send what disabled agents still hold to HELD, in case that was interrupted; how many tasks."""
    held = 0
    for (agent_id,) in _rows(_DISABLED, [BATCH]):
        left = _tried(lambda agent_id=agent_id: transitions.disable_agent(sweep_caller(), agent_id), agent_id)  # type: ignore[misc]
        held += len(left) if isinstance(left, list) else 0
    return held


def settle_graphs() -> int:
    """Open, hold or mark what a commit should have settled along its edges; how many tasks.

    None on a healthy database: a commit settles its successors in its own transaction.
    """
    due = [row[0] for statement in (_UNOPENED, _OUTDATED) for row in _rows(statement, [BATCH])]
    moved = [
        _tried(lambda task_id=task_id: transitions.settle(sweep_caller(), task_id), task_id)  # type: ignore[misc]
        for task_id in due
    ]
    return sum(isinstance(left, Left) for left in moved)


def collect(shard: int | None = None) -> Collected:
    """Take away late evidence past its days, and bytes that no attempt has.

    Rows go first and bytes a round later, when every upload that might have met the row has
    ended. Bytes are looked for in one of ``SHARDS`` parts of the storage a round.
    """
    late = _changed(_FORGET_LATE, [BATCH])
    blobs = _changed(_FORGET_BLOBS, [ORPHAN_AGE, BATCH])
    part = shard if shard is not None else int(time.time() // 60) % SHARDS
    return Collected(late, blobs, sum(_drop(sha256) for sha256 in _orphans(f"{part:02x}")))


def _orphans(folder: str) -> list[str]:
    """Digests of bytes in one part of the storage, older than a day, that no row names."""
    storage = storages["evidence"]
    found: list[str] = []
    for inner in _listed(folder, folders=True):
        found += _listed(f"{folder}/{inner}", folders=False)
    wanted = {row[0] for row in _rows(_WANTED, [found])} if found else set()
    before = _clock() - ORPHAN_AGE
    return [
        sha256
        for sha256 in found
        if sha256 not in wanted and storage.get_modified_time(path_of(sha256)) < before
    ][:BATCH]


def _listed(folder: str, *, folders: bool) -> Iterable[str]:
    try:
        inner, files = storages["evidence"].listdir(folder)
    except FileNotFoundError:
        return []
    return inner if folders else [name for name in files if len(name) == 64]


def _drop(sha256: str) -> bool:
    """Delete bytes; put them back when an upload of the same bytes was under way meanwhile."""
    path = path_of(sha256)
    with tempfile.TemporaryFile() as copy:
        try:
            with evidence.open_bytes(sha256) as stream:
                shutil.copyfileobj(stream, copy)
        except FileNotFoundError:
            return False
        storages["evidence"].delete(path)
        if not _rows(_WANTED, [[sha256]]):
            return True
        size = copy.tell()
        copy.seek(0)
        evidence.keep(iter(lambda: copy.read(65_536), b""), sha256, size)
        return False


def _tried(call: Callable[[], Any], subject: object) -> Any:
    """What a call answers; one that fails is logged and must not keep the others waiting."""
    try:
        return call()
    except Exception as error:
        log.error("sweep_failed", subject=str(subject), error=type(error).__name__, exc_info=error)
        return None


def _rows(statement: LiteralString, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _changed(statement: LiteralString, values: list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def _clock() -> datetime:
    now: datetime = _rows("SELECT clock_timestamp()", [])[0][0]
    return now
