"""Renewals beside the work: a thread that keeps the lease and the run's heartbeat.

Promises: the work is told to stop as soon as an answer says that the fence is lost, that another
process runs the attempt, or when no renewal was answered until the lease's own end. The local
clock may only make it stop sooner; it never decides who may write.
"""

from __future__ import annotations

import threading
import time

import structlog
from django.db import DatabaseError, InterfaceError, connections

from agents import runs
from agents.models import AttemptRun
from claims import transitions
from claims.callers import Caller
from claims.fences import Fence
from claims.outcomes import Refused, Why

log = structlog.get_logger(__name__)

SHORTEST_SECONDS = 0.5
FENCE_LOST = frozenset(
    {Why.FENCED, Why.CANCELLED, Why.STALE_INPUT, Why.NOT_FOUND, Why.ALREADY_DELIVERED, Why.NOT_CLAIMED}
)


class Renewer:
    """Renews from ``start`` to ``stop``. ``lost`` says why the work must stop, empty while it may go on."""

    def __init__(self, caller: Caller, fence: Fence, ttl_seconds: int, run: AttemptRun) -> None:
        self.caller, self.fence, self.ttl_seconds, self.run = caller, fence, ttl_seconds, run
        self.lost = ""
        self.is_taken_over = self.is_fenced = False
        self._ending = threading.Event()
        self._until = time.monotonic() + ttl_seconds
        self._thread = threading.Thread(target=self._keep, name=f"renew-{fence.attempt_id}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread and its database connection."""
        self._ending.set()
        self._thread.join()

    def is_lost(self) -> bool:
        """Whether the work must stop."""
        return bool(self.lost)

    def _keep(self) -> None:
        pause = max(SHORTEST_SECONDS, min(self.ttl_seconds / 3, runs.HEARTBEAT_SECONDS))
        try:
            while not self._ending.wait(pause) and not self.lost:
                self._once()
        finally:
            connections.close_all()

    def _once(self) -> None:
        try:
            if not runs.beat(self.run):
                self.is_taken_over = True
                self.lost = "another worker runs this attempt"
                return
            self._renew()
        except (DatabaseError, InterfaceError) as error:
            log.warning("renewal_failed", attempt=str(self.fence.attempt_id), error=str(error))
            connections.close_all()
        if time.monotonic() > self._until:
            self.lost = "no renewal was answered until the lease ran out"

    def _renew(self) -> None:
        asked_at = time.monotonic()
        answer = transitions.renew(self.caller, self.fence, self.ttl_seconds)
        if isinstance(answer, Refused):
            if answer.why in FENCE_LOST:
                self.is_fenced = True
                self.lost = answer.sentence
            elif answer.why is Why.WINDOW_EXCEEDED:
                self._until = max(self._until, asked_at + 1)
            return
        self._until = asked_at + answer.lease_seconds_remaining
