"""A review ends in its canonical commit without script, without a socket, and with Valkey stopped."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from claims.models import CanonicalCommit, Delivery
from tests.browser.conftest import Open, Site, environment_of, free_port, start, stop, wait_until_ready
from tests.browser.test_decision import Desk, desk

__all__ = ["desk"]
UVICORN = ["uvicorn", "config.asgi:application", "--host", "127.0.0.1", "--log-level", "warning", "--port"]


@pytest.fixture
def without_valkey(site: Site) -> Iterator[str]:
    """Another `web` on the same database, whose Valkey is not there."""
    port = free_port()
    environment = environment_of(port, site.var) | {
        "FENCEPOST_REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"
    }
    log = site.var / "web-without-valkey.log"
    process = start([sys.executable, "-m", *UVICORN, str(port)], environment, log)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}/healthz", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        stop(process)


def accept_by_keyboard(page: Page) -> None:
    """Four criteria are met, and the sheet is sent."""
    for _ in range(4):
        page.keyboard.press("y")
    expect(page.locator("[data-judged]")).to_have_text("4 of 4 judged")
    page.keyboard.press("a")
    expect(page.get_by_role("dialog", name="Accept round 1")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Ines Halvorsen accepted round 1")).to_be_visible()


def commits_of(site: Site, delivery: Delivery) -> list[object]:
    """The deliveries that the canonical commits of its task name."""
    found: list[object] = site.commit(
        lambda: list(
            CanonicalCommit.objects.filter(task_id=delivery.task_id).values_list("delivery_id", flat=True)
        )
    )
    return found


def test_without_script_a_review_goes_from_the_inbox_to_its_commit(
    site: Site, desk: Desk, open_page: Open
) -> None:
    delivery = desk.first(title="Without script")
    page = open_page("/reviews", who=site.world.ines, script=False)
    page.locator(f"a[href='/reviews/{delivery.pk}']").first.click()
    for number in range(1, 5):
        page.locator(f"[data-crit='{number}'] [data-v=met] input").check()
    page.locator(".foot [data-sheet=accept]").click(force=True)  # drawn before anything was judged
    page.locator("#sheet-accept [data-decides]").click()
    expect(page.get_by_role("heading", name="Ines Halvorsen accepted round 1")).to_be_visible()
    assert commits_of(site, delivery) == [delivery.pk]


def test_without_a_socket_a_review_ends_in_its_commit(site: Site, desk: Desk, open_page: Open) -> None:
    delivery = desk.first(title="Without a socket")
    page = open_page("/reviews", who=site.world.ines)
    page.route_web_socket("**/ws", lambda socket: socket.close())
    page.goto(f"/reviews/{delivery.pk}")
    accept_by_keyboard(page)
    assert commits_of(site, delivery) == [delivery.pk]


def test_with_valkey_stopped_a_review_ends_in_its_commit(
    site: Site, desk: Desk, open_page: Open, without_valkey: str
) -> None:
    delivery = desk.first(title="With Valkey stopped")
    page = open_page(f"{without_valkey}/reviews", who=site.world.ines)
    page.goto(f"{without_valkey}/reviews/{delivery.pk}")
    accept_by_keyboard(page)
    assert commits_of(site, delivery) == [delivery.pk]
    page.context.close()
    open_page.errors.clear()  # type: ignore[attr-defined]  # what the socket said about the Valkey that is away
