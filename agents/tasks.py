"""Celery shells of the agents: ids in, one call out.

The clock's message goes to `upkeep`, which asks one worker of `attempts` to look for work: so
nothing is claimed while no such worker lives, and messages do not heap up while they are busy.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from celery import shared_task
from django.conf import settings
from django.core.cache import cache

from agents import dispatching, running, runs, workspaces
from claims.selectors.running import work_order

log = structlog.get_logger(__name__)

TICK_SECONDS = 2.0
ASKED = "dispatch-asked"
ASKED_SECONDS = 20

SCHEDULE = {
    "agents.tick": {
        "task": "agents.tasks.tick",
        "schedule": TICK_SECONDS,
        "options": {"queue": "upkeep", "expires": 10},
    },
    "agents.collect": {
        "task": "agents.tasks.collect",
        "schedule": 60.0,
        "options": {"queue": "attempts", "expires": 60},
    },
}


@shared_task(name="agents.tasks.tick")
def tick() -> None:
    """Ask a worker to look for work, unless one has been asked and has not answered yet."""
    if cache.get(ASKED):
        return
    cache.set(ASKED, 1, ASKED_SECONDS)
    dispatch.apply_async(queue="attempts", expires=ASKED_SECONDS)


@shared_task(name="agents.tasks.dispatch")
def dispatch() -> None:
    """Claim what there is room for, and send each attempt that nobody runs to a worker."""
    cache.delete(ASKED)
    for attempt_id in dispatching.dispatch():
        run_attempt.apply_async(args=(str(attempt_id),), queue="attempts")


@shared_task(name="agents.tasks.run_attempt", time_limit=settings.FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS)
def run_attempt(attempt_id: str) -> None:
    """Run one attempt; a second delivery of the message finds it taken."""
    running.run(UUID(attempt_id))


@shared_task(name="agents.tasks.collect")
def collect() -> None:
    """End runs of attempts that lost their task, and delete workspaces that no run needs any more."""
    runs.end_forgotten(lambda attempt_id: work_order(attempt_id) is not None)
    alive = {workspaces.name_of(attempt_id, starts) for attempt_id, starts in runs.alive()}
    dead = workspaces.discard_dead(alive)
    if dead:
        log.info("workspaces_discarded", number=len(dead))
