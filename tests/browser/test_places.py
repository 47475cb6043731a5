"""Comments on a line of an output and on a point of a picture: by pointer, by key, and in the plain form."""

from __future__ import annotations

from playwright.sync_api import expect

from claims.models import Decision
from reviews.models import CommentDraft
from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws
from tests.browser.test_decision import Desk, desk

__all__ = ["desk"]

SHOT = "billing-empty-390"


def test_a_point_of_a_picture_is_pinned_by_pointer(site: Site, desk: Desk, open_page: Open) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}", who=site.world.ines)
    page.locator("[data-tab-link=shots]").click()
    figure = page.locator(f"[data-shot='{SHOT}']")
    figure.get_by_role("link", name="Comment on a point").click()
    page.locator(f"[data-shot='{SHOT}'][data-pinning]").wait_for()
    box = figure.locator(".now img").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
    expect(page.locator("#say-it")).to_be_focused()
    assert abs(int(page.locator("#say-x").input_value()) - 500) <= 3
    assert abs(int(page.locator("#say-y").input_value()) - 250) <= 3
    page.keyboard.type("Too close.")
    page.get_by_role("button", name="Add comment").click()
    expect(page.locator("[data-said] textarea")).to_have_value("Too close.")
    page.locator("[data-note-at]").click()
    expect(figure.locator(".pins text")).to_have_text("1")
    pin, image = figure.locator(".pins circle").bounding_box(), figure.locator(".now img").bounding_box()
    assert pin is not None
    assert image is not None
    assert abs(pin["x"] + pin["width"] / 2 - image["x"] - image["width"] / 2) < 4
    assert abs(pin["y"] + pin["height"] / 2 - image["y"] - image["height"] / 4) < 4
    assert flaws(page, themes=("light",)) == []


def test_a_line_of_an_output_is_chosen_by_its_number_and_h_leads_back_to_it(
    site: Site, desk: Desk, open_page: Open
) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}?tab=commands", who=site.world.ines)
    page.locator("#o1-3 a").click()
    page.keyboard.press("c")
    expect(page.locator("#say-place")).to_have_value("command tests")
    expect(page.locator("#say-line")).to_have_value("3")
    expect(page.locator("#say-x")).to_be_hidden()
    page.keyboard.type("Why is it skipped?")
    page.get_by_role("button", name="Add comment").click()
    expect(page.locator("[data-note-at]")).to_have_text("output of tests, line 3")
    page.get_by_role("heading", name="Criteria").click()
    page.keyboard.press("h")
    expect(page.locator("#o1-3")).to_be_in_viewport()
    page.get_by_role("button", name="Request changes").click()
    sheet = page.get_by_role("dialog", name="Request changes on round 1")
    expect(sheet).to_contain_text("output of tests, line 3: Why is it skipped?")
    sheet.get_by_role("textbox").fill("Once more.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Ines Halvorsen sent back round 1")).to_be_visible()
    sent = site.commit(lambda: Decision.objects.get(delivery_id=delivery.pk).comments)
    assert sent == [{"command": "tests", "stream": "output", "line": 3, "text": "Why is it skipped?"}]


def test_a_draft_is_edited_where_it_stands_and_kept(site: Site, desk: Desk, open_page: Open) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}?tab=talk", who=site.world.ines)
    page.locator("#say-it").fill("Name it.")
    page.get_by_role("button", name="Add comment").click()
    with page.expect_response(lambda answer: answer.url.endswith("/save")):
        page.locator("[data-said] textarea").fill("Name it rows.")
    page.reload()
    page.locator("form[data-draft][data-scripted]").wait_for()
    expect(page.locator("[data-said] textarea")).to_have_value("Name it rows.")
    page.get_by_role("button", name="Remove this comment").click()
    expect(page.locator("[data-said]")).to_have_count(0)


def test_without_script_two_fields_name_the_point(site: Site, desk: Desk, open_page: Open) -> None:
    delivery = desk.first()
    page = open_page(f"/reviews/{delivery.pk}?tab=shots", who=site.world.ines, script=False, width=390)
    page.locator(f"[data-shot='{SHOT}']").get_by_role("link", name="Comment on a point").click()
    page.locator("#say-it").fill("Too close.")
    page.locator("#say-x").fill("512")
    page.locator("#say-y").fill("233")
    page.get_by_role("button", name="Add comment").click()
    row = site.commit(lambda: CommentDraft.objects.get(delivery_id=delivery.pk))
    assert (row.kind, row.path, row.x, row.y, row.text) == ("screenshot", SHOT, 512, 233, "Too close.")
    expect(page.get_by_role("link", name=f"{SHOT} at 51.2% across, 23.3% down")).to_be_visible()


def test_i_opens_the_rounds(site: Site, desk: Desk, open_page: Open) -> None:
    second = desk.second(desk.first())
    page = open_page(f"/reviews/{second.pk}", who=site.world.ines)
    page.keyboard.press("i")
    picker = page.get_by_role("dialog", name="Rounds of")
    expect(picker).to_contain_text("sent back by Ben Okafor")
    expect(picker.get_by_role("link", name="Compare round 2 with round 1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(picker).to_be_hidden()


def test_comments_are_carried_over_only_where_they_are_ticked(
    site: Site, desk: Desk, open_page: Open
) -> None:
    first = desk.first()
    page = open_page(f"/reviews/{first.pk}?tab=talk", who=site.world.ines)
    for place, text in (("command tests", "Why?"), (f"screenshot {SHOT}", "Too close.")):
        page.locator("#say-place").select_option(place)
        page.locator("#say-it").fill(text)
        page.get_by_role("button", name="Add comment").click()
        expect(page.locator("[data-said] textarea").last).to_have_value(text)
    second = desk.second(first)
    page.goto(f"/reviews/{first.pk}/draft")
    expect(page.get_by_label("Carry it over", exact=True)).to_be_checked()
    expect(page.get_by_label("Carry it over, although what it is about has changed")).not_to_be_checked()
    assert flaws(page) == []
    page.get_by_role("button", name="Move my draft to round 2").click()
    page.wait_for_url(f"**/reviews/{second.pk}")
    expect(page.get_by_text("1 comment stayed with round 1.")).to_be_visible()
    page.goto(f"/reviews/{first.pk}/draft")
    expect(page.locator(".well textarea")).to_have_value("Too close.")
