"""A first day with the demo: what waits without a hand being moved, a round sent back, a quiet claim given away."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from agents.sowing import DEMO, OWNERS, PEOPLE, SLEEPERS_TASK
from tests.day.conftest import sign_in
from tests.day.running import Day, one, tasks_of, wait_for

UNTOUCHED_SECONDS = 180.0
WORK_SECONDS = 150.0
NEEDS_BROWSER = "keyboard.py"


@pytest.fixture(scope="module")
def api(day: Day) -> httpx.Client:
    return day.api("preparer")


@pytest.fixture(scope="module")
def waiting(day: Day, api: httpx.Client) -> list[dict[str, Any]]:
    """Deliveries that wait, once there are five of them; no hand was moved."""
    since_ready = time.time() - day.ready_file.stat().st_mtime

    def five() -> list[dict[str, Any]] | None:
        tasks = tasks_of(api, pool="billing", state="DELIVERED")
        return tasks if len(tasks) >= 5 else None

    tasks = wait_for(five, UNTOUCHED_SECONDS - since_ready, "five deliveries")
    return [one(api, f"/deliveries/{task['deliveryId']}") for task in tasks]


def item(delivery: dict[str, Any], kind: str) -> dict[str, Any]:
    """The first item of a kind."""
    found: dict[str, Any] = next(each for each in delivery["evidence"] if each["kind"] == kind)
    return found


def bytes_of(api: httpx.Client, delivery: dict[str, Any], of: dict[str, Any]) -> bytes:
    """The bytes of an item, which are the ones its digest names."""
    answer = api.get(f"/deliveries/{delivery['deliveryId']}/files/{of['sha256']}")
    assert answer.is_success, answer.text
    assert hashlib.sha256(answer.content).hexdigest() == of["sha256"]
    assert len(answer.content) == of["size"]
    return answer.content


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def changed_copy(day: Day, delivery: dict[str, Any], diff: bytes, folder: Path) -> Path:
    """A clone of the demo's repository at the base of the delivery, with its diff applied."""
    copy = folder / delivery["deliveryId"]
    clone = ["git", "clone", "--quiet", str(day.data / "repositories" / "billing"), str(copy)]
    assert run(clone, folder).returncode == 0
    base = item(delivery, "diff")["meta"]["base"]
    assert run(["git", "checkout", "--quiet", "--detach", base], copy).returncode == 0
    patch = folder / f"{delivery['deliveryId']}.diff"
    patch.write_bytes(diff)
    checked = run(["git", "apply", "--check", str(patch)], copy)
    assert checked.returncode == 0, checked.stderr
    assert run(["git", "apply", str(patch)], copy).returncode == 0
    return copy


def without_times(output: str) -> str:
    """Output of a command with the seconds it took left out."""
    return re.sub(r"\bin \d+\.\d+s\b", "in some time", output)


def test_the_ready_file_names_address_people_and_tokens(day: Day) -> None:
    ready = day.ready

    assert ready["apiUrl"] == f"{ready['url']}/api/v1"
    assert set(ready["users"]) == set(PEOPLE)
    assert all(set(person) == {"name", "password"} for person in ready["users"].values())
    assert set(ready["tokens"]) == {*OWNERS, "preparer"}
    assert day.ready_file.stat().st_mode & 0o777 == 0o600


def test_untouched_five_deliveries_and_a_quiet_claim_wait_within_three_minutes(
    day: Day, waiting: list[dict[str, Any]]
) -> None:
    inbox = day.pages("reviewer").get("/reviews").text
    in_inbox = set(re.findall(r'id="delivery-([0-9a-f-]{36})"', inbox))
    assert len(in_inbox) >= 5
    assert {delivery["deliveryId"] for delivery in waiting[:5]} & in_inbox

    operator = day.pages("operator")
    quiet = wait_for(
        lambda: re.findall(r'id="quiet-([0-9a-f-]{36})"', operator.get("/operations").text),
        max(1.0, UNTOUCHED_SECONDS - (time.time() - day.ready_file.stat().st_mtime)),
        "a quiet claim",
    )
    assert len(quiet) == 1


def test_diffs_apply_and_commands_say_the_same_when_run_again(
    day: Day, api: httpx.Client, waiting: list[dict[str, Any]], tmp_path: Path
) -> None:
    for delivery in waiting:
        copy = changed_copy(day, delivery, bytes_of(api, delivery, item(delivery, "diff")), tmp_path)
        commands = [each for each in delivery["evidence"] if each["kind"] == "command"]
        by_worker = [each for each in commands if each["meta"].get("ranBy") == "worker"]
        assert by_worker, delivery["title"]
        for command in commands:
            words = shlex.split(command["meta"]["command"])
            if command not in by_worker:
                words[1] = str(DEMO / "workers" / words[1])
            if NEEDS_BROWSER in words[1]:
                continue
            again = run(words, copy)
            told = bytes_of(api, delivery, command).decode()
            assert without_times(again.stdout) == without_times(told), (delivery["title"], command["name"])
            assert again.returncode == command["meta"]["exitCode"]
        assert delivery["facts"]["tests"]["executed"] >= delivery["facts"]["tests"]["passed"] > 0


@pytest.mark.browser
def test_each_screenshot_is_as_wide_as_it_says(day: Day, api: httpx.Client) -> None:
    def photographed() -> list[dict[str, Any]] | None:
        tasks = [task for task in tasks_of(api, pool="billing", label="browser") if task["deliveryId"]]
        return tasks if len(tasks) == 3 else None

    seen = []
    for task in wait_for(photographed, WORK_SECONDS, "three tasks with screenshots"):
        delivery = one(api, f"/deliveries/{task['deliveryId']}")
        for shot in (each for each in delivery["evidence"] if each["kind"] == "screenshot"):
            png = bytes_of(api, delivery, shot)
            assert png.startswith(b"\x89PNG\r\n\x1a\n")
            assert int.from_bytes(png[16:20], "big") == shot["meta"]["width"]
            assert shot["name"].endswith(f"-{shot['meta']['width']}")
            seen.append(shot["meta"]["width"])
    assert {390, 1280} <= set(seen)


@pytest.mark.browser
def test_a_round_is_sent_back_answered_and_accepted(day: Day, api: httpx.Client, chromium: Browser) -> None:
    def careless() -> dict[str, Any] | None:
        tasks = tasks_of(api, pool="billing", state="DELIVERED")
        return next((task for task in tasks if task["runner"] == "careless"), None)

    task = wait_for(careless, WORK_SECONDS, "a delivery of the careless agent")
    first = one(api, f"/deliveries/{task['deliveryId']}")
    note = "I do not see this one anywhere."
    page = sign_in(chromium, day, "reviewer")
    page.goto(f"/reviews/{first['deliveryId']}")
    send_back(page, note)

    def answered() -> dict[str, Any] | None:
        now = one(api, f"/tasks/{task['taskId']}")
        return now if now["state"] == "DELIVERED" and now["rounds"] == 2 else None

    second = one(api, f"/deliveries/{wait_for(answered, WORK_SECONDS, 'the second round')['deliveryId']}")
    assert second["agent"] == first["agent"]
    assert second["claimGeneration"] == first["claimGeneration"] + 1
    assert f"“{note}” → " in second["summary"]
    assert item(second, "diff")["sha256"] != item(first, "diff")["sha256"]

    page.goto(f"/reviews/{second['deliveryId']}")
    expect(page.get_by_text(note).first).to_be_attached()
    accept(page, 2)
    check_commit(day, api, page, second)


def judge(page: Page, last: str) -> int:
    """Every criterion met, and the last one as told; how many there are."""
    numbers = page.locator("[data-crit]").count()
    for number in range(1, numbers + 1):
        verdict = page.locator(f"[data-crit='{number}'] [data-v={last if number == numbers else 'met'}]")
        verdict.click()
        expect(verdict.get_by_role("radio")).to_be_checked()
    expect(page.locator("[data-judged]")).to_have_text(f"{numbers} of {numbers} judged")
    return numbers


def send_back(page: Page, note: str) -> None:
    """Every criterion met but the last; then request changes."""
    page.locator(f"#n{judge(page, 'not')}").fill(note)
    page.get_by_role("button", name="Request changes").click()
    sheet = page.get_by_role("dialog", name="Request changes on round 1")
    expect(sheet).to_contain_text(note)
    sheet.get_by_role("button", name="Request changes").click()
    expect(page.get_by_role("heading", name="Ines Halvorsen sent back round 1")).to_be_visible()


def accept(page: Page, round_number: int) -> None:
    """Every criterion met, and accepted."""
    judge(page, "met")
    page.get_by_role("button", name="Accept").click()
    sheet = page.get_by_role("dialog", name=f"Accept round {round_number}")
    sheet.get_by_role("button", name="Accept").click()
    heading = f"Ines Halvorsen accepted round {round_number}"
    expect(page.get_by_role("heading", name=heading)).to_be_visible()


def check_commit(day: Day, api: httpx.Client, page: Page, delivery: dict[str, Any]) -> None:
    """Page and API name attempt, generation, epoch, digests and reviewer of the canonical commit."""
    task = one(api, f"/tasks/{delivery['taskId']}")
    decided = one(api, f"/deliveries/{delivery['deliveryId']}")
    reviewer = day.ready["users"]["reviewer"]["name"]
    assert (task["state"], task["committedAttempt"]) == ("DONE", delivery["attemptId"])
    assert (task["resultDigest"], task["inputDigest"]) == (delivery["resultDigest"], delivery["inputDigest"])
    assert task["resultCommitId"] is not None
    assert (decided["decision"]["decision"], decided["decision"]["reviewer"]) == ("ACCEPTED", reviewer)
    last = one(api, f"/tasks/{delivery['taskId']}/history")["history"][-1]
    assert (last["to"], last["actorKind"], last["attemptId"]) == ("DONE", "PERSON", delivery["attemptId"])
    assert last["actor"] == reviewer

    generation, epoch = delivery["claimGeneration"], delivery["schedulerEpoch"]
    page.goto(f"/tasks/T-{delivery['number']}")
    about = page.get_by_role("complementary", name="About this task")
    expect(about).to_contain_text(f"gen {generation}, epoch {epoch}, accepted by Ines Halvorsen")
    expect(about).to_contain_text(delivery["resultDigest"])
    expect(about).to_contain_text(delivery["inputDigest"])
    page.goto(f"/tasks/T-{delivery['number']}/claim")
    expect(page.locator(f"#attempt-{generation}")).to_contain_text(delivery["agent"])


@pytest.mark.browser
def test_a_quiet_claim_is_released_finished_by_another_and_its_late_delivery_is_fenced(
    day: Day, api: httpx.Client, chromium: Browser
) -> None:
    task = next(each for each in tasks_of(api, pool="billing") if each["nodeId"] == SLEEPERS_TASK)
    assert (task["state"], task["runner"]) == ("CLAIMED", "sleeper")
    page = sign_in(chromium, day, "operator")
    page.goto(f"/operations?task=T-{task['number']}")
    page.locator("#why").fill("It has said nothing for a while.")
    page.get_by_role("button", name=f"Release T-{task['number']}", exact=True).click()
    expect(page.get_by_text("is answered FENCED from now on")).to_be_visible()

    def finished() -> dict[str, Any] | None:
        now = one(api, f"/tasks/{task['taskId']}")
        return now if now["state"] == "DELIVERED" else None

    by_another = one(api, f"/deliveries/{wait_for(finished, WORK_SECONDS, 'another delivery')['deliveryId']}")
    assert by_another["agent"] in ("careful", "careless")
    assert by_another["claimGeneration"] > task["claimGeneration"]

    def fenced() -> list[dict[str, Any]]:
        refusals: list[dict[str, Any]] = one(api, f"/tasks/{task['taskId']}/refusals")["refusals"]
        return [each for each in refusals if (each["verb"], each["actor"]) == ("deliver", "sleeper")]

    (late,) = wait_for(fenced, WORK_SECONDS, "the late delivery")
    assert (late["code"], late["attemptId"]) == ("FENCED", task["attemptId"])
    reviewer = sign_in(chromium, day, "reviewer")
    reviewer.goto(f"/tasks/T-{task['number']}/timeline")
    lost = reviewer.locator(".fenced")
    expect(lost).to_contain_text("sleeper")
    expect(lost).to_contain_text("Fenced")
    expect(lost).to_contain_text("Changed")
    reviewer.goto(f"/reviews/{by_another['deliveryId']}")
    accept(reviewer, 1)
    check_commit(day, api, reviewer, by_another)


def test_nothing_in_the_logs_tells_of_an_error(day: Day) -> None:
    assert day.complaints() == []
