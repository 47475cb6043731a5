"""While a reviewer types, something happens elsewhere: no typed word is lost, and nothing stale is accepted.

Twelve races a run, every happening with and without script; `scripts/test --long` runs two hundred.
`FENCEPOST_SEED` draws others; a failure prints its seed and number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Page, expect
from playwright.sync_api import TimeoutError as TooLate

from claims.models import Membership
from tests.browser import racing
from tests.browser.conftest import Open, Site, session_cookie
from tests.browser.test_decision import Desk, desk

__all__ = ["desk"]
RACES = 200 if os.environ.get("FENCEPOST_LONG") else 12
PATIENCE_MS = 10_000
LOCKED_MS = 2_000
"""How long a button may take to be found, where a round that moved may have taken it away."""
VALUES = "() => [document.body?.innerText ?? '', ...[...document.querySelectorAll('textarea, input')].map((one) => one.value)].join('\\n')"


class Race:
    """One race in a browser."""

    def __init__(self, site: Site, page: Page, plan: racing.Plan, on: racing.Ground) -> None:
        self.site, self.page, self.plan, self.on = site, page, plan, on
        self.tabs = [page]
        self.has_happened = False

    def happen(self) -> None:
        """Once, and to the end."""
        if not self.has_happened:
            self.has_happened = True
            self.site.commit(partial(racing.HAPPENINGS[self.plan.what], self.on))

    def type(self, selector: str, what: str, happens: bool) -> None:
        """A word of its own, with the happening in its midst."""
        word = self.on.word(what)
        field = self.page.locator(selector)
        field.click(timeout=LOCKED_MS)
        field.press_sequentially(word[:4])
        if happens:
            self.happen()
        field.press_sequentially(word[4:])

    def step(self, name: str, happens: bool) -> None:
        """Type one thing; a field that a superseded round has taken away is not typed in."""
        before = len(self.on.words)
        try:
            self._step(name, happens)
        except TooLate:
            if not self.has_happened:
                raise
            del self.on.words[before:]

    def _step(self, name: str, happens: bool) -> None:
        if name == "comment":
            self._open_talk()
            self.type("#say-it", "comment", happens)
        elif name == "note":
            number = 1 if self.plan.accepts else racing.CRITERIA
            self.page.locator(f"[data-crit='{number}'] [data-v=cant]").click(timeout=LOCKED_MS)
            self.type(f"#n{number}", "note", happens)
            if self.plan.accepts:
                self.page.locator(f"[data-crit='{number}'] [data-v=met]").click(timeout=LOCKED_MS)
        elif name.startswith("met"):
            self.page.locator(f"[data-crit='{name[-1]}'] [data-v=met]").click(timeout=LOCKED_MS)
        else:
            number = int(name.split()[1])
            self.page.locator(f"[data-crit='{number}'] [data-v=not]").click(timeout=LOCKED_MS)
            self.type(f"#n{number}", name, happens)

    def _open_talk(self) -> None:
        if self.plan.has_script:
            self.page.locator("[data-tab-link=talk]").click()

    def judge_the_rest(self) -> None:
        """Every criterion is met, where the plan accepts."""
        if not self.plan.accepts:
            return
        for number in range(1, racing.CRITERIA + 1):
            self.step(f"met {number}", happens=False)

    def end(self) -> None:
        {"submit": self.submit, "submit at once": self.submit, "save": self.save, "reload": self.page.reload,
         "back": self.there_and_back, "second tab": self.second_tab}[self.plan.ending]()  # fmt: skip

    def submit(self) -> None:
        """Through the sheet, with a word of the decision's own; where the round moved there is none to go through."""
        sheet = "accept" if self.plan.accepts else "changes"
        try:
            # Without script the button is as it was drawn, before anything was judged, and leads on all the same.
            self.page.locator(f".foot [data-sheet={sheet}]").click(
                timeout=LOCKED_MS if self.has_happened else PATIENCE_MS, force=not self.plan.has_script
            )
            note = self.page.locator(f"#note-{sheet}")
            note.wait_for(timeout=LOCKED_MS if self.has_happened else PATIENCE_MS)
        except TooLate:
            assert self.has_happened, str(self.plan)
            return
        word = self.on.word("decision")
        note.press_sequentially(word)
        self._send(sheet)

    def _send(self, sheet: str) -> None:
        at_once = None
        if self.plan.ending == "submit at once" and not self.has_happened:
            at_once = self.site.thread.submit(racing.HAPPENINGS[self.plan.what], self.on)
        try:
            self.page.locator(f"#sheet-{sheet} [data-decides]").click(timeout=LOCKED_MS)
        except TooLate:
            assert self.has_happened or at_once is not None, str(self.plan)
        if at_once is not None:
            at_once.result(30)

    def save(self) -> None:
        self.page.get_by_role("button", name="Save my draft").click()

    def there_and_back(self) -> None:
        self.page.goto("/help/problems")
        self.page.go_back()

    def second_tab(self) -> None:
        tab = self.page.context.new_page()
        tab.goto(self.page.url)
        self.tabs.append(tab)

    def settle(self) -> None:
        """What was revoked is given back, who was signed out signs in again and comes back to the round."""
        if self.plan.what == "rights revoked":
            self.site.commit(partial(racing.given_back, self.on))
        if self.plan.what == "signed out":
            sign_in(self.site, self.page.context, self.on)

    def lost(self) -> list[str]:
        """The words that are neither on a page nor with the server."""
        seen = "\n".join(tab.evaluate(VALUES) for tab in self.tabs)
        there = seen + self.site.commit(partial(racing.kept, self.on))
        return [word for word in self.on.words if word not in there]


def sign_in(site: Site, context: BrowserContext, on: racing.Ground) -> None:
    cookie = site.commit(partial(session_cookie, on.rae))
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": site.url}])


def eventually(found: Callable[[], list[str]], page: Page) -> list[str]:
    """What is still missing when the page had time to send what it had not."""
    for _ in range(PATIENCE_MS // 250):
        missing = found()
        if not missing:
            return []
        page.wait_for_timeout(
            250
        )  # the page's own timer sends: there is no sign of it that holds in every race
    return missing


@pytest.mark.parametrize("number", range(RACES))
def test_no_typed_word_is_lost_and_nothing_stale_is_accepted(
    site: Site, desk: Desk, open_page: Open, number: int
) -> None:
    plan = racing.plan(number)
    on = site.commit(partial(racing.prepared, site.world, number))
    tab = "" if plan.has_script else "?tab=talk"
    page = open_page(f"/reviews/{on.delivery.pk}{tab}", who=on.rae, script=plan.has_script)
    page.set_default_timeout(PATIENCE_MS)
    race = Race(site, page, plan, on)
    waits = plan.ending == "submit at once"
    for at, name in enumerate(plan.steps):
        race.step(name, happens=at == plan.at and not waits)
    race.judge_the_rest()
    race.end()
    is_before = race.has_happened
    lost = eventually(race.lost, page)
    if lost:
        race.settle()
        page.goto(f"/reviews/{on.delivery.pk}")
        lost = eventually(race.lost, page)
    assert lost == [], str(plan)
    assert site.commit(lambda: list(racing.flaws(on, is_before, plan.what))) == [], str(plan)
    assert re.search(r"/(reviews|help|signin)", page.url), str(plan)
    expect(page.locator("body")).to_be_visible()
    unexpected = [text for text in open_page.errors if "status of" not in text]  # type: ignore[attr-defined]
    assert unexpected == [], str(plan)
    # The pages of the tests after this one show their people only what was there before.
    site.commit(lambda: Membership.objects.filter(pool=on.pool).delete())
