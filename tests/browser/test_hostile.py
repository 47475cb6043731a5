"""A corpus of hostile evidence, opened through every viewer: nothing runs, nothing is asked of another origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request

from claims import transitions
from claims.canonical import Item
from claims.decide import Judgement
from claims.models import Delivery, Task
from claims.outcomes import Delivered
from claims.transitions import Account, StagedResult
from tests.browser.conftest import Open, Site
from tests.browser.hostile import payloads
from tests.browser.test_decision import Desk, desk
from tests.support import deliveries
from tests.unit.reviews.world import as_person, done

__all__ = ["desk"]
MOST_PAYLOADS_A_DELIVERY = 50
ALL_LOADED_MS = 120_000
"""Time for some forty parts of a page to load at once on a busy machine."""
WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective + ' ' + event.blockedURI));
"""
FOREIGN = """() => {
  const found = [];
  for (const el of document.querySelectorAll('*')) {
    if (['IFRAME', 'OBJECT', 'EMBED', 'STYLE', 'BASE', 'PORTAL', 'MATH', 'VIDEO', 'FOREIGNOBJECT'].includes(el.tagName.toUpperCase())) found.push(el.tagName);
    if (el.tagName === 'SCRIPT' && !el.src.startsWith(location.origin + '/static/')) found.push('script ' + el.src);
    for (const { name, value } of el.attributes) {
      if (name.startsWith('on') || name === 'srcdoc' || name.startsWith('hx-on')) found.push(el.tagName + ' ' + name);
      if (['src', 'href', 'action', 'formaction', 'data-live', 'hx-get'].includes(name) && !/^([/#?]|\\.?$)/.test(value) && !value.startsWith(location.origin + '/')) found.push(name + '=' + value);
      if (['src', 'href', 'action', 'formaction', 'hx-get'].includes(name) && value.startsWith('//')) found.push(name + '=' + value);
    }
  }
  return found;
}"""


def item_of(payload: payloads.Payload, number: int) -> tuple[Item, bytes]:
    words = payloads.MARKDOWN[number % len(payloads.MARKDOWN)]
    meta: dict[str, Any] = {}
    if payload.kind == "command":
        meta = {"command": words, "cwd": words, "exitCode": number % 3, "startedAt": words}
    if payload.kind == "screenshot":
        meta = {"width": 390, "page": words}
    return deliveries.item(payload.name, payload.kind, payload.content, (1,), **meta)


def hand_in(site: Site, task: Task, fence: Any, items: Sequence[tuple[Item, bytes]]) -> Delivery:
    """A delivery whose agent's words are hostile too."""
    agent = site.world.agents["agent-7"]
    for one, content in items:
        deliveries.evidence.keep([content], one.sha256, max(1, len(content)))
        transitions.add_file(deliveries.worker(agent), fence, one.sha256, one.size, one.media_type)
    words = "\n".join(payloads.MARKDOWN)
    account = Account(words, payloads.MARKDOWN[4][:140], {"1": words, "2": payloads.MARKDOWN[0]})
    staged = StagedResult({"note": words}, [one for one, _ in items])
    outcome = transitions.deliver(
        deliveries.worker(agent), fence, str(task.input_digest), None, account, staged
    )
    assert isinstance(outcome, Delivered), outcome
    return Delivery.objects.get(pk=outcome.delivery_id)


def two_rounds(site: Site, part: Sequence[tuple[Item, bytes]]) -> list[Delivery]:
    """The same hostile evidence in two rounds, the second with another diff: compared with itself as well."""
    hostile = payloads.diff()
    task = deliveries.new_task(site.world.billing, f"<script>{payloads.RUN}</script>", reviewer="ines")
    diff = deliveries.item("diff", "diff", hostile.content, (1,))
    first = hand_in(site, task, deliveries.granted(task, site.world.agents["agent-7"]), [diff, *part])
    judged = Judgement(first.subject_digest, {}, payloads.MARKDOWN[2], payloads.MARKDOWN[4])
    done(transitions.request_changes(as_person(site.world.ben), first.pk, judged))
    other = hostile.content.replace(b"isAdmin", b"is</td><script>window.hit=1</script>Admin")
    fence = deliveries.next_fence(task)
    task.refresh_from_db()
    return [first, hand_in(site, task, fence, [deliveries.item("diff", "diff", other, (1,)), *part])]


def parts() -> list[list[tuple[Item, bytes]]]:
    every = [item_of(payload, number) for number, payload in enumerate(payloads.evidence())]
    return [
        every[at : at + MOST_PAYLOADS_A_DELIVERY] for at in range(0, len(every), MOST_PAYLOADS_A_DELIVERY)
    ]


class Watch:
    """What a page did that it should not have."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page, self.site, self.amiss = page, site, []  # type: ignore[var-annotated]
        page.add_init_script(WATCH)
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        page.on("popup", lambda popup: self.amiss.append(f"popup {popup.url}"))

    def _dialog(self, dialog: Any) -> None:
        self.amiss.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.site.url, "data:", "blob:", "about:")):
            self.amiss.append(f"request {request.url}")

    def look(self, where: str) -> None:
        """After the page has settled: no mark of a payload, no refused load, nothing foreign in the document."""
        state = self.page.evaluate("() => [window.hit ?? null, window.violations, document.title]")
        assert state[0] is None, where
        assert state[1] == [], where
        assert self.page.evaluate(FOREIGN) == [], where
        assert self.amiss == [], where

    def visit(self, address: str) -> None:
        self.page.goto(address)
        self.look(address)


def test_the_corpus_has_at_least_a_hundred_payloads() -> None:
    assert payloads.count() >= 100
    assert len({payload.name for payload in payloads.evidence()}) == len(payloads.evidence())


@pytest.mark.parametrize("number", range(len(parts())))
def test_hostile_evidence_runs_nothing_in_any_viewer(
    site: Site, desk: Desk, open_page: Open, number: int
) -> None:
    first, second = site.commit(lambda: two_rounds(site, parts()[number]))
    page = open_page("/reviews", who=site.world.ines)
    watch = Watch(page, site)
    base = f"/reviews/{second.pk}"
    for address in (
        "/reviews",
        base,
        f"{base}?view=split&w=1",
        f"{base}?tab=shots&mode=before",
        f"{base}/compare",
    ):
        watch.visit(address)
    for address in (f"/reviews/{first.pk}", f"/reviews/{first.pk}/draft", f"{base}/sheet/changes"):
        watch.visit(address)
    watch.visit(f"{base}?path=%3Cscript%3Ealert(1)%3C/script%3E&tests=%3Csvg%3E&base=%22%3E")
    watch.visit(base)
    page.evaluate(
        "() => document.querySelectorAll('[data-load], [data-unfold]').forEach((link) => link.click())"
    )
    page.wait_for_function("() => !document.querySelector('main [aria-busy]')", timeout=ALL_LOADED_MS)
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.locator("[data-tab-link=shots]").click()
    for key in ("1", "2", "w", "b", "b", "s", "s"):
        page.keyboard.press(key)
    page.mouse.move(600, 500)
    watch.look("after every viewer was used")
    for number_of_command in range(1, 4):
        watch.visit(f"{base}/commands/{number_of_command}?find=%3Cscript")
    for index in range(6):
        watch.visit(f"{base}/diff/{index}?whole=1&view=split")


@pytest.mark.parametrize("number", range(len(parts())))
def test_hostile_bytes_are_downloads_that_no_browser_opens(
    site: Site, desk: Desk, open_page: Open, number: int
) -> None:
    part = parts()[number]
    _, second = site.commit(lambda: two_rounds(site, part))
    page = open_page("/reviews", who=site.world.ines)
    watch = Watch(page, site)
    watch.visit("/reviews")
    for item, _ in part:
        address = f"/reviews/{second.pk}/files/{item.sha256}"
        answer = page.request.get(address)
        assert answer.headers["content-disposition"].startswith("attachment"), item.name
        assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        name = answer.headers["content-disposition"].partition("filename=")[2].strip('"')
        assert "/" not in name
        if item.kind == "screenshot":
            picture = page.request.get(f"/reviews/{second.pk}/shots/{item.sha256}.png")
            assert picture.status == 404 or picture.body().startswith(b"\x89PNG")
            assert b"script" not in picture.body() or picture.status == 404
    with page.expect_download() as started:
        page.evaluate("(href) => { location.href = href; }", f"/reviews/{second.pk}/bundle.zip")
    assert started.value.suggested_filename.endswith(".zip")
    assert urlsplit(page.url).path == "/reviews"
    watch.look("after the downloads")
    open_page.errors.clear()  # type: ignore[attr-defined]  # the pictures that are none were answered 404
