"""The record of a task and its rival attempts in Chromium: at every width and theme, and without script."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from claims import evidence, transitions
from claims.models import Task
from claims.transitions import StagedResult
from client.records import parsed
from client.verifying import verify
from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws
from tests.browser.test_decision import Desk, desk
from tests.support import deliveries
from tests.unit.reviews.world import as_agent, done

__all__ = ["desk"]

TITLE = "Billing page: one empty state"
OTHER = deliveries.DIFF.replace(
    b"No invoices yet.", b"Nothing to pay, and nothing was paid in the last twelve months."
)


def stage_late(site: Site, task: Task, fence: Any) -> None:
    """The runner that lost its claim comes back with a diff, a log and words of its own."""
    caller = as_agent(site.world.agents["agent-3"])
    pairs = [
        deliveries.item("diff", "diff", OTHER, (1, 2)),
        deliveries.item("a-log-with-a-name-that-does-not-end-soon-" + "x" * 60, "log", b"1\n2\n", (1,)),
    ]
    label = "Nothing to pay"
    pairs += [
        deliveries.item(
            f"billing-empty-{width}",
            "screenshot",
            deliveries.picture(width, label=label),
            (1,),
            page="/",
            width=width,
        )
        for width in (390, 1280)
    ]
    for item, content in pairs:
        evidence.keep([content], item.sha256, len(content))
        done(transitions.add_file(caller, fence, item.sha256, item.size, item.media_type))
    done(transitions.stage(caller, fence, StagedResult({"late": True}, [item for item, _ in pairs])))


@pytest.fixture
def rivals(site: Site, desk: Desk) -> Task:
    """A round that waits, one that was sent back, and a late attempt of another agent."""

    def work() -> Task:
        world = site.world
        task = deliveries.new_task(world.billing, TITLE, reviewer="ines")
        lost = world.claim(task, "agent-3")
        told = {"seconds": 940, "tokens": 41_200, "money": {"amount": "0.38", "currency": "EUR"}}
        done(
            transitions.progress(
                as_agent(world.agents["agent-3"]), lost, "half done; the tests are slow", told
            )
        )
        world.run_out(task)
        world.release_quiet(task)
        first = deliveries.deliver(
            task, world.agents["agent-7"], items=deliveries.usual_items(diff=deliveries.IN_SCOPE)
        )
        stage_late(site, task, lost)
        world.send_back(first, world.ines)
        deliveries.deliver(task, world.agents["agent-7"], deliveries.next_fence(task))
        return Task.objects.get(pk=task.pk)

    return site.commit(work)


@pytest.fixture
def finished(site: Site, desk: Desk) -> Task:
    """A task whose second round was accepted."""

    def work() -> Task:
        task = deliveries.new_task(site.world.billing, TITLE, reviewer="ines")
        items = deliveries.usual_items(diff=deliveries.IN_SCOPE)
        first = deliveries.deliver(task, site.world.agents["agent-7"], items=items)
        site.world.send_back(first, site.world.ines)
        second = deliveries.deliver(task, site.world.agents["agent-7"], deliveries.next_fence(task), items)
        site.world.accept(second, site.world.ines)
        return Task.objects.get(pk=task.pk)

    return site.commit(work)


def test_records_and_attempts_have_no_flaw_at_any_width_or_theme(
    site: Site, rivals: Task, finished: Task, open_page: Open
) -> None:
    page = open_page(f"/tasks/{finished}/record", who=site.world.ines)
    for address in (
        f"/tasks/{finished}/record", f"/tasks/{rivals}/record", f"/tasks/{rivals}/attempts", f"/tasks/{finished}/attempts",
    ):  # fmt: skip
        page.goto(address)
        assert flaws(page) == [], address


def test_a_record_is_downloaded_and_verified_with_its_evidence(
    site: Site, finished: Task, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(f"/tasks/{finished}/record", who=site.world.ines, script=False)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download the record").click()
    file = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(file)
    folder = tmp_path / "evidence"
    folder.mkdir()
    for _, content in deliveries.usual_items(diff=deliveries.IN_SCOPE):
        (folder / hashlib.sha256(content).hexdigest()).write_bytes(content)

    statement = parsed(file.read_bytes())

    verify(statement, folder)
    assert file.name == f"{finished}.record.json"
    assert json.loads(file.read_bytes())["predicate"]["task"]["title"] == TITLE


def test_without_script_an_operator_adopts_a_late_attempt(site: Site, rivals: Task, open_page: Open) -> None:
    page = open_page(f"/tasks/{rivals}/attempts?a=1&b=4", who=site.world.ines, width=390, script=False)
    expect(page.locator("#diff")).to_contain_text("Nothing to pay")
    page.get_by_role("radio", name="agent-3").first.check()
    page.get_by_role("radio", name="agent-9").check()
    page.get_by_label("Reason").fill("its wording is the one that was asked for")
    page.get_by_role("button", name=f"Adopt evidence for {rivals}").click()
    page.wait_for_url("**/timeline")
    expect(page.get_by_text("it must be delivered again").first).to_be_visible()


def test_a_reviewer_finds_whom_to_ask(site: Site, rivals: Task, open_page: Open) -> None:
    page = open_page(f"/tasks/{rivals}/attempts", who=site.world.ben)
    expect(page.get_by_text("ask an operator: Ines Halvorsen, Noor Haddad.")).to_be_visible()
    expect(page.get_by_role("button", name="Adopt")).to_have_count(0)
