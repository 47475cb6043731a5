"""The inbox by key and by finger: preview, snooze, hand on, and a row that another settles while it is on screen."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.utils import timezone
from playwright.sync_api import Page, expect

from claims.models import Delivery, Deputy, Task
from reviews.models import PinnedTask, SnoozedDelivery
from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws


def made(site: Site, title: str, **more: str) -> Delivery:
    return site.commit(partial(site.world.delivered, title, needs=f"Look at {title}", **more))


def row(page: Page, delivery: Delivery) -> str:
    return f"[id='delivery-{delivery.pk}']"


def test_the_inbox_and_its_small_pages_are_accessible_and_fit(site: Site, open_page: Open) -> None:
    first = made(site, "the widths", reviewer="ines")
    page = open_page("/reviews", who=site.world.ines)
    assert flaws(page) == []
    for address in (
        f"/reviews/snooze/{first.pk}",
        f"/reviews/hand-on/{first.pk}",
        f"/reviews/preview/{first.pk}",
        "/reviews/bucket/must",
        "/account/deputy",
    ):
        page.goto(address)
        assert flaws(page) == [], address


def test_o_previews_beside_the_list_follows_the_focus_and_closes(site: Site, open_page: Open) -> None:
    first, second = made(site, "the first", reviewer="ines"), made(site, "the second", reviewer="ines")
    page = open_page("/reviews", who=site.world.ines)
    page.locator(f"{row(page, first)} h3 a").focus()
    page.keyboard.press("o")
    pane = page.locator("#pane")
    expect(pane.get_by_role("heading", name="Look at the first")).to_be_visible()
    assert flaws(page, themes=("light",)) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    page.keyboard.press("j")
    expect(pane.get_by_role("heading", name="Look at the second")).to_be_visible()
    assert str(second.pk) in str(pane.get_attribute("data-shows"))
    page.keyboard.press("o")
    expect(pane).to_be_hidden()


def test_s_snoozes_on_the_readers_own_clock_and_the_row_goes_to_the_snoozed(
    site: Site, open_page: Open
) -> None:
    delivery = made(site, "the nap", reviewer="ines")
    page = open_page("/reviews", who=site.world.ines)
    page.locator(f"{row(page, delivery)} h3 a").focus()
    page.keyboard.press("s")
    sheet = page.get_by_role("dialog", name="aside")
    expect(sheet).to_be_visible()
    assert flaws(page, themes=("light",)) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    assert sheet.locator("[data-zone]").input_value() != ""
    sheet.get_by_role("button", name="Tomorrow 9:00").click()
    expect(page.get_by_text("is put aside until")).to_be_visible()
    expect(page.locator(row(page, delivery))).to_be_hidden()
    page.locator("#asleep summary").click()
    page.locator(row(page, delivery)).get_by_role("button", name="Bring back").click()
    expect(page.locator(f"#rows-must {row(page, delivery)}")).to_be_visible()
    assert not site.commit(lambda: SnoozedDelivery.objects.filter(delivery_id=delivery.pk).exists())


def test_m_hands_on_with_a_reason(site: Site, open_page: Open) -> None:
    delivery = made(site, "the hand", reviewer="ines")
    page = open_page("/reviews", who=site.world.ines)
    page.locator(f"{row(page, delivery)} h3 a").focus()
    page.keyboard.press("m")
    sheet = page.get_by_role("dialog")
    expect(sheet.get_by_label("Who decides it instead")).to_be_focused()
    sheet.get_by_label("Who decides it instead").select_option(str(site.world.ben.pk))
    sheet.get_by_label("Why").fill("Ben knows this page.")
    sheet.get_by_role("button", name="Hand it on").click()
    expect(page.get_by_text("it waits for Ben Okafor now")).to_be_visible()
    expect(page.locator(f"#rows-must {row(page, delivery)}")).to_have_count(0)
    assert site.commit(lambda: Task.objects.get(pk=delivery.task_id).reviewer_id) == site.world.ben.pk


def test_a_pinned_row_is_first_and_keeps_the_focus(site: Site, open_page: Open) -> None:
    delivery = made(site, "the pin", reviewer="ines")
    page = open_page("/reviews", who=site.world.ines)
    page.locator(row(page, delivery)).hover()
    page.locator(row(page, delivery)).get_by_role("button", name="Pin").click()
    first = page.locator("#rows-must [data-row]").first
    expect(first).to_contain_text("Pinned")
    expect(first.locator("h3 a")).to_be_focused()
    site.commit(lambda: PinnedTask.objects.all().delete())


def test_a_row_that_another_accepts_says_so_in_its_place_and_stays(site: Site, open_page: Open) -> None:
    delivery = made(site, "the race", reviewer_group="billing-reviewers")
    page = open_page("/reviews", who=site.world.ines)
    page.locator("[data-live-dot][data-state=live]").wait_for()
    site.commit(partial(site.world.accept, delivery, site.world.ben))
    gone = page.locator(f"{row(page, delivery)}.gone")
    expect(gone).to_contain_text("Accepted by Ben Okafor just now")
    new = made(site, "the news", reviewer="ines")
    bar = page.locator("[data-live-bar]")
    expect(bar).to_contain_text("2 new")
    expect(page.locator(row(page, new))).to_have_count(0)
    expect(gone).to_be_visible()
    page.keyboard.press(".")
    expect(page.locator(row(page, new))).to_be_visible()
    expect(page.locator(row(page, delivery))).to_have_count(0)


def test_a_deputy_sees_what_waits_for_who_is_away(site: Site, open_page: Open) -> None:
    delivery = made(site, "the deputy", reviewer="ines")
    day = timezone.now().date()
    named = {"pool": site.world.billing, "person": site.world.ines, "deputy": site.world.ben}
    until = day + timedelta(days=2)
    site.commit(
        lambda: Deputy.objects.create(from_day=day, until_day=until, named_at=timezone.now(), **named)
    )
    page = open_page("/reviews", who=site.world.ben)
    expect(page.locator(f"#rows-must {row(page, delivery)}")).to_contain_text(
        "for Ines Halvorsen, away until"
    )
    page.goto(f"/reviews/{delivery.pk}/sheet/changes")
    reason = page.locator("#sheet-changes").get_by_label("Reason you decide in another’s place")
    assert reason.input_value().startswith("As deputy for Ines Halvorsen, away until")
    site.commit(lambda: Deputy.objects.all().delete())


def test_without_script_every_act_is_a_page_of_its_own(site: Site, open_page: Open) -> None:
    delivery = made(site, "the plain page", reviewer="ines")
    page = open_page("/reviews", who=site.world.ines, script=False, width=390)
    page.locator(row(page, delivery)).get_by_role("link", name="Preview").click()
    expect(page.get_by_role("heading", name="Look at the plain page")).to_be_visible()
    page.go_back()
    page.locator(row(page, delivery)).get_by_role("link", name="Snooze").click()
    page.get_by_role("button", name="1 hour").click()
    expect(page.get_by_text("is put aside until")).to_be_visible()
    page.goto(f"/reviews/hand-on/{delivery.pk}")
    page.get_by_label("Who decides it instead").select_option(str(site.world.ben.pk))
    page.get_by_label("Why").fill("Ben knows this page.")
    page.get_by_role("button", name="Hand it on").click()
    expect(page.get_by_text("it waits for Ben Okafor now")).to_be_visible()


def test_shift_j_leads_to_the_next_that_is_not_snoozed(site: Site, open_page: Open) -> None:
    first, second, third = (made(site, f"the {name}", reviewer="ines") for name in ("one", "two", "three"))
    until = timezone.now() + timedelta(hours=1)
    site.commit(
        lambda: SnoozedDelivery.objects.create(
            person=site.world.ines, delivery=second, until=until, snoozed_at=timezone.now()
        )
    )
    page = open_page(f"/reviews/{first.pk}", who=site.world.ines)
    page.keyboard.press("Shift+J")
    page.wait_for_url(f"**/reviews/{third.pk}")
    page.keyboard.press("Shift+K")
    page.wait_for_url(f"**/reviews/{first.pk}")
    site.commit(lambda: SnoozedDelivery.objects.all().delete())
