"""Keys: declared on the page, listed in the ? dialog, exempt in fields, and never a decision."""

from __future__ import annotations

from tests.browser.conftest import Open, Site


def ready(page):  # type: ignore[no-untyped-def]
    """Scripts have run: what needs them is shown."""
    page.locator("[data-needs-script][hidden]").first.wait_for(state="detached")
    return page


def test_the_question_mark_lists_the_keys_of_this_page(site: Site, open_page: Open) -> None:
    page = ready(open_page("/board", who=site.world.ines))
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys on this page")
    assert dialog.is_visible()
    for words in ("Go to Reviews", "Go to Board", "Filter", "Table", "Next in the list"):
        assert dialog.get_by_text(words).is_visible(), words
    page.keyboard.press("Escape")
    assert not dialog.is_visible()


def test_g_and_a_letter_go_to_a_page(site: Site, open_page: Open) -> None:
    page = ready(open_page("/board", who=site.world.ines))
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/reviews")


def test_slash_goes_to_the_filter_and_letters_typed_there_do_nothing_else(
    site: Site, open_page: Open
) -> None:
    page = ready(open_page("/board", who=site.world.ines))
    page.keyboard.press("/")
    page.keyboard.type("gt ?j")
    assert page.get_by_role("searchbox").input_value() == "gt ?j"
    assert page.url.endswith("/board")


def test_j_and_k_move_from_row_to_row_and_enter_opens(site: Site, open_page: Open) -> None:
    page = ready(open_page("/reviews", who=site.world.ines))
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.closest('[data-row]').id")
    page.keyboard.press("j")
    second = page.evaluate("document.activeElement.closest('[data-row]').id")
    assert first != second
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.closest('[data-row]').id") == first
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/reviews/{first.removeprefix('delivery-')}")


def test_the_tabs_of_a_task_have_numbers(site: Site, open_page: Open) -> None:
    page = ready(open_page(f"/tasks/T-{site.tasks['told'].number}", who=site.world.ines))
    page.keyboard.press("6")
    page.wait_for_url("**/yaml")


def test_single_keys_can_be_turned_off(site: Site, open_page: Open) -> None:
    page = ready(open_page("/board", who=site.world.ines))
    page.get_by_role("button", name="Ines Halvorsen, your menu").click()
    page.locator("#me").get_by_role("button", name="Turn single keys off").click()
    page.locator("html[data-keys=off]").wait_for()
    page.keyboard.press("?")
    page.keyboard.press("j")
    assert not page.get_by_role("dialog").is_visible()
    assert page.evaluate("document.activeElement === document.body")


def answering(status: int):  # type: ignore[no-untyped-def]
    """A server that refuses with this status and a panel."""
    panel = "<section tabindex='-1'><h2>It moved</h2></section>"
    return lambda route: route.fulfill(status=status, content_type="text/html", body=panel)


def test_every_answer_that_refuses_lands_in_the_conflict_panel_and_no_typed_word_is_lost(
    site: Site, open_page: Open
) -> None:
    for status in (409, 412, 422):
        page = ready(open_page("/board", who=site.world.ines))
        page.route("**/refuses", answering(status))
        page.evaluate(
            """() => {
              const main = document.getElementById('main');
              main.innerHTML = '<div id="conflict"></div><form hx-post="/refuses" action="/refuses" method="post"><textarea name="note"></textarea><input type="radio" name="v" value="1"><button>Send</button></form>';
              window.htmx.process(main);
            }"""
        )
        page.locator("textarea").fill("Every word of this stays.")
        page.locator("input[type=radio]").check()
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("#conflict h2")
        assert page.locator("textarea").input_value() == "Every word of this stays."
        assert page.locator("input[type=radio]").is_checked()
        assert page.evaluate("document.activeElement.closest('#conflict') !== null")


def test_a_server_fault_is_a_toast_with_its_request_and_the_form_stays(site: Site, open_page: Open) -> None:
    page = ready(open_page("/board", who=site.world.ines))
    page.route(
        "**/breaks",
        lambda route: route.fulfill(
            status=429, content_type="text/html", body="x", headers={"X-Request-Id": "req_77"}
        ),
    )
    page.evaluate(
        """() => {
          const main = document.getElementById('main');
          main.innerHTML = '<form hx-post="/breaks" action="/breaks" method="post"><textarea name="note"></textarea><button>Send</button></form>';
          window.htmx.process(main);
        }"""
    )
    page.locator("textarea").fill("Still here.")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("request req_77").wait_for()
    assert page.locator("textarea").input_value() == "Still here."
