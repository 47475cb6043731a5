"""The task page in Chromium: its keys, changing in place, two who change the same, the graph, and without script."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from claims import transitions
from claims.inputs import NewTask
from claims.models import Task
from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws
from tests.unit.reviews.world import World, as_person, done

TABS = ["spec", "rounds", "claim", "effects", "timeline", "yaml"]


def ready(page: Page) -> Page:
    """Scripts have run: what needs them is shown."""
    page.locator("[data-needs-script][hidden]").first.wait_for(state="detached")
    return page


def written(site: Site, title: str, **more: Any) -> Task:
    found: Task = site.commit(lambda: site.world.write(title, **more))
    return found


def adjusted(site: Site, task: Task, **attributes: Any) -> None:
    site.commit(lambda: done(transitions.adjust(as_person(site.world.noor), task.pk, attributes)))


def revised(site: Site, task: Task, title: str, **parts: Any) -> str:
    """Noor writes the next revision; answers what it is called."""

    def write() -> str:
        now = Task.objects.select_related("specification").get(pk=task.pk)
        body = {**now.specification.body, **parts}
        caller = as_person(site.world.noor)
        return f"T-{done(transitions.revise(caller, task.pk, now.state_version, body, title)).task.number}"

    return str(site.commit(write))


def graph(world: World, waits: dict[str, tuple[str, ...]]) -> dict[str, int]:
    nodes = [
        NewTask(f"Node {name} of a graph", {"task": "x"}, node_id=name, depends_on=before)
        for name, before in waits.items()
    ]
    made = done(transitions.create(as_person(world.mira), "billing", nodes)).tasks
    return {one.node_id: one.number for one in made}


def value_of(site: Site, task: Task, name: str) -> Any:
    return site.commit(lambda: Task.objects.filter(pk=task.pk).values_list(name, flat=True).get())


def row_of(page: Page, name: str) -> list[str]:
    """Base, now and yours of a field."""
    row = page.locator(".three > li", has=page.locator("b", has_text=name))
    return [text.strip() for text in row.locator("dd").all_inner_texts()]


def test_each_tab_has_its_number_and_u_goes_up_to_the_board(site: Site, open_page: Open) -> None:
    task = site.tasks["told"]
    page = ready(open_page(f"/tasks/T-{task.number}", who=site.world.ines))
    for number, tab in enumerate(TABS, 1):
        page.keyboard.press(str(number))
        page.wait_for_url(f"**/tasks/T-{task.number}/{tab}")
        expect(page.locator(".tabs [aria-current=page]")).to_have_attribute("data-key", str(number))
        ready(page)
    page.keyboard.press("u")
    page.wait_for_url("**/board?pool=billing")


def test_y_copies_the_address_of_what_is_in_view(site: Site, open_page: Open) -> None:
    task = site.tasks["told"]
    page = ready(open_page(f"/tasks/T-{task.number}/claim", who=site.world.ines))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.url)
    page.keyboard.press("y")
    expect(page.locator("#say")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{site.url}/tasks/T-{task.number}/claim"


def test_e_opens_the_forms_and_letters_typed_in_them_are_words(site: Site, open_page: Open) -> None:
    task = written(site, "Opened by a key")
    page = ready(open_page(f"/tasks/{task}/spec", who=site.world.mira))
    page.keyboard.press("e")
    page.wait_for_url(f"**/tasks/{task}/change")
    ready(page).get_by_role("link", name="Change how it is scheduled").click()
    title = page.locator("#f-title")
    title.fill("")
    title.press_sequentially("1 yes u")
    expect(title).to_have_value("1 yes u")
    assert page.url.endswith("/change#adjust")


def test_who_may_not_change_it_has_no_such_key(site: Site, open_page: Open) -> None:
    task = written(site, "Not to be changed by Ben")
    page = ready(open_page(f"/tasks/{task}/spec", who=site.world.ben))
    page.keyboard.press("e")
    page.keyboard.press("3")
    page.wait_for_url(f"**/tasks/{task}/claim")


@pytest.mark.parametrize("script", [True, False])
def test_scheduling_is_changed_in_place_and_the_timeline_says_what_became_what(
    site: Site, open_page: Open, script: bool
) -> None:
    task = written(site, f"In place, script {script}")
    page = open_page(f"/tasks/{task}/change", who=site.world.mira, script=script)
    page.get_by_label("Priority").fill("0")
    page.get_by_label("Not before").fill("2030-12-01T09:30")
    page.get_by_label("Named reviewer").select_option("ben")
    page.get_by_role("button", name=f"Change {task} in place").click()
    expect(page.get_by_text(f"{task}: not before, priority, named reviewer changed.")).to_be_visible()
    for words in ("Named reviewer", "Ben Okafor", "2030-12-01 09:30 UTC"):
        expect(page.locator(".was")).to_contain_text(words)
    assert value_of(site, task, "priority") == 0


def test_a_field_that_is_wrong_has_the_focus_and_the_others_their_words(site: Site, open_page: Open) -> None:
    task = written(site, "Wrong field")
    page = ready(open_page(f"/tasks/{task}/change", who=site.world.mira))
    page.locator("#f-title").fill("Typed before")
    page.get_by_label("Most attempts").fill("0")
    page.get_by_role("button", name=f"Change {task} in place").click()
    expect(page.get_by_label("Most attempts")).to_be_focused()
    expect(page.get_by_text("Write a whole number from 1 to 100.")).to_be_visible()
    expect(page.locator("#f-title")).to_have_value("Typed before")


@pytest.mark.parametrize("script", [True, False])
def test_two_adjust_the_same_task_and_both_keep_what_they_wanted(
    site: Site, open_page: Open, script: bool
) -> None:
    task = written(site, f"Adjusted by two, script {script}")
    page = open_page(f"/tasks/{task}/change", who=site.world.mira, script=script)
    page.locator("#f-title").fill("Mine")
    page.get_by_label("Priority").fill("0")
    adjusted(site, task, priority=5, max_attempts=9)
    page.get_by_role("button", name=f"Change {task} in place").click()
    expect(page.get_by_role("heading", name="It was changed while you were writing")).to_be_visible()
    assert row_of(page, "Priority") == ["2", "5", "0"]
    page.get_by_role("button", name="Put my changes on what is now").click()
    expect(page.get_by_text("Both changed, and yours stands here: Priority.")).to_be_visible()
    expect(page.get_by_label("Most attempts")).to_have_value("9")
    page.get_by_role("button", name=f"Change {task} in place").click()
    expect(page.get_by_role("heading", name="Mine", exact=True)).to_be_visible()
    found = [value_of(site, task, name) for name in ("title", "priority", "max_attempts")]
    assert found == ["Mine", 0, 9]


@pytest.mark.parametrize("script", [True, False])
def test_a_revision_of_what_was_replaced_is_shown_merged_and_written(
    site: Site, open_page: Open, script: bool
) -> None:
    task = written(site, f"Revised by two, script {script}")
    page = open_page(f"/tasks/{task}/change", who=site.world.mira, script=script)
    mine = page.locator("#source").input_value().replace("Tests pass", "Types pass") + "# a word of mine\n"
    page.locator("#source").fill(mine)
    newest = revised(site, task, "Theirs", access=["browser"], acceptance=[{"text": "It works at 390 px"}])
    page.get_by_role("button", name="Write the next revision").click()
    expect(page.get_by_role("heading", name=f"Revise {newest}")).to_be_visible()
    expect(page.locator("#source")).to_have_value(mine)
    assert row_of(page, "Title")[1:] == ["Theirs", f"Revised by two, script {script}"]
    assert row_of(page, "Criterion 2") == ["text: Tests pass", "not there", "text: Types pass"]
    page.get_by_role("button", name="Put my changes on what is now").click()
    expect(page.get_by_text("Both changed, and yours stands here: Criterion 2.")).to_be_visible()
    merged = page.locator("#source").input_value()
    assert merged.startswith("title: Theirs\n")
    assert "- browser" in merged
    assert "- text: Types pass" in merged
    assert "# a word of mine" in page.locator("[name=kept]").input_value()
    page.get_by_role("button", name="Write the next revision").click()
    expect(page.get_by_text(f"is revision 3 of {newest}")).to_be_visible()
    expect(page.locator(".was").first).to_contain_text("Types pass")


def test_only_what_is_now_can_be_kept(site: Site, open_page: Open) -> None:
    task = written(site, "Given up")
    page = open_page(f"/tasks/{task}/change", who=site.world.mira)
    page.locator("#source").fill("title: Never mind\ntask: Never mind.\n")
    newest = revised(site, task, "Theirs", access=["browser"])
    page.get_by_role("button", name="Write the next revision").click()
    page.get_by_role("link", name="Keep only what is now").click()
    page.wait_for_url(f"**/tasks/{newest}/change#revise")
    assert page.locator("#source").input_value().startswith("title: Theirs\n")


def test_a_hint_changes_what_stands_beside_the_form_and_not_the_form(site: Site, open_page: Open) -> None:
    task = written(site, "Typed in while it moved")
    page = ready(open_page(f"/tasks/{task}/change", who=site.world.mira))
    page.locator("#f-title").fill("Typed while it moved")
    adjusted(site, task, priority=7)
    expect(page.locator("#task-side dd").last).to_have_text("2")
    expect(page.locator("#f-title")).to_have_value("Typed while it moved")
    expect(page.locator("#adjust [name=version]")).to_have_value("1")


def test_a_task_of_the_graph_is_opened_by_keyboard_and_only_its_box_scrolls(
    site: Site, open_page: Open
) -> None:
    waits: dict[str, tuple[str, ...]] = {"a": (), "b": ("a",), "own": ("b",), "c": ("own",), "d": ("c", "a")}
    numbers = site.commit(lambda: graph(site.world, waits))
    page = ready(open_page(f"/tasks/T-{numbers['own']}/spec", who=site.world.ines, width=390))
    box = page.locator(".deps")
    assert box.evaluate("one => one.scrollWidth > one.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(box.locator("a")).to_have_count(5)
    box.get_by_role("link", name=f"T-{numbers['d']}").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/tasks/T-{numbers['d']}")


@pytest.fixture
def moved(site: Site, open_page: Open) -> Page:
    """The change tab with everything in it: both sides of a revision, a refusal, and the other forms."""
    task = written(site, "Everything at once")
    page = open_page(f"/tasks/{task}/change", who=site.world.mira)
    page.locator("#source").fill(page.locator("#source").input_value().replace("Tests pass", "Types pass"))
    revised(site, task, "Theirs", access=["browser"], acceptance=[{"text": "It works at 390 px"}])
    page.get_by_role("button", name="Write the next revision").click()
    expect(page.get_by_role("heading", name="It was changed while you were writing")).to_be_visible()
    return page


def test_the_three_way_view_is_accessible_and_fits_its_width(moved: Page) -> None:
    assert flaws(moved) == []


def test_the_merged_form_is_accessible_and_fits_its_width(moved: Page) -> None:
    moved.get_by_role("button", name="Put my changes on what is now").click()
    moved.locator("summary", has_text="What you had typed").click()
    assert flaws(moved) == []


def test_the_forms_with_a_flaw_are_accessible_and_fit_their_width(site: Site, open_page: Open) -> None:
    task = written(site, "Flawed", reviewer="ines")
    page = open_page(f"/tasks/{task}/change", who=site.world.mira)
    page.get_by_label("Priority").fill("high")
    page.get_by_role("button", name=f"Change {task} in place").click()
    expect(page.get_by_label("Priority")).to_be_focused()
    assert flaws(page) == []


def test_the_graph_and_the_changes_of_a_timeline_are_accessible(site: Site, open_page: Open) -> None:
    waits: dict[str, tuple[str, ...]] = {"a": (), "own": ("a",), "c": ("own",)}
    numbers = site.commit(lambda: graph(site.world, waits))
    page = open_page(f"/tasks/T-{numbers['own']}/spec", who=site.world.ines)
    assert flaws(page) == []
    task = written(site, "Told")
    adjusted(site, task, priority=7, title="Told again " + "and again " * 20)
    page.goto(f"/tasks/{task}/timeline")
    assert flaws(page) == []
