"""An effect's day: asked for, approved, in doubt, settled; a pool's epoch and gate; a task revised and cancelled."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from claims.models import Pool, Task
from claims.vocabulary import Gate, State
from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws
from tests.support.effects import approvals, long_ago, state_of
from tests.unit.reviews.effects.conftest import CHARGE, MAIL, Prepared, in_doubt, prepared


def asked(site: Site, title: str) -> Prepared:
    """An effect that waits for a word."""
    found: Prepared = site.commit(lambda: prepared(site.world, mail_to(title), "agent-9", title))
    return found


def mail_to(title: str) -> dict[str, Any]:
    return MAIL | {"target": f"mailto:customers+{title.lower().replace(' ', '-')}@example.org"}


def doubtful(site: Site, title: str) -> Prepared:
    """An effect in doubt, whose settle time has passed."""

    def work() -> Prepared:
        one = prepared(site.world, CHARGE, "agent-9", title)
        in_doubt(site.world, one)
        long_ago(one.id, 300)
        return one

    found: Prepared = site.commit(work)
    return found


def test_the_pages_of_effects_are_accessible_and_fit_their_width(site: Site, open_page: Open) -> None:
    mail, charge = asked(site, "Mail to judge"), doubtful(site, "Charge to judge")
    for url, who in (
        (mail.url, site.world.ines),
        (charge.url, site.world.noor),
        ("/reviews", site.world.ines),
        (f"/tasks/{charge.task}/effects", site.world.ines),
        (f"/tasks/{charge.task}/claim", site.world.ines),
        (f"/tasks/{charge.task}/change", site.world.mira),
    ):
        assert flaws(open_page(url, who=who)) == [], url
    page = open_page("/operations", who=site.world.noor)
    for summary in page.locator("details.held > summary").all():
        summary.click()
    assert flaws(page) == []


@pytest.mark.parametrize("script", [True, False])
def test_an_effect_is_found_in_the_inbox_and_approved(site: Site, open_page: Open, script: bool) -> None:
    one = asked(site, f"Tell customers {script}")
    page = open_page("/reviews", who=site.world.ines, script=script)
    page.locator(f"#asked-{one.id} a").click()
    expect(page.get_by_text("It cannot be taken back.")).to_be_visible()
    page.get_by_role("button", name="Approve one permit").click()
    expect(page.get_by_text("Approved. One permit for mail")).to_be_visible()
    assert site.commit(lambda: approvals(one.id)) == ["GRANTED"]


@pytest.mark.parametrize("script", [True, False])
def test_a_doubt_is_settled_from_operations(site: Site, open_page: Open, script: bool) -> None:
    one = doubtful(site, f"Charge the plan {script}")
    page = open_page("/operations", who=site.world.noor, script=script)
    row = page.locator(f"#doubt-{one.id}")
    row.get_by_text(f"Settle charge of {one.task}").click()
    row.get_by_label("It did not happen").check()
    row.get_by_label("What you saw, and where").fill("no charge in the list of the bank")
    row.get_by_role("button", name="Settle charge").click()
    expect(page.get_by_text("is prepared again: it did not happen")).to_be_visible()
    assert site.commit(lambda: state_of(one.id)) == "PREPARED"


def test_an_effect_that_moved_while_it_was_read_keeps_what_was_typed(site: Site, open_page: Open) -> None:
    one = asked(site, "Moved meanwhile")
    page = open_page(one.url, who=site.world.ines)
    page.get_by_label("Note").fill("I checked the list of customers.")
    site.commit(lambda: site.world.run_out(one.task))
    site.commit(lambda: site.world.release_quiet(one.task))
    page.get_by_role("button", name="Approve one permit").click()
    expect(page.get_by_role("heading", name="Nothing was changed")).to_be_focused()
    assert site.commit(lambda: approvals(one.id)) == []


def test_the_gate_is_closed_and_opened(site: Site, open_page: Open) -> None:
    page = open_page("/operations", who=site.world.noor)
    for words, gate in (("Close the gate", Gate.DRAINING), ("Open the gate", Gate.OPEN)):
        page.get_by_text(f"{words} of billing").click()
        form = page.locator("#drain form")
        form.get_by_label("Reason").fill("the database moves")
        form.get_by_role("button", name=words).click()
        expect(page.locator(".note[role=status]")).to_contain_text("billing")
        assert site.commit(lambda: Pool.objects.get(name="billing").gate) == gate


def test_a_task_is_revised_then_cancelled_with_the_keyboard(site: Site, open_page: Open) -> None:
    task = site.commit(lambda: site.world.write("Reports by quarter"))
    page = open_page(f"/tasks/{task}", who=site.world.mira)
    page.locator("[data-needs-script][hidden]").first.wait_for(state="detached")
    page.keyboard.press("e")
    page.get_by_label("Title and input").fill("title: Reports by half-year\ntask: By half-year.\n")
    page.get_by_role("button", name="Write the next revision").click()
    expect(page.get_by_role("heading", name="Reports by half-year")).to_be_visible()
    page.get_by_role("link", name="Change T-").click()
    page.get_by_label("Reason").fill("not wanted any more")
    page.get_by_role("button", name="Cancel T-").click()
    expect(page.get_by_text("Nothing of it is accepted from now on")).to_be_visible()
    states = site.commit(
        lambda: list(
            Task.objects.filter(lineage_id=task.lineage_id)
            .order_by("revision")
            .values_list("state", flat=True)
        )
    )
    assert states == [State.SUPERSEDED, State.CANCELLED]
