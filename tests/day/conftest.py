"""One demo for the whole folder, started as a person starts it, and one Chromium for each file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import CHROMIUM, FLAGS, started_playwright
from tests.day.running import Day

PAGE_MS = 30_000


@pytest.fixture(scope="package")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """The running demo."""
    started = Day(tmp_path_factory.mktemp("day") / "data")
    yield started
    started.end()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A Chromium of the tests' own; the demo's agents start theirs."""
    expect.set_options(timeout=PAGE_MS)
    with started_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def sign_in(chromium: Browser, day: Day, role: str) -> Page:
    """A page of the person with this role, who typed name and password."""
    person = day.ready["users"][role]
    page = chromium.new_context(base_url=day.ready["url"]).new_page()
    page.set_default_timeout(PAGE_MS)
    page.goto("/signin")
    page.get_by_label("Name or e-mail").fill(person["name"])
    page.get_by_label("Password").fill(person["password"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/*")
    expect(page.get_by_role("button", name="Sign in")).to_have_count(0)
    return page
