"""Renewing beside the work: it stops in time, whatever the server does or does not (scenario B10)."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from client import Grant, Lost, Problem, Stopped, Unreachable, Working
from client.working import MARGIN_SHARE


def a_grant(seconds: float) -> Grant:
    return Grant.parse(
        {
            "attemptId": "0192f0c1-2b3c-7d4e-8f50-61728394a5b6", "taskId": "t", "number": 1, "title": "x", "fence": {}, "inputDigest": "sha256:",
            "input": {}, "round": 1, "leaseSecondsRemaining": seconds,
        }
    )  # fmt: skip


class Server:
    """Answers renewals from a list of answers and errors; the last one is repeated."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), threading.Event()
        self.calls = 0

    def renew(
        self, grant: Grant, seconds: int, timeout_seconds: float | None = None, tries: int = 1
    ) -> dict[str, Any]:
        self.calls += 1
        self.asked.set()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)


def problem(status: int, code: str, kind: type[Problem] = Problem) -> Problem:
    return kind(status, {"code": code, "detail": "because", "retry": "never"})


def stopped_after(server: Server, seconds: float, patience: float = 10) -> tuple[float, str]:
    told = threading.Event()
    reasons: list[str] = []

    def stop(reason: str) -> None:
        reasons.append(reason)
        told.set()

    grant, started = a_grant(seconds), time.monotonic()
    with pytest.raises(Stopped), Working(server, grant, stop):
        assert told.wait(patience)
    return time.monotonic() - started, reasons[0]


def test_the_work_stops_before_the_lease_ends_when_the_server_is_silent() -> None:
    took, reason = stopped_after(Server(Unreachable("silence")), 2)
    assert took < 2 * (1 - MARGIN_SHARE) + 0.5
    assert "could not be renewed" in reason


def test_the_work_stops_at_once_when_the_claim_is_lost() -> None:
    took, reason = stopped_after(Server(problem(409, "FENCED", Lost)), 3)
    assert took < 2
    assert "FENCED" in reason


def test_a_busy_server_is_asked_again_within_the_lease() -> None:
    server = Server(problem(503, "BUSY"), {"leaseSecondsRemaining": 60, "nudged": True})
    with Working(server, a_grant(2)) as work:
        deadline = time.monotonic() + 5
        while work.seconds_left < 10 and time.monotonic() < deadline:
            server.asked.wait(0.1)
        assert work.seconds_left > 10
        assert work.nudged


def test_the_end_of_the_window_is_told_and_ends_the_work_with_the_lease() -> None:
    server = Server(problem(409, "WINDOW_EXCEEDED"))
    took, _ = stopped_after(server, 2)
    assert took < 2
    assert server.calls == 1


def test_a_delivered_claim_is_renewed_no_more_and_nothing_is_wrong_with_it() -> None:
    server = Server(problem(409, "ALREADY_DELIVERED"))
    with Working(server, a_grant(1.5)) as work:
        assert server.asked.wait(5)
    assert not work.is_stopped


def test_finished_work_is_not_told_to_stop() -> None:
    with Working(Server(Unreachable("silence")), a_grant(30)) as work:
        work.finish()
    assert not work.is_stopped


def test_checking_raises_without_a_thread_that_got_its_turn() -> None:
    work = Working(Server({"leaseSecondsRemaining": 60}), a_grant(0))
    with pytest.raises(Stopped):
        work.check()
