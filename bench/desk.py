"""The decision page under somebody's hands: a review by keyboard in Chromium, the one that tests/browser walks.

A time is taken in the page: from the moment a key went down to the end of the frame in which what it
means was drawn. Nothing else runs but PostgreSQL, Valkey, `web` and `relay`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management import call_command
from playwright.sync_api import Page, expect, sync_playwright

from bench import live
from bench.figures import Figure, Goal
from config.up.chromium import found_chromium
from tests.support import courses
from tests.unit.reviews.world import make_world

REVIEWS = 6
WORDS = "Not as asked: the last part still moves."
MOST_MS = {"verdict": 100, "mode": 50}
WATCH = """
window.drawn = [];
let pressed = null;
addEventListener("keydown", (event) => { pressed = [event.key, event.timeStamp]; }, true);
new MutationObserver(() => {
  if (!pressed) return;
  const [key, at] = pressed;
  pressed = null;
  requestAnimationFrame(() => setTimeout(() => window.drawn.push([key, performance.now() - at])));
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-v", "data-mode", "data-only", "data-turn"] });
"""


def measured() -> list[Figure]:
    """Judge several deliveries; the figures of pages.md."""
    call_command("collectstatic", interactive=False, verbosity=0)
    world = make_world()
    makes = (world.billing, world.agents["agent-7"], world.ines)
    made = [courses.delivery_to_judge(*makes) for _ in range(REVIEWS + 1)]
    cookie = live.sign_in(world.ines).partition("=")[2]
    presses, times = [], list[tuple[str, float]]()
    with live.web_and_relay() as port, reviewer(f"http://127.0.0.1:{port}", cookie) as page:
        for delivery in made[:-1]:
            page.goto(f"/reviews/{delivery.pk}")
            keys = courses.Keyboard(page)
            courses.look_at_everything(keys)
            courses.judge(keys)
            times += [(key, float(took)) for key, took in page.evaluate("() => window.drawn")]
            courses.accept(keys)
            presses.append(keys.presses)
        lost = lost_by_a_reload(page, f"/reviews/{made[-1].pk}")
    return [
        counted("desk: key presses of a review", max(presses), courses.MOST_PRESSES, "keys"),
        timed("desk: key to verdict shown", [took for key, took in times if key == "y"], MOST_MS["verdict"]),
        timed(
            "desk: picture mode", [took for key, took in times if key in courses.SHOT_KEYS], MOST_MS["mode"]
        ),
        counted("desk: lost by a reload", lost, 0, "verdicts and words"),
    ]


@contextmanager
def reviewer(url: str, cookie: str) -> Iterator[Page]:
    """A page of the reviewer at a desk of 1280 px."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found_chromium(), args=["--no-sandbox"])
        context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 900})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": url}])
        context.add_init_script(WATCH)
        yield context.new_page()
        browser.close()


def lost_by_a_reload(page: Page, address: str) -> int:
    """How many of six verdicts and one note are not there after a reload at the last key."""
    page.goto(address)
    keys = courses.Keyboard(page)
    for _ in range(courses.CRITERIA - 1):
        keys.press("y")
    keys.press("n")
    page.keyboard.type(WORDS)
    page.reload()
    expect(page.locator("[data-judged]")).to_be_visible()
    verdicts = page.locator("[data-crit] input[type=radio]:checked").count()
    notes = page.locator("[data-note] textarea").evaluate_all("(all) => all.map((one) => one.value)")
    return courses.CRITERIA - verdicts + (WORDS not in notes)


def counted(name: str, number: int, most: int, unit: str) -> Figure:
    """A figure that is a number of things."""
    return Figure(name, Goal(most, most, True, unit), str(number), "–", number)


def timed(name: str, times: list[float], most_ms: int) -> Figure:
    """A figure that is a time in ms: what nineteen of twenty presses stay below."""
    ordered = sorted(times)
    p50, p95 = ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100]
    words = f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"
    return Figure(name, Goal(most_ms, most_ms, True, "ms"), words, "–", p95, f"({len(ordered)} presses)")
