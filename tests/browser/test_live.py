"""Open pages hear of changes, without moving what is being read; sockets are for those who may."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import expect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.browser.conftest import Open, Site, session_cookie

LIVE = "[data-live-dot][data-state=live]"


def socket_of(site: Site, who: Any, origin: str | None = None) -> ClientConnection:
    """A socket as a page of this person opens it."""
    headers = {}
    if who is not None:
        headers["Cookie"] = f"{settings.SESSION_COOKIE_NAME}={site.commit(lambda: session_cookie(who))}"
    return connect(
        f"{site.url.replace('http', 'ws')}/ws", origin=origin or site.url, additional_headers=headers
    )


def heard_until(socket: ClientConnection, kind: str, seconds: float = 30) -> dict[str, Any]:
    """The next message of this kind."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        message = json.loads(socket.recv(timeout=max(0.1, until - time.monotonic())))
        if message["type"] == kind:
            return message
    raise AssertionError(f"no {kind} within {seconds} s")


def test_a_new_delivery_waits_behind_one_link_and_the_counts_change_in_place(
    site: Site, open_page: Open
) -> None:
    page = open_page("/board", who=site.world.ines)
    page.wait_for_selector(LIVE)
    before = int(page.locator("#count-delivered").inner_text())
    rows = page.locator("#rows-delivered [data-row]").count()
    badge = int(page.locator("#nav-wide a[href='/reviews'] .n").inner_text())
    delivery = site.commit(
        lambda: site.world.delivered("Live: arrives while the page is open", reviewer="ines")
    )
    expect(page.locator("#count-delivered")).to_have_text(str(before + 1))
    expect(page.locator("#nav-wide").get_by_role("link", name="Reviews")).to_contain_text(str(badge + 1))
    page.get_by_role("link", name="new · show").wait_for()
    assert page.locator("#rows-delivered [data-row]").count() == rows
    page.keyboard.press(".")
    page.locator(f"#card-{delivery.task.number}").wait_for()
    assert not page.locator("[data-live-bar]").is_visible()


def test_a_row_decided_by_somebody_else_turns_grey_and_stays_until_asked(site: Site, open_page: Open) -> None:
    delivery = site.commit(
        lambda: site.world.delivered("Live: decided by a colleague", reviewer_group="billing-reviewers")
    )
    page = open_page("/reviews", who=site.world.ines)
    page.wait_for_selector(LIVE)
    row = page.locator(f"#delivery-{delivery.pk}")
    assert "gone" not in (row.get_attribute("class") or "")
    site.commit(lambda: site.world.accept(delivery, site.world.ben))
    page.wait_for_selector(f"#delivery-{delivery.pk}.gone")
    page.keyboard.press(".")
    row.wait_for(state="detached")


def test_an_open_task_page_follows_its_task(site: Site, open_page: Open) -> None:
    task = site.commit(lambda: site.world.write("Live: claimed while it is read"))
    page = open_page(f"/tasks/T-{task.number}/claim", who=site.world.ines)
    page.wait_for_selector(LIVE)
    site.commit(lambda: site.world.claim(task, "agent-9"))
    page.locator("#task .title .state[data-s=CLAIMED]").wait_for()


def test_silence_turns_the_dot_amber_and_says_so_and_the_next_word_ends_it(
    site: Site, open_page: Open
) -> None:
    page = open_page("/board", who=site.world.ines)
    sockets: list[Any] = []
    page.route_web_socket("**/ws", lambda socket: sockets.append(socket))
    page.clock.install()
    page.reload()
    page.locator("[data-live-dot][data-state=still]").wait_for()
    sockets[-1].send(json.dumps({"type": "hello", "sequences": {}, "at": "2026-11-30T10:42:07Z"}))
    page.wait_for_selector(LIVE)
    page.clock.fast_forward(60_000)
    page.wait_for_selector("[data-live-dot][data-state=paused]")
    assert page.get_by_text("Live updates are paused").is_visible()
    with page.expect_request(lambda request: "/board/columns" in request.url):
        page.clock.fast_forward(60_000)
    sockets[-1].send(json.dumps({"type": "beat", "sequences": {}, "at": "2026-11-30T10:44:07Z"}))
    page.wait_for_selector(LIVE)
    assert page.get_by_text("Live updates are paused").is_hidden()


def test_a_heartbeat_ahead_of_the_page_makes_it_fetch_what_a_lost_hint_was_about(
    site: Site, open_page: Open
) -> None:
    page = open_page("/board", who=site.world.ines)
    sockets: list[Any] = []
    page.route_web_socket("**/ws", lambda socket: sockets.append(socket))
    page.reload()
    page.locator("[data-live-dot][data-state=still]").wait_for()
    with page.expect_request(lambda request: "/board/columns" in request.url):
        sockets[-1].send(
            json.dumps({"type": "beat", "sequences": {"billing": 10**9}, "at": "2026-11-30T10:44:07Z"})
        )


def test_a_socket_without_a_session_is_closed_with_its_own_code(site: Site) -> None:
    with socket_of(site, None) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401


def test_a_socket_from_another_site_is_refused(site: Site) -> None:
    with pytest.raises(InvalidStatus):
        socket_of(site, site.world.ines, origin="https://elsewhere.example")


def test_a_page_that_speaks_is_closed(site: Site) -> None:
    with socket_of(site, site.world.ines) as socket:
        heard_until(socket, "hello")
        socket.send("{}")
        with pytest.raises(ConnectionClosed) as closed:
            heard_until(socket, "never")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_nothing_of_a_pool_reaches_somebody_without_a_right_in_it(site: Site) -> None:
    with socket_of(site, site.world.stranger) as stranger, socket_of(site, site.world.ines) as ines:
        assert heard_until(stranger, "hello")["sequences"] == {}
        assert set(heard_until(ines, "hello")["sequences"]) == {"billing"}
        task = site.commit(lambda: site.world.write("Live: for those who may know"))
        hint = heard_until(ines, "hints")
        assert hint["hints"] == [{"pool": "billing", "task": str(task.pk), "verbs": ["create"]}]
        with pytest.raises(TimeoutError):
            stranger.recv(timeout=1)
