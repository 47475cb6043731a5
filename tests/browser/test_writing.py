"""Writing a task in Chromium: both sides in step, nothing typed lost, two tabs, keys, phones, and without script."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import Page, expect

from claims.models import Task
from reviews.models import TaskDraft
from tests.browser.conftest import THEMES, WIDTHS, Open, Site
from tests.unit.reviews.writing.conftest import GOOD

FILES = ("app/billing.py", "app/dates.py", "app/vendor/lib.py", "static/app.css")


def draft_of(page: Page) -> str:
    return page.url.partition("draft=")[2].partition("#")[0]


def kept(site: Site, page: Page) -> TaskDraft:
    found: Any = site.commit(lambda: TaskDraft.objects.get(pk=draft_of(page)))
    return found


def tasks_named(site: Site, title: str) -> int:
    return int(site.commit(lambda: Task.objects.filter(title=title).count()))


def begin(open_page: Open, site: Site, source: str = GOOD, **more: Any) -> Page:
    """A page with a text typed in its YAML, and the form that came of it."""
    page = open_page("/tasks/new", who=site.world.mira, **more)
    if not page.locator("#source").is_visible():
        page.get_by_role("button", name="YAML", exact=True).click()
    page.locator("#source").fill(source)
    expect(page.locator("#f-title")).to_have_value("Dates")
    return page


def lines_of(page: Page) -> list[str]:
    return page.locator("#source").input_value().splitlines()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", ["/tasks/new", "/tasks/new/from/invoice-dates", "/tasks/import"])
def test_a_page_is_accessible_and_fits_its_width(
    site: Site, open_page: Open, path: str, width: int, theme: str
) -> None:
    page = open_page(path, who=site.world.mira, width=width, theme=theme)
    found = Axe().run(page).response["violations"]
    assert not found, [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


FULL = """\
effects:
  - {slot: receipt, mode: QUERYABLE, target: post, lookup: {kind: http, url: "https://x/{effectId}"}}
  - {slot: tag, mode: NON_REPLAYABLE, target: git, lookup: {kind: git-ref, repository: shop, ref: "refs/tags/{effectId}"}}
access: [pdf]
nonsense: 1
"""


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_with_everything_in_it_and_a_refusal_is_accessible(
    site: Site, open_page: Open, width: int, theme: str
) -> None:
    page = begin(
        open_page,
        site,
        GOOD + "  - {kind: screenshot, page: /, widths: [390]}\n" + FULL,
        width=width,
        theme=theme,
    )
    page.get_by_role("button", name="Publish task").click()
    expect(page.get_by_role("heading", name="Nothing was published: 1 thing to put right")).to_be_focused()
    found = Axe().run(page).response["violations"]
    assert not found, [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_typing_in_either_side_changes_the_other(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    page.locator("#f-title").fill("Months")
    expect(page.locator("#source")).to_have_value(GOOD.replace("Dates", "Months"))
    page.locator("#source").fill(GOOD.replace("Dates", "Weeks"))
    expect(page.locator("#f-title")).to_have_value("Weeks")
    expect(page.locator("#check")).to_contain_text("can be published")
    assert kept(site, page).title == "Weeks"


def test_what_is_typed_while_an_answer_is_on_its_way_is_not_written_over(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    held: list[Any] = []
    page.route("**/tasks/new/check", lambda route: held.append(route), times=1)
    with page.expect_request("**/tasks/new/check"):
        page.locator("#f-title").fill("Months")
    page.locator("#source").press("Control+End")
    page.locator("#source").press_sequentially("priority: 1\n")
    held[0].continue_()
    expect(page.locator("#f-priority")).to_have_value("1")
    expect(page.locator("#f-title")).to_have_value("Months")
    assert "title: Months" in lines_of(page)
    assert "priority: 1" in lines_of(page)


def test_a_text_that_cannot_be_read_is_told_with_its_place_and_nothing_is_lost(
    site: Site, open_page: Open
) -> None:
    page = begin(open_page, site)
    page.locator("#source").fill(GOOD.replace("title: Dates", "title: 'Dates"))
    expect(page.locator("#check")).to_contain_text("The YAML cannot be read")
    page.locator("#f-task").fill("Written while the YAML was broken.")
    expect(page.locator("#check")).to_contain_text("the form waits for the YAML")
    page.reload()
    expect(page.locator("#f-task")).to_have_value("Written while the YAML was broken.")
    page.locator("#source").fill(GOOD)
    expect(page.locator("#source")).to_have_value(
        GOOD.replace("Write the month as a word.", "Written while the YAML was broken.")
    )


def test_a_finding_leads_to_its_line(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    page.locator("#source").fill(GOOD.replace("proof:", "prof:"))
    finding = page.locator("#check li").filter(has_text="did you mean proof?")
    finding.get_by_role("link", name="line 7, column 5").click()
    chosen = page.evaluate("source.value.slice(source.selectionStart, source.selectionEnd)")
    assert chosen == "prof: the tests"
    expect(page.locator("#source")).to_be_focused()


def test_criteria_move_by_key_and_buttons_and_the_focus_goes_along(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    page.get_by_role("button", name="Add a criterion").click()
    second = page.locator("#f-acceptance-2-text")
    expect(second).to_be_focused()
    second.press_sequentially("It is quick")
    second.press("Alt+ArrowUp")
    first = page.locator("#f-acceptance-1-text")
    expect(first).to_be_focused()
    expect(first).to_have_value("It is quick")
    first.press("Alt+ArrowDown")
    expect(page.locator("#f-acceptance-2-text")).to_have_value("It is quick")
    page.get_by_role("button", name="a screenshot that proves criterion 2").click()
    expect(page.locator("#f-evidence-2-page")).to_be_focused()
    expect(page.locator("#f-evidence-2-criteria")).to_have_value("2")


def test_control_s_saves_and_control_enter_publishes_once(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    page.locator("#f-title").fill("By key")
    page.locator("#f-title").press("Control+s")
    expect(page.locator("#source")).to_have_value(GOOD.replace("Dates", "By key"))
    page.locator("#f-title").press("Enter")
    page.locator("#f-title").press("Control+Enter")
    expect(page.get_by_text("is open in the pool billing")).to_be_visible()
    assert tasks_named(site, "By key") == 1


def test_a_double_click_and_the_back_button_make_one_task(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    page.locator("#f-title").fill("Only once")
    page.get_by_role("button", name="Publish task").dblclick()
    expect(page.get_by_text("is open in the pool billing")).to_be_visible()
    page.go_back()
    page.wait_for_load_state()
    assert tasks_named(site, "Only once") == 1


def test_what_refuses_a_task_is_said_first_and_stays_to_be_put_right(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    page.locator("#source").fill(GOOD.replace("reviewer", "") + "reviewPolicy: NONE\n")
    page.get_by_role("button", name="Publish task").click()
    heading = page.get_by_role("heading", name="Nothing was published")
    expect(heading).to_be_focused()
    expect(page.locator("#told")).to_contain_text("the pool billing asks for a review")
    assert "reviewPolicy: NONE" in lines_of(page)


def test_a_draft_is_found_after_a_reload_and_on_another_device(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    page.locator("#f-title").press("End")
    page.locator("#f-title").press_sequentially(" and months")
    page.reload()
    expect(page.locator("#f-title")).to_have_value("Dates and months")
    expect(page.locator("#told .panel")).to_have_count(0)
    address = page.url
    page.close()
    phone = open_page("/tasks/new", who=site.world.mira, width=390)
    phone.get_by_role("link", name="Dates and months").first.click()
    expect(phone.locator("#f-title")).to_have_value("Dates and months")
    assert draft_of(phone) in address


def test_words_that_were_kept_while_the_next_page_was_asked_for_are_found_there(
    site: Site, open_page: Open
) -> None:
    page = begin(open_page, site)
    expect(page.locator("[data-saved]")).to_contain_text("draft saved")
    older, draft = page.request.get(page.url), kept(site, page)

    def late(route: Any) -> None:
        """The page as it was, answered once what was typed meanwhile has been kept."""
        until = time.monotonic() + 20
        while (
            time.monotonic() < until
            and site.commit(lambda: TaskDraft.objects.get(pk=draft.pk)).title != "Months"
        ):
            time.sleep(
                0.05
            )  # the row is all there is to wait on: nothing can be asked of a page that is leaving
        route.fulfill(response=older)

    page.route("**/tasks/new?draft=*", late, times=1)
    page.locator("#f-title").fill("Months")
    page.reload()
    expect(page.locator("#f-title")).to_have_value("Months")
    expect(page.locator("#source")).to_have_value(GOOD.replace("Dates", "Months"))
    # A page that was answered here instead of by the server may open no socket to it.
    open_page.errors[:] = [text for text in open_page.errors if "/ws'" not in text]  # type: ignore[attr-defined]


def test_a_second_tab_is_told_and_can_take_over_and_the_first_loses_no_word(
    site: Site, open_page: Open
) -> None:
    first = begin(open_page, site)
    expect(first.locator("[data-saved]")).to_contain_text("draft saved")
    second = open_page(f"/tasks/new?draft={draft_of(first)}", who=site.world.mira)
    expect(second.get_by_role("heading", name="This draft is open in another page")).to_be_focused()
    expect(second.locator("#f-title")).to_be_disabled()
    expect(second.get_by_role("button", name="Publish task")).to_be_disabled()
    second.get_by_role("button", name="Take it over").click()
    second.locator("#f-title").fill("Taken over")
    expect(second.locator("#source")).to_have_value(GOOD.replace("Dates", "Taken over"))

    first.locator("#f-title").fill("Typed in the first tab")
    expect(first.get_by_role("heading", name="This draft was changed in another page")).to_be_focused()
    expect(first.locator("#f-title")).to_have_value("Typed in the first tab")
    first.reload()
    expect(first.get_by_role("heading", name="This draft was changed in another page")).to_be_focused()
    expect(first.locator("#f-title")).to_have_value("Typed in the first tab")
    assert kept(site, second).title == "Taken over"
    first.get_by_role("button", name="Keep this as another draft").click()
    expect(first.locator("#f-title")).to_have_value("Typed in the first tab")
    assert draft_of(first) != draft_of(second)
    assert kept(site, second).title == "Taken over"


def test_files_are_found_counted_and_put_into_the_scope(site: Site, open_page: Open) -> None:
    with_repository(site)
    page = begin(open_page, site)
    expect(page.locator("#scope-count")).to_contain_text("4 files of shop are in the scope")
    page.locator("#find").press_sequentially("dates")
    page.get_by_role("button", name="Allow app/dates.py").click()
    expect(page.locator("#f-files")).to_have_value("app/dates.py")
    page.locator("#f-files").fill("app/**")
    expect(page.locator("#scope-count")).to_contain_text("3 files of shop are in the scope")
    page.locator("#f-excluded").fill("app/vendor/**")
    expect(page.locator("#scope-count")).to_contain_text("2 files of shop are in the scope, 1 excluded")


def with_repository(site: Site) -> None:
    """Workers of billing work on a repository of the started server."""
    from agents.models import AgentProfile

    folder = site.var / "repositories" / "shop"
    if not folder.exists():
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
        words = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
        for each in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Files"]):
            subprocess.run(["git", *words, *each], cwd=folder, check=True)
    profile = {"agent": site.world.agents["agent-7"], "pool": site.world.billing, "repository": "shop"}
    site.commit(
        lambda: AgentProfile.objects.get_or_create(
            **profile, defaults={"command": ["true"], "is_enabled": True}
        )
    )


def test_on_a_phone_one_side_is_in_view(site: Site, open_page: Open) -> None:
    page = begin_on_a_phone(open_page, site)
    expect(page.locator("#f-title")).to_be_visible()
    expect(page.locator("#source")).to_be_hidden()
    page.get_by_role("button", name="YAML", exact=True).click()
    expect(page.locator("#f-title")).to_be_hidden()
    page.locator("#source").fill(GOOD)
    page.get_by_role("button", name="Form", exact=True).click()
    expect(page.locator("#f-title")).to_have_value("Dates")


def begin_on_a_phone(open_page: Open, site: Site) -> Page:
    return open_page("/tasks/new", who=site.world.mira, width=390)


def test_without_script_a_task_is_written_by_plain_posts(site: Site, open_page: Open) -> None:
    page = open_page("/tasks/new", who=site.world.mira, script=False)
    page.locator("#f-title").fill("Without script")
    page.locator("#f-task").fill("Write the month as a word.")
    page.locator("#f-acceptance-1-text").fill("It says March")
    page.get_by_role("button", name="a file that proves criterion 1").click()
    page.locator("#f-evidence-2-path").fill("build/out.txt")
    page.get_by_role("button", name="Save draft").click()
    assert "build/out.txt" in page.locator("#source").input_value()
    page.locator("#source").fill(page.locator("#source").input_value().replace("priority: 2", "priority: 12"))
    page.get_by_role("button", name="Publish task").click()
    assert "1 thing to put right" in page.get_by_role("heading", level=2).first.inner_text()
    page.locator("#f-priority").fill("1")
    page.get_by_role("button", name="Publish task").click()
    expect(page.get_by_text("is open in the pool billing")).to_be_visible()
    assert tasks_named(site, "Without script") == 1


def test_a_signed_out_page_keeps_its_words_until_one_is_back(site: Site, open_page: Open) -> None:
    page = begin(open_page, site)
    name = settings.SESSION_COOKIE_NAME
    cookies = [one for one in page.context.cookies() if one["name"] == name]
    page.context.clear_cookies(name=name)
    page.locator("#f-title").fill("Typed while signed out")
    expect(page.locator("[data-saved]").first).to_contain_text("not saved yet")
    page.keyboard.press("Tab")  # who types is not interrupted: the dialog opens when the field is left
    expect(page.get_by_role("dialog", name="Your session has ended")).to_be_visible()
    page.context.add_cookies(cookies)  # type: ignore[arg-type]
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("[data-saved]")).to_contain_text("draft saved")
    assert kept(site, page).title == "Typed while signed out"


def test_a_folder_of_files_is_imported_with_its_report(site: Site, open_page: Open, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(GOOD.replace("Dates", "Imported"))
    page = open_page("/tasks/import", who=site.world.mira)
    for said in ("1 created, 0 unchanged, 0 refused", "0 created, 1 unchanged, 0 refused"):
        page.locator("#files").set_input_files([tmp_path / "one.yaml"])
        page.get_by_role("button", name="Import these files").click()
        expect(page.get_by_role("heading", name=said)).to_be_focused()
    assert tasks_named(site, "Imported") == 1
