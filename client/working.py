"""Renewing beside the work, and stopping it in time.

Promises: the work is told to stop at once when the claim is lost, and before the lease ends when
the server cannot be reached: a margin is kept, counted on the monotonic clock from before the
last renewal was asked for. Safety does not rest on this; fences are what keeps a late write out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from .grants import Grant
from .problems import Lost, Problem, Stopped, Unreachable

if TYPE_CHECKING:
    from typing import Self

RENEW_AT = 1 / 3
MARGIN_SHARE = 0.2
LONGEST_MARGIN_SECONDS = 15.0
SHORTEST_PAUSE_SECONDS = 0.2


class Renews(Protocol):
    """What ``Working`` needs of a client."""

    def renew(
        self, grant: Grant, seconds: int, timeout_seconds: float | None = None, tries: int = 1
    ) -> dict[str, Any]: ...


class Working:
    """``with client.working(grant) as work``: renews in a thread of its own until the block ends.

    ``check()`` raises ``Stopped`` once the work must end; leaving the block without an error
    raises it, too, so that nothing goes on as if the claim stood. ``nudged`` is true when an
    operator has asked for a sign of life; ``last_term`` when the claim's window ends and it will
    not be renewed again.
    """

    def __init__(self, client: Renews, grant: Grant, on_stop: Callable[[str], None] | None = None) -> None:
        self.grant = grant
        self.nudged = False
        self.last_term = False
        self.reason = ""
        self._client, self._on_stop = client, on_stop
        self._term = max(1, round(grant.lease_seconds))
        self._ends_at = grant.ends_at
        self._stopped, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"renew-{grant.attempt_id[:8]}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_finished = self._over.is_set()
        self._over.set()
        self._thread.join(timeout=15)
        if kind is None and not is_finished:
            self.check()

    def finish(self) -> None:
        """The claim was ended by a call of its own: renew no more, and complain of nothing."""
        self._over.set()

    @property
    def is_stopped(self) -> bool:
        """Whether the work must end."""
        return self._stopped.is_set()

    @property
    def seconds_left(self) -> float:
        """How long the work may go on if nothing more is heard of the server."""
        return max(0.0, self._ends_at - self._margin() - time.monotonic())

    def check(self) -> None:
        """Raise ``Stopped`` when the work must end. Call it before every step with an effect."""
        if self._stopped.is_set() or (self.seconds_left <= 0 and not self._over.is_set()):
            self._stop("The lease is about to end and could not be renewed.")
            raise Stopped(self.reason)

    def _run(self) -> None:
        pause = self._first_pause()
        while not self._over.wait(pause):
            if self.seconds_left <= 0:
                self._stop("The lease is about to end and could not be renewed.")
                return
            pause = (
                self._next_pause() if self.last_term or self._renewed() else min(1.0, self.seconds_left / 4)
            )
            if self._stopped.is_set():
                return
            pause = max(SHORTEST_PAUSE_SECONDS, pause)

    def _renewed(self) -> bool:
        """Try once to renew; whether that went through."""
        asked_at, patience = time.monotonic(), max(0.5, min(10.0, self.seconds_left / 2))
        try:
            answer = self._client.renew(self.grant, self._term, timeout_seconds=patience)
        except Unreachable:
            return False
        except Lost as lost:
            self._stop(str(lost))
            return False
        except Problem as problem:
            return self._refused(problem)
        self._ends_at = max(self._ends_at, asked_at + float(answer["leaseSecondsRemaining"]))
        self.nudged = self.nudged or bool(answer.get("nudged"))
        return True

    def _refused(self, problem: Problem) -> bool:
        if problem.code == "ALREADY_DELIVERED":
            self._over.set()
            return True
        if problem.code == "WINDOW_EXCEEDED":
            self.last_term = True
            return True
        if problem.status >= 500 or problem.code in ("RATE_LIMITED", "IN_PROGRESS"):
            return False
        self._stop(str(problem))
        return False

    def _stop(self, reason: str) -> None:
        if self._stopped.is_set() or self._over.is_set():
            return
        self.reason = reason
        self._stopped.set()
        if self._on_stop is not None:
            self._on_stop(reason)

    def _margin(self) -> float:
        return min(LONGEST_MARGIN_SECONDS, self._term * MARGIN_SHARE)

    def _first_pause(self) -> float:
        return max(0.0, min(self._term * RENEW_AT, self.seconds_left / 2))

    def _next_pause(self) -> float:
        return min(self._term * RENEW_AT, max(SHORTEST_PAUSE_SECONDS, self.seconds_left))
