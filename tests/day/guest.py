"""An agent of ours that works on through every kill, and remembers each answer that it was given.

It asks again with the same idempotency key whenever an answer did not come; so what it remembers is exactly
what Fencepost has acknowledged.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import httpx

from tests.day.running import Day

PATIENCE_SECONDS = 90.0
PAUSE_SECONDS = 0.2
POOL = "sandbox"


class Guest:
    """Creates a task, claims it, says what it does, and commits or delivers: again and again until told to stop."""

    def __init__(self, day: Day) -> None:
        self.preparer, self.agent = day.api("preparer"), day.api("guest-1")
        self.tasks: list[dict[str, Any]] = []
        self.attempts: list[dict[str, Any]] = []
        self.deliveries: list[dict[str, Any]] = []
        self.commits: list[dict[str, Any]] = []
        self.unanswered = 0
        self._stop_now, self._keys = threading.Event(), count(1)
        self._thread = ThreadPoolExecutor(1)
        self._working = self._thread.submit(self._work_on)

    def _work_on(self) -> None:
        for number in count(1):
            if self._stop_now.is_set():
                return
            self._work(number)

    def finish(self) -> dict[str, list[dict[str, Any]]]:
        """Let the piece of work at hand come to its end; everything that was acknowledged."""
        self._stop_now.set()
        self._working.result(PATIENCE_SECONDS * 2)
        self._thread.shutdown()
        told = (self.tasks, self.attempts, self.deliveries, self.commits)
        return dict(zip(("tasks", "attempts", "deliveries", "commits"), told, strict=True))

    def check(self) -> None:
        """Raise what went wrong, should anything have."""
        if self._working.done():
            self._working.result()

    @property
    def pieces(self) -> int:
        """How many tasks it has brought to a delivery or a commit."""
        return len(self.deliveries) + len(self.commits)

    def _work(self, number: int) -> None:
        policy = "NONE" if number % 2 else "REVIEW"
        asked = {
            "pool": POOL,
            "title": f"Count to {number}",
            "input": {"task": f"Count to {number}.", "acceptance": [{"text": "`n` is the number."}]},
            "reviewPolicy": policy,
            "ttlSeconds": 120,
        }
        self.tasks += self._tell(self.preparer, "/tasks", asked)["tasks"]
        epoch = self._ask(f"/pools/{POOL}")["schedulerEpoch"]
        for grant in self._tell(self.agent, f"/pools/{POOL}/claim-next", {"schedulerEpoch": epoch})["grants"]:
            self.attempts.append(grant["fence"])
            self._hand_in(grant, number, policy)

    def _hand_in(self, grant: Mapping[str, Any], number: int, policy: str) -> None:
        at, fence = f"/attempts/{grant['attemptId']}", grant["fence"]
        self._tell(self.agent, f"{at}/progress", {"fence": fence, "note": f"At {number}"})
        self._tell(self.agent, f"{at}/renew", {"fence": fence, "extendSeconds": 120})
        work = {"fence": fence, "inputDigest": grant["inputDigest"], "result": {"n": number}, "evidence": []}
        if policy == "NONE":
            self.commits.append(self._tell(self.agent, f"{at}/commit", work))
        else:
            self.deliveries.append(self._tell(self.agent, f"{at}/deliver", work))

    def _ask(self, path: str) -> dict[str, Any]:
        return self._insist(lambda: self.agent.get(path))

    def _tell(self, client: httpx.Client, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        key = {"Idempotency-Key": f"day-{next(self._keys)}"}
        return self._insist(lambda: client.post(path, json=body, headers=key))

    def _insist(self, call: Callable[[], httpx.Response]) -> dict[str, Any]:
        """The answer, however often it has to be asked for; a refusal is an error of the test."""
        for _ in range(int(PATIENCE_SECONDS / PAUSE_SECONDS)):
            try:
                answer = call()
            except httpx.TransportError:
                answer = httpx.Response(503)
            if answer.is_success:
                body: dict[str, Any] = answer.json()
                return body
            if answer.status_code < 500 and answer.json()["retry"] != "same_key":
                raise AssertionError(f"refused: {answer.status_code} {answer.text}")
            self.unanswered += 1
            threading.Event().wait(PAUSE_SECONDS)
        raise AssertionError(f"no answer within about {PATIENCE_SECONDS:.0f} s")
