"""Every page at 390 and 1280 px, light and dark: nothing axe objects to, nothing scrolls sideways, no error logged."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws

PAGES = {
    "board": "/board",
    "table": "/board?view=table",
    "filtered": "/board?agent=agent-7&q=nothing",
    "inbox": "/reviews",
    "bucket": "/reviews/bucket/must",
    "spec": "/tasks/{told}/spec",
    "rounds": "/tasks/{told}/rounds",
    "claim": "/tasks/{quiet}/claim",
    "timeline": "/tasks/{told}/timeline",
    "yaml": "/tasks/{told}/yaml",
    "held": "/tasks/{held}",
    "missing": "/tasks/T-999999",
    "help": "/help/problems",
    "password": "/account/password",
}


def address(site: Site, name: str) -> str:
    return PAGES[name].format(**{key: f"T-{task.number}" for key, task in site.tasks.items()})


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_fits_its_width_and_loads_little(site: Site, open_page: Open, name: str) -> None:
    assert flaws(open_page(address(site, name), who=site.world.ines)) == []


def test_signing_in_is_accessible_and_fits_its_width(site: Site, open_page: Open) -> None:
    assert flaws(open_page("/signin?next=/reviews")) == []


def test_nothing_scrolls_sideways_at_320_px(site: Site, open_page: Open) -> None:
    page = open_page("/board", who=site.world.ines, width=320)
    for name in ("board", "inbox", "timeline", "claim"):
        page.goto(address(site, name))
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name


def test_without_script_a_person_finds_filters_reads_and_signs_out(site: Site, open_page: Open) -> None:
    page = open_page("/board", who=site.world.ines, script=False)
    page.get_by_role("searchbox", name="Filter tasks").fill("agent:agent-3")
    page.get_by_role("button", name="Apply").click()
    assert "agent=agent-3" in page.url
    page.get_by_role("link", name="Remove filter agent agent-3").click()
    page.get_by_role("link", name="Billing page: empty state when there are no invoices").click()
    page.get_by_role("navigation", name="Task").get_by_role("link", name="Spec").click()
    assert page.get_by_role("heading", name="Acceptance").is_visible()
    page.get_by_role("navigation", name="Main", exact=True).get_by_role("link", name="Reviews").click()
    assert page.get_by_role("heading", level=1).filter(has_text="for your decision").is_visible()


def test_a_person_signs_in_with_a_password_and_comes_to_the_wanted_page(site: Site, open_page: Open) -> None:
    def with_real_hash() -> None:
        from django.contrib.auth.hashers import PBKDF2PasswordHasher
        from django.contrib.auth.models import User

        hasher = PBKDF2PasswordHasher()
        User.objects.filter(username="ben").update(password=hasher.encode("a long pass phrase", "salt"))

    site.commit(with_real_hash)
    page = open_page("/board?state=OPEN")
    page.get_by_label("Name or e-mail").fill("ben")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    assert "4 tries left" in page.get_by_role("alert").inner_text()
    page.get_by_label("Password").fill("a long pass phrase")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/board?state=OPEN")
    page.get_by_role("button", name="Ben Okafor, your menu").click()
    page.get_by_role("button", name="Sign out").first.click()
    page.wait_for_url("**/signin")


def test_the_board_on_a_phone_shows_one_column_and_a_strip_to_choose_it(site: Site, open_page: Open) -> None:
    page = open_page("/board", who=site.world.ines, width=390)
    assert page.locator(".board .col:visible").count() == 1
    page.get_by_role("navigation", name="Columns").get_by_role("link", name="Done").click()
    assert page.locator(".board .col:visible").get_attribute("id") == "done"
    page.get_by_role("navigation", name="Main, short").get_by_role("button", name="More").click()
    box = page.locator("#more").bounding_box()
    assert box is not None
    assert box["width"] > 300


def test_the_theme_is_chosen_in_the_menu_and_stays(site: Site, open_page: Open) -> None:
    page = open_page("/board", who=site.world.ines)
    page.get_by_role("button", name="Ines Halvorsen, your menu").click()
    page.locator("#me").get_by_role("button", name="Dark").click()
    page.wait_for_load_state()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_durations_are_kept_true_while_the_page_is_open(site: Site, open_page: Open) -> None:
    page = open_page("/reviews", who=site.world.ines)
    page.clock.install()
    page.reload()
    page.locator("time[data-span=since]").first.wait_for()
    page.clock.fast_forward("02:05:00")
    assert page.locator("time[data-span=since]").first.inner_text().startswith("2\u00a0h")


def test_a_digest_opens_to_its_whole_value(site: Site, open_page: Open) -> None:
    page = open_page(address(site, "spec"), who=site.world.ines)
    page.locator(".digest summary").first.click()
    assert page.locator(".digest .whole code").first.inner_text() == site.tasks["told"].input_digest
