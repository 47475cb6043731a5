"""A reviewer's day: evidence read, verdicts given by key, a decision sent, a race lost without losing a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from claims import transitions
from claims.decide import Judgement
from claims.models import Decision, Delivery, Membership, Task
from claims.vocabulary import Right, State
from reviews.models import VerdictDraft
from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws
from tests.support import deliveries
from tests.unit.reviews.world import as_person, done


@dataclass
class Desk:
    """Deliveries made for one test, in the evidence folder of the running server."""

    site: Site

    def first(self, **attributes: Any) -> Delivery:
        """A first round that Ines decides; no excluded file in it."""
        return self.site.commit(lambda: self._first(**attributes))

    def _first(self, title: str = "Billing page: empty state", **attributes: Any) -> Delivery:
        task = deliveries.new_task(self.site.world.billing, title, reviewer="ines", **attributes)
        items = deliveries.usual_items(diff=deliveries.IN_SCOPE)
        return deliveries.deliver(task, self.site.world.agents["agent-7"], items=items)

    def second(self, delivery: Delivery) -> Delivery:
        """Ben steps in and sends the round back; the agent delivers the next, with other pictures."""

        def work() -> Delivery:
            judged = Judgement(delivery.subject_digest, {}, "The header still shows.", "Ines is away.")
            done(transitions.request_changes(as_person(self.site.world.ben), delivery.pk, judged))
            task = Task.objects.get(pk=delivery.task_id)
            items = deliveries.usual_items("Other words", deliveries.IN_SCOPE)
            return deliveries.deliver(
                task, self.site.world.agents["agent-7"], deliveries.next_fence(task), items
            )

        return self.site.commit(work)

    def state(self, delivery: Delivery) -> str:
        """The state of its task now."""
        return self.site.commit(lambda: Task.objects.get(pk=delivery.task_id).state)


@pytest.fixture
def desk(site: Site, settings: Any, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Bytes go where the running server looks for them."""
    var = max(tmp_path_factory.getbasetemp().glob("var*"), key=lambda folder: folder.stat().st_mtime)
    storage = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(var / "evidence")},
    }
    settings.STORAGES = {**settings.STORAGES, "evidence": storage}
    return Desk(site)


ADDRESSES: dict[str, Callable[[Delivery, Delivery], str]] = {
    "diff": lambda first, second: f"/reviews/{second.pk}",
    "shots": lambda first, second: f"/reviews/{second.pk}?tab=shots#shots",
    "commands": lambda first, second: f"/reviews/{second.pk}?tab=commands#commands",
    "talk": lambda first, second: f"/reviews/{second.pk}?tab=talk#talk",
    "sheet": lambda first, second: f"/reviews/{second.pk}/sheet/changes",
    "superseded": lambda first, second: f"/reviews/{first.pk}",
    "draft": lambda first, second: f"/reviews/{first.pk}/draft",
    "compare": lambda first, second: f"/reviews/{second.pk}/compare",
}


def test_every_view_is_accessible_fits_its_width_and_loads_little(
    site: Site, desk: Desk, open_page: Open
) -> None:
    first = desk.first()
    typed = {"person_id": site.world.ines.pk, "delivery_id": first.pk, "typed_at": first.delivered_at}
    site.commit(lambda: VerdictDraft.objects.create(criterion=2, verdict="NOT_MET", note="Line 1.", **typed))
    second = desk.second(first)
    page = open_page("/reviews", who=site.world.ines)
    for name, address in ADDRESSES.items():
        page.goto(address(first, second))
        assert flaws(page) == [], name


def test_nothing_scrolls_sideways_at_320_px(site: Site, desk: Desk, open_page: Open) -> None:
    page = open_page(f"/reviews/{desk.first().pk}", who=site.world.ines, width=320)

    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_header_fits_for_a_reviewer_of_one_pool_who_may_nothing_else(
    site: Site, desk: Desk, open_page: Open
) -> None:
    first = desk.first()

    def reviewer() -> User:
        person = User.objects.create_user(f"rosa-{first.pk}")
        Membership.objects.create(pool_id=first.pool_id, person=person, right=Right.REVIEWER)
        return person

    person = site.commit(reviewer)
    page = open_page(f"/reviews/{first.pk}", who=person, width=390)

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    site.commit(lambda: Membership.objects.filter(person=person).delete())


def test_a_review_by_keyboard_ends_in_a_commit(site: Site, desk: Desk, open_page: Open) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}", who=site.world.ines)
    for _ in range(4):
        page.keyboard.press("y")
    expect(page.locator("[data-judged]")).to_have_text("4 of 4 judged")
    expect(page.locator("[data-saved]")).to_contain_text("draft saved")
    page.keyboard.press("a")
    sheet = page.get_by_role("dialog", name="Accept round 1")
    expect(sheet).to_be_visible()
    expect(sheet).to_contain_text("All 4 criteria are met by your word.")
    assert desk.state(delivery) == State.DELIVERED
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Ines Halvorsen accepted round 1")).to_be_visible()
    assert desk.state(delivery) == State.DONE
    expect(page.get_by_role("link", name="Next in inbox").first).to_be_visible()


def test_a_letter_judges_at_once_and_z_takes_it_back(site: Site, desk: Desk, open_page: Open) -> None:
    page = open_page(f"/reviews/{desk.first().pk}", who=site.world.ines)
    page.keyboard.press("y")
    expect(page.locator("[data-post='1']")).to_have_attribute("data-v", "met")
    page.keyboard.press("n")
    expect(page.get_by_label("Why not met")).to_be_focused()
    page.keyboard.type("yes, really")
    expect(page.locator("[data-words]")).to_have_text("1 met, 1 not met")
    expect(page.locator("[data-why]")).to_have_text(
        "Accept needs all four met: 2 is not met, 3 and 4 are open."
    )
    page.get_by_role("heading", name="Criteria").click()
    page.keyboard.press("z")
    expect(page.locator("[data-post='2']")).to_have_attribute("data-v", "")


def test_a_reload_finds_every_word_again(site: Site, desk: Desk, open_page: Open) -> None:
    page = open_page(f"/reviews/{desk.first().pk}", who=site.world.ines)
    page.keyboard.press("y")
    page.keyboard.press("m")
    page.keyboard.type("A cold run is missing.")
    expect(page.locator("[data-saved]")).to_contain_text("draft saved")
    page.reload()
    expect(page.get_by_label("What is missing to tell")).to_have_value("A cold run is missing.")
    expect(page.locator("[data-judged]")).to_have_text("2 of 4 judged")


def test_what_was_not_sent_before_a_reload_is_counted_after_it(
    site: Site, desk: Desk, open_page: Open
) -> None:
    page = open_page(f"/reviews/{desk.first().pk}", who=site.world.ines)
    page.route("**/save", lambda route: route.fulfill(status=429))
    page.keyboard.press("y")
    page.keyboard.press("m")
    page.keyboard.type("A cold run is missing.")
    page.reload()
    expect(page.locator("[data-judged]")).to_have_text("2 of 4 judged")
    expect(page.get_by_label("What is missing to tell")).to_have_value("A cold run is missing.")


def test_changes_are_requested_with_a_comment_on_a_line(site: Site, desk: Desk, open_page: Open) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}", who=site.world.ines)
    page.locator("[data-path='app/views.py'] .ln a", has_text="12").last.click()
    page.keyboard.press("c")
    page.keyboard.type("Name it rows.")
    page.locator("[data-tab-link=diff]").click()
    page.get_by_role("button", name="Request changes").click()
    sheet = page.get_by_role("dialog", name="Request changes on round 1")
    expect(sheet).to_contain_text("Name it rows.")
    sheet.get_by_role("textbox").fill("Once more, please.")
    sheet.get_by_role("button", name="Request changes").click()
    expect(page.get_by_role("heading", name="Ines Halvorsen sent back round 1")).to_be_visible()
    decision = site.commit(lambda: Decision.objects.get(delivery_id=delivery.pk))
    assert decision.comments == [{"path": "app/views.py", "line": 12, "text": "Name it rows."}]
    assert decision.note == "Once more, please."


def test_a_missing_note_is_said_beside_its_field_and_takes_the_focus(
    site: Site, desk: Desk, open_page: Open
) -> None:
    page = open_page(f"/reviews/{desk.first().pk}", who=site.world.ines)
    page.keyboard.press("n")
    page.get_by_role("heading", name="Criteria").click()
    page.get_by_role("button", name="Request changes").click()
    expect(page.get_by_role("dialog", name="Request changes on round 1")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Say what is not met: the agent reads only this.")).to_have_count(1)
    expect(page.locator("#n1")).to_have_attribute("aria-invalid", "true")


def test_a_lost_race_keeps_every_word_and_moves_the_draft(site: Site, desk: Desk, open_page: Open) -> None:
    first = desk.first()
    page = open_page(f"/reviews/{first.pk}", who=site.world.ines)
    page.route("**/arrival*", lambda route: route.fulfill(status=404))
    page.locator("[data-crit='4'] [data-v=met]").click()
    page.locator("[data-crit='1'] [data-v=not]").click()
    page.locator("#n1").fill("It names the column but always says line 1.")
    page.get_by_role("button", name="Request changes").click()
    sheet = page.get_by_role("dialog", name="Request changes on round 1")
    sheet.get_by_role("textbox").fill("Two things before I accept.")
    second = desk.second(first)
    sheet.get_by_role("button", name="Request changes").click()

    heading = page.get_by_role("heading", name="Your decision was not recorded: round 1 is no longer current")
    expect(heading).to_be_focused()
    expect(page.locator("#n1")).to_have_value("It names the column but always says line 1.")
    expect(page.locator("#ov")).to_have_value("Two things before I accept.")
    page.get_by_role("button", name="Move my draft to round 2").click()
    page.wait_for_url(f"**/reviews/{second.pk}")
    expect(page.locator("#n1")).to_have_value("It names the column but always says line 1.")
    expect(page.locator("[data-post='4']")).to_have_attribute("data-v", "met")
    expect(page.locator("[data-post='1']")).to_have_attribute("data-v", "")


def test_a_round_that_is_superseded_while_it_is_read_locks_in_place(
    site: Site, desk: Desk, open_page: Open
) -> None:
    first = desk.first()
    page = open_page(f"/reviews/{first.pk}", who=site.world.ines)
    page.locator("[data-live-dot][data-state=live]").wait_for()
    page.keyboard.press("y")
    desk.second(first)
    expect(page.get_by_text("Round 2 arrived. You are reading round 1.")).to_be_visible()
    expect(page.locator("[data-crit='1'] input[value=met]")).to_be_disabled()
    expect(page.locator(".foot").get_by_role("link", name="Go to round 2")).to_be_visible()


def test_viewed_files_close_and_are_counted(site: Site, desk: Desk, open_page: Open) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}", who=site.world.ines)
    file = page.locator("[data-path='app/views.py']")
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        file.get_by_role("button", name="Viewed app/views.py").click()
    expect(page.locator("[data-viewed-count]")).to_have_text("1")
    page.reload()
    expect(page.locator("[data-viewed-count]")).to_have_text("1")
    file.locator("summary").click()
    expect(file.get_by_text("customer.invoices or []")).to_be_visible()


def test_a_fact_leads_into_the_evidence(site: Site, desk: Desk, open_page: Open) -> None:
    page = open_page(f"/reviews/{desk.first().pk}", who=site.world.ines)
    page.locator("[data-crit='4']").get_by_role("link", name="command 2 not run by this server").click()
    expect(page.locator("#cmd-2")).to_be_in_viewport()
    expect(page.locator("[data-tab-link=commands]")).to_have_attribute("aria-current", "true")
    page.keyboard.press("2")
    expect(page.locator("[data-width='1280'] img")).to_be_visible()
    assert (
        page.locator("[data-width='1280'] img").evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        == 1280
    )


def test_without_script_a_delivery_is_judged_and_accepted(site: Site, desk: Desk, open_page: Open) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}", who=site.world.ines, script=False, width=390)
    for number in range(1, 5):
        page.locator(f"[data-crit='{number}'] [data-v=met] input").check()
    page.get_by_role("button", name="Save my draft").click()
    expect(page.locator("[data-judged]")).to_have_text("4 of 4 judged")
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url("**/sheet/accept**")
    page.locator("#sheet-accept").get_by_role("button", name="Accept").click()
    expect(page.get_by_role("heading", name="Ines Halvorsen accepted round 1")).to_be_visible()
    assert desk.state(delivery) == State.DONE


def test_no_answer_gives_the_button_back_and_the_same_key_again(
    site: Site, desk: Desk, open_page: Open
) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}", who=site.world.ines)
    for _ in range(4):
        page.keyboard.press("y")
    keys: list[str] = []

    def lose_the_first(route: Any) -> None:
        keys.append(route.request.post_data)
        if len(keys) == 1:
            route.fulfill(status=503, body="")
        else:
            route.continue_()

    page.route("**/decide", lose_the_first)
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("dialog", name="Accept round 1")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-toast]")).to_contain_text("it will not happen twice")
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("dialog", name="Accept round 1")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Ines Halvorsen accepted round 1")).to_be_visible()
    assert len({part for body in keys for part in body.split("&") if part.startswith("key=")}) == 1
    open_page.errors.clear()  # type: ignore[attr-defined]  # the 503 was made by this test
