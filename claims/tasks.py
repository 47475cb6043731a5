"""Celery shells of what the clock does: one call out, nothing else. All of them may run twice."""

from __future__ import annotations

import structlog
from celery import shared_task

from claims import sweeps

log = structlog.get_logger(__name__)

SWEEP_EVERY_SECONDS = 10.0
COLLECT_EVERY_SECONDS = 60.0
GRAPHS_EVERY_SECONDS = 60.0

SCHEDULE = {
    "claims.sweep": {
        "task": "claims.tasks.sweep",
        "schedule": SWEEP_EVERY_SECONDS,
        "options": {"queue": "upkeep", "expires": 30},
    },
    "claims.settle_graphs": {
        "task": "claims.tasks.settle_graphs",
        "schedule": GRAPHS_EVERY_SECONDS,
        "options": {"queue": "upkeep", "expires": 60},
    },
    "claims.collect": {
        "task": "claims.tasks.collect",
        "schedule": COLLECT_EVERY_SECONDS,
        "options": {"queue": "upkeep", "expires": 60},
    },
}


@shared_task(name="claims.tasks.sweep")
def sweep() -> None:
    """End what is due, expire keys."""
    swept = sweeps.sweep()
    if swept.lapsed or swept.held:
        log.info("swept", lapsed=swept.lapsed, held=swept.held, keys=swept.keys)


@shared_task(name="claims.tasks.settle_graphs")
def settle_graphs() -> None:
    """Repair what a commit left undone along the edges of a graph."""
    moved = sweeps.settle_graphs()
    if moved:
        log.warning("graphs_repaired", moved=moved)


@shared_task(name="claims.tasks.collect")
def collect() -> None:
    """Take away evidence that nothing names any more."""
    collected = sweeps.collect()
    if collected.late or collected.blobs or collected.files:
        log.info("evidence_collected", late=collected.late, blobs=collected.blobs, files=collected.files)
