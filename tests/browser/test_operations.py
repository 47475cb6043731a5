"""An operator's day: a quiet claim found, its dossier read, released; a runner that came back is not released by mistake."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from claims.models import Lease, Task
from claims.vocabulary import State
from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws


def silent(site: Site, title: str = "Reports: monthly totals by plan", agent: str = "agent-9") -> Task:
    """A new quiet claim."""

    def work() -> Task:
        task = site.world.write(title)
        site.world.claim(task, agent)
        now = timezone.now()
        Lease.objects.filter(task_id=task.pk).update(
            expires_at=now - timedelta(minutes=4),
            renewals=9,
            renewed_at=now - timedelta(minutes=7),
            renewed_under="13.1.0",
        )
        return task

    return site.commit(work)


def state(site: Site, task: Task) -> tuple[str, int]:
    found: Any = site.commit(lambda: Task.objects.get(pk=task.pk))
    return found.state, found.claim_generation


def test_the_page_is_accessible_and_fits_its_width(site: Site, open_page: Open) -> None:
    page = open_page("/operations", who=site.world.noor)
    page.locator(".reassign summary").click()
    assert flaws(page) == []


@pytest.mark.parametrize("script", [True, False])
def test_a_quiet_claim_is_found_and_released(site: Site, open_page: Open, script: bool) -> None:
    task = silent(site, f"Reports: by plan, {script}")
    page = open_page("/operations", who=site.world.noor, script=script)
    page.get_by_role("link", name=f"Reports: by plan, {script}").first.click()
    dossier = page.locator("#dossier")
    expect(dossier).to_contain_text("agent-9 renewed 9 times")
    page.locator("#why").fill("worker-b lost power")
    dossier.get_by_role("button", name=f"Release {task}").click()
    expect(page.get_by_text("is answered FENCED from now on")).to_be_visible()
    assert state(site, task) == (State.OPEN, 2)


def test_a_page_without_a_quiet_claim_says_so_until_there_is_one(site: Site, open_page: Open) -> None:
    later = timezone.now() + timedelta(hours=1)
    site.commit(lambda: Lease.objects.filter(expires_at__lt=later).update(expires_at=later))
    page = open_page("/operations", who=site.world.noor)
    sentence = page.locator("#quiet-none")
    expect(sentence).to_contain_text("renewed in the last")
    task = silent(site, "Reports: by hour")
    site.commit(lambda: site.world.write("The next word about the pool"))
    expect(sentence).to_have_text("1 claim is quiet now. Show it")
    sentence.get_by_role("link").click()
    expect(page.locator("#dossier")).to_contain_text("Reports: by hour")
    expect(sentence).to_be_hidden()
    assert state(site, task) == (State.CLAIMED, 1)


def test_a_runner_that_renewed_meanwhile_is_named_and_released_only_on_insisting(
    site: Site, open_page: Open
) -> None:
    task = silent(site, "Reports: by month")
    page = open_page(f"/operations?task={task}", who=site.world.noor)
    page.locator("#why").fill("worker-b lost power")
    site.commit(
        lambda: Lease.objects.filter(task_id=task.pk).update(
            expires_at=timezone.now() + timedelta(minutes=5), renewed_at=timezone.now()
        )
    )
    page.get_by_role("button", name=f"Release {task}").click()
    expect(page.get_by_role("heading", name="agent-9 renewed")).to_be_focused()
    expect(page.locator("#why")).to_have_value("worker-b lost power")
    assert state(site, task) == (State.CLAIMED, 1)
    page.get_by_role("button", name=f"Release {task} anyway").click()
    expect(page.get_by_text("is answered FENCED from now on")).to_be_visible()
    assert state(site, task) == (State.OPEN, 2)


def test_a_claim_is_given_to_another_agent(site: Site, open_page: Open) -> None:
    task = silent(site, "Reports: by agent")
    page = open_page(f"/operations?task={task}", who=site.world.noor)
    page.locator("#why").fill("host gone")
    page.locator(".reassign summary").click()
    page.get_by_label("agent-7").check()
    page.locator("#dossier").get_by_role("button", name="Release and reassign").click()
    expect(page.get_by_text("is reassigned: generation 2")).to_be_visible()
    assert state(site, task) == (State.CLAIMED, 2)


def test_a_letter_leads_to_a_section_and_orders_nothing(site: Site, open_page: Open) -> None:
    silent(site, "Reports: by letter")
    page = open_page("/operations", who=site.world.noor)
    page.keyboard.press("d")
    page.wait_for_url("**#drain")
    expect(page.locator("#drain")).to_be_in_viewport()
