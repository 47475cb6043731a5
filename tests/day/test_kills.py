"""kill -9 of one program after the other while agents work: what was acknowledged stays, and the work goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import cycle
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from agents.sowing import DEMO
from claims.taskfile import load_template
from config.up.supervisor import children_of
from tests.day.conftest import sign_in
from tests.day.guest import Guest
from tests.day.running import Day, one, tasks_of, wait_for
from tests.platform.test_up import SECOND_START_SECONDS, alive

BACK_SECONDS = 60.0
GOES_ON_SECONDS = 60.0
ALL_DONE_SECONDS = 150.0
SWEEPS_SECONDS = 30.0
VICTIMS = ("one process of web", "web", "one process of worker", "worker", "valkey", "postgres")


class Wishes:
    """Tasks for the demo's agents, written through the API as a preparer does."""

    def __init__(self, day: Day) -> None:
        self.api = day.api("preparer")
        self.reviewer = day.ready["users"]["reviewer"]["name"]
        self.made: list[dict[str, Any]] = []
        loaded = [load_template(path.read_text()).task for path in sorted((DEMO / "tasks").glob("*.yaml"))]
        self.kinds = cycle([task for task in loaded if task.input["access"] == ["python"]])

    def add(self, number: int) -> None:
        """So many more tasks of the pool `billing`."""
        body = [
            {"title": task.title, "input": task.input, "priority": 1, "reviewer": self.reviewer}
            for task, _ in zip(self.kinds, range(number), strict=False)
        ]
        key = {"Idempotency-Key": f"wish-{len(self.made)}"}
        answer = self.api.post("/tasks", json={"pool": "billing", "tasks": body}, headers=key)
        assert answer.is_success, answer.text
        self.made += answer.json()["tasks"]

    def states(self) -> dict[str, str]:
        """The state of each; empty while there is no answer."""
        try:
            seen = {task["taskId"]: task for task in tasks_of(self.api, pool="billing")}
        except (httpx.TransportError, AssertionError):
            return {}
        return {wish["taskId"]: seen[wish["taskId"]]["state"] for wish in self.made}


@pytest.fixture(scope="module")
def wishes(day: Day) -> Wishes:
    return Wishes(day)


@pytest.fixture(scope="module")
def guest(day: Day) -> Iterator[Guest]:
    working = Guest(day)
    yield working
    working.finish()


@pytest.fixture(scope="module")
def inbox(day: Day, chromium: Browser) -> Page:
    """The reviewer's inbox, left open while programs are killed."""
    page = sign_in(chromium, day, "reviewer")
    page.goto("/reviews")
    return page


def pid_of(day: Day, name: str) -> int:
    """The program's process, or one of its children, of `worker` one at work; all below the test's own command."""
    one_of, _, program = name.rpartition(" of ")
    pid = day.pid(program)

    def children() -> list[int]:
        found = children_of(pid)
        return [child for child in found if children_of(child)] if program == "worker" else found

    if one_of:
        pid = max(wait_for(children, GOES_ON_SECONDS, f"a process of {program}"))
    assert pid in day.below()
    return pid


@pytest.mark.browser
def test_an_open_page_is_live_before_the_kills(inbox: Page) -> None:
    expect(inbox.locator("[data-live-dot]")).to_have_attribute("data-state", "live")


@pytest.mark.parametrize("name", VICTIMS)
def test_a_kill_is_survived(day: Day, guest: Guest, wishes: Wishes, name: str) -> None:
    wishes.add(2)
    wait_for(lambda: "CLAIMED" in wishes.states().values(), GOES_ON_SECONDS, "an agent at work")
    pieces, killed, whole = guest.pieces, pid_of(day, name), " of " not in name

    os.kill(killed, signal.SIGKILL)

    if whole:
        assert "SIGKILL" in day.wait_for(f"{name} was ended by", BACK_SECONDS)
    wait_for(lambda: not alive({killed}) and day.answers(), BACK_SECONDS, f"ready after {name}")
    if whole:
        wait_for(lambda: day.pid(name) != killed, BACK_SECONDS, f"{name} again")
    wait_for(lambda: guest.check() or guest.pieces > pieces + 1, GOES_ON_SECONDS, "the guest's work")


def test_the_demo_goes_on_and_every_task_is_delivered(day: Day, guest: Guest, wishes: Wishes) -> None:
    wishes.add(1)

    def all_delivered() -> bool:
        states = wishes.states()
        assert not {"HELD", "CANCELLED"} & set(states.values())
        return bool(states) and set(states.values()) == {"DELIVERED"}

    wait_for(all_delivered, ALL_DONE_SECONDS, "every task delivered")
    newest = one(wishes.api, f"/tasks/{wishes.made[-1]['taskId']}")
    assert newest["attemptsUsed"] == 1


@pytest.mark.browser
def test_the_page_that_was_open_through_the_kills_hears_of_new_work(inbox: Page, wishes: Wishes) -> None:
    live = inbox.locator("[data-live-dot]")
    expect(live).to_have_attribute("data-state", "live", timeout=GOES_ON_SECONDS * 1000)
    told = inbox.locator("[data-live-count]").inner_text()

    wishes.add(1)

    expect(inbox.locator("[data-live-bar]")).to_be_visible(timeout=GOES_ON_SECONDS * 1000)
    expect(inbox.locator("[data-live-count]")).not_to_have_text(told, timeout=GOES_ON_SECONDS * 1000)
    expect(live).to_have_attribute("data-state", "live")


def test_nothing_acknowledged_is_lost_and_nothing_is_stuck(day: Day, guest: Guest) -> None:
    told = guest.finish()
    assert guest.unanswered > 0
    assert min(len(told[name]) for name in ("tasks", "attempts", "deliveries", "commits")) >= len(VICTIMS)

    def settled() -> dict[str, Any] | None:
        report = day.audit(told)
        return report if not report["stuck"] and not report["quiet"] else None

    report = wait_for(settled, SWEEPS_SECONDS, "nothing stuck or quiet")
    assert report == {"missing": [], "broken": {}, "stuck": [], "quiet": []}
    stranger = {"taskId": str(uuid4())}
    assert day.audit({**told, "tasks": [stranger]})["missing"] == [f"task {stranger['taskId']}"]


def test_sigterm_leaves_no_process(day: Day) -> None:
    everyone = day.below()
    assert len(everyone) > 10

    day.end()

    assert day.process.returncode == 0
    assert alive(everyone) == set()


def test_a_second_start_is_quick_and_knows_everybody(day: Day) -> None:
    day.end()

    second = Day(day.data)
    try:
        assert second.start_seconds < SECOND_START_SECONDS
        assert (second.ready["users"], second.ready["tokens"]) == (day.ready["users"], day.ready["tokens"])
        states = {task["state"] for task in tasks_of(second.api("preparer"))}
        assert {"DONE", "DELIVERED"} <= states
    finally:
        second.end()
