"""The viewers of evidence in Chromium: parts that load where they stand, views and modes that switch in place."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from claims import transitions
from claims.decide import Judgement
from claims.models import Delivery, Task
from tests.browser.conftest import Open, Site
from tests.browser.judging import flaws
from tests.browser.test_decision import Desk, desk
from tests.support import deliveries
from tests.unit.reviews.world import as_person, done

__all__ = ["desk"]


def file_of(path: str, lines: int) -> str:
    body = "".join(f"+value_{number} = {number}\n" for number in range(lines))
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n{body}"


def items_of(label: str, diff: bytes, lines: int) -> list[Any]:
    log = b"".join(b"\x1b[32mstep\x1b[0m %d\n" % number for number in range(1, lines + 1))
    report = b'<testsuite><testcase name="test_a"/><testcase name="test_b"/></testsuite>'
    if label != "first":
        report = b'<testsuite><testcase name="test_a"><failure message="no"/></testcase><testcase name="test_c"/></testsuite>'
    return [
        deliveries.item("diff", "diff", diff, (1,)),
        deliveries.item("long", "command", log, (2,), command="make all", exitCode=1),
        deliveries.item("report", "test-report", report, (2,)),
        deliveries.item(
            "home-390", "screenshot", deliveries.picture(390, label=label), (3,), page="/", width=390
        ),
        deliveries.item(
            "home-1280", "screenshot", deliveries.picture(1280, label=label), (3,), page="/", width=1280
        ),
    ]


@pytest.fixture
def rounds(site: Site, desk: Desk) -> tuple[Delivery, Delivery]:
    """Many files, one of them large, and a long output."""
    return site.commit(lambda: two_rounds(site, 8, 1_000))


def two_rounds(site: Site, files: int, lines: int) -> tuple[Delivery, Delivery]:
    """Two rounds with weak evidence: that many files and lines of output, pictures that changed."""
    agent = site.world.agents["agent-7"]
    task = deliveries.new_task(site.world.billing, "Billing page: viewers", reviewer="ines")
    parts = "".join(file_of(f"app/part{number}/models.py", 40) for number in range(files))
    diff = (deliveries.DIFF.decode() + parts + file_of("app/large.py", 2_000)).encode()
    first = deliveries.deliver(task, agent, items=items_of("first", diff, lines))
    judged = Judgement(first.subject_digest, {}, "Once more.", "Ines is away.")
    done(transitions.request_changes(as_person(site.world.ben), first.pk, judged))
    task = Task.objects.get(pk=task.pk)
    other = diff.replace(b"value_7 = 7\n", b"value_7 = 70\n")
    return first, deliveries.deliver(
        task, agent, deliveries.next_fence(task), items_of("second", other, lines)
    )


def test_every_viewer_is_accessible_and_fits_its_width(site: Site, desk: Desk, open_page: Open) -> None:
    _, second = site.commit(lambda: two_rounds(site, 1, 120))
    page = open_page("/reviews", who=site.world.ines)
    for address in (
        "?view=split&tab=diff", "?tab=shots&mode=before#shots", "?tab=shots&mode=swipe#shots",
        "?tab=shots&mode=overlay#shots", "?tab=shots&mode=before&zoom=200#shots",
        "?tab=tests#tests", "/commands/1?line=60&tab=commands#cmd-1", "/compare",
    ):  # fmt: skip
        page.goto(f"/reviews/{second.pk}{address}")
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        assert flaws(page) == [], address


def test_flags_stand_first_and_lead_to_what_they_mean(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}", who=site.world.ines)
    flags = page.get_by_role("region", name="What is weak about this evidence")
    expect(flags).to_contain_text("long ended with 1, by the agent's account.")
    expect(flags).to_contain_text("1 file excluded by the task: data/plans.json")
    flags.get_by_role("link", name="long ended with 1").click()
    expect(page.locator("#commands")).to_be_visible()


def test_files_load_as_they_are_reached_and_large_ones_when_asked(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}", who=site.world.ines)
    last = page.locator("[data-path='app/part7/models.py']")
    last.scroll_into_view_if_needed()
    expect(last.get_by_text("value_39 = 39")).to_be_visible()
    large = page.locator("[data-path='app/large.py']")
    expect(large).to_contain_text("2,000 changed lines")
    large.locator("summary").click()
    expect(large.get_by_text("value_399 = 399")).to_be_visible()
    large.get_by_role("link", name="Go on from there").click()
    expect(large.get_by_text("value_400 = 400")).to_be_visible()


def test_s_draws_the_diff_split_and_unified_where_it_stands(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}", who=site.world.ines)
    expect(page.locator("#f0 table.uni")).to_be_visible()
    page.keyboard.press("s")
    expect(page.locator("#f0 table.split")).to_be_visible()
    page.reload()
    expect(page.locator("#f0 table.split")).to_be_visible()
    page.keyboard.press("s")
    expect(page.locator("#f0 table.uni")).to_be_visible()


def test_v_marks_a_file_and_the_server_keeps_the_count(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}", who=site.world.ines)
    with page.expect_response(lambda answer: answer.url.endswith("/viewed")):
        page.keyboard.press("v")
    expect(page.locator("[data-viewed-count]")).to_have_text("1")
    page.reload()
    expect(page.get_by_text("1 of 12 viewed")).to_be_visible()


def test_a_file_is_found_as_its_path_is_typed(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}", who=site.world.ines)
    page.keyboard.press("f")
    page.keyboard.type("part3")
    expect(page.locator(".tree [data-for]:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("[data-file]")).to_have_count(1)
    page.get_by_role("link", name="All files").click()
    expect(page.locator("[data-file]")).to_have_count(12)


def test_pictures_switch_in_place_by_key(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}?tab=shots#shots", who=site.world.ines)
    shots = page.locator("#shots")
    expect(shots.locator("figure[data-width='1280'] .now img")).to_be_visible()
    page.keyboard.press("1")
    expect(shots.locator("figure[data-width='1280']")).to_be_hidden()
    page.keyboard.press("2")
    expect(shots.locator("figure[data-width='390']")).to_be_hidden()
    page.keyboard.press("w")
    expect(shots.locator("figure[data-width='390'] .then")).to_be_visible()
    shots.locator("figure[data-width='390'] [data-cut]").fill("80")
    assert "80%" in shots.locator("figure[data-width='390'] .now").evaluate(
        "(el) => getComputedStyle(el).clipPath"
    )
    page.keyboard.press("b")
    expect(shots.locator("figure[data-width='390'] .now")).to_be_visible()
    page.keyboard.press("b")
    expect(shots.locator("figure[data-width='390'] .now")).to_be_hidden()
    expect(shots.locator("figure[data-width='390'] .on-then")).to_have_text("round 1")
    shots.get_by_role("link", name="Side by side").click()
    expect(shots.locator(".then").first).to_be_hidden()


BOX = "figure[data-width='390'] .frames"
WIDE = "figure[data-width='1280'] .frames"
WIDTH_OF = "(image) => image.getBoundingClientRect().width"
BOTH_AT_ONE_PLACE = """(box) => {
  const [now, then] = [".now img", ".then img"].map((one) => box.querySelector(one).getBoundingClientRect());
  return now.x === then.x && now.y === then.y && now.width === then.width && now.height === then.height;
}"""
"""In one look: a box that still scrolls would have moved between two."""
SWITCHES = """async (labels) => {
  const took = [];
  for (const label of labels) {
    const link = [...document.querySelectorAll("#shots .seg a")].find((one) => one.textContent === label);
    const at = performance.now();
    link.click();
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    took.push(performance.now() - at);
  }
  return took;
}"""
"""How long each press takes to the end of the frame that shows what it asked for, in ms."""


DRAWN = """(box) => Promise.all([...box.querySelectorAll("img")].map((image) => { image.loading = "eager"; return image.decode(); }))
 .then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))"""


def pixels(box: Locator) -> Image.Image:
    """What is drawn there, once all its pictures are."""
    box.evaluate(DRAWN)
    return Image.open(io.BytesIO(box.screenshot())).convert("RGB")


def darkest_share(picture: Image.Image) -> float:
    """The share of its pixels that are black."""
    black = sum(count for count, colour in picture.getcolors(2**24) or [] if max(colour) < 8)
    return black / (picture.width * picture.height)


def sized(page: Page, label: str) -> None:
    page.get_by_role("navigation", name="Size").get_by_role("link", name=label).click()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_overlay_lights_up_what_differs_and_a_slider_shows_the_other_round_through(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open, theme: str
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}?tab=shots#shots", who=site.world.ines, theme=theme)
    shots = page.locator("#shots")
    shots.get_by_role("link", name="Overlay").click()
    expect(shots.locator(".as-differing")).to_be_visible()
    expect(shots.locator("[data-cut]").first).to_be_hidden()
    apart = pixels(shots.locator(BOX))
    assert 0.9 < darkest_share(apart) < 1
    assert max(high for _, high in apart.getextrema()) > 200  # type: ignore[misc]

    shots.get_by_label("Differences alone").uncheck()
    expect(shots.locator(".as-mixed")).to_be_visible()
    assert darkest_share(pixels(shots.locator(BOX))) < 0.5
    slider = shots.get_by_label("How strongly round 1 shows through round 2, home-390")
    slider.fill("80")
    opacity = shots.locator(f"{BOX} .now img").evaluate("(el) => getComputedStyle(el).opacity")
    assert float(opacity) == pytest.approx(0.2)
    page.reload()
    expect(shots.get_by_role("link", name="Overlay")).to_have_attribute("aria-current", "true")


def test_pictures_scroll_in_their_own_box_in_their_own_pixels(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}?tab=shots&mode=swipe#shots", who=site.world.ines, width=390)
    wide, now = page.locator(WIDE), page.locator(f"{WIDE} .now img")
    assert wide.get_attribute("tabindex") is None
    for label, factor in (("100", 1), ("200", 2)):
        sized(page, label)
        expect(now).to_have_js_property("complete", True)
        assert now.evaluate(WIDTH_OF) == 1280 * factor
        assert wide.evaluate(BOTH_AT_ONE_PLACE)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        wide.focus()
        before = wide.evaluate("(box) => box.scrollLeft")
        page.keyboard.press("ArrowRight")
        expect(wide).not_to_have_js_property("scrollLeft", before)
    page.reload()
    expect(page.get_by_role("link", name="200")).to_have_attribute("aria-current", "true")
    sized(page, "Fit")
    assert wide.get_attribute("tabindex") is None
    assert now.evaluate(WIDTH_OF) < 390


def test_a_picture_has_its_place_before_it_has_come(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page("/reviews", who=site.world.ines)
    page.route("**/shots/**", lambda route: route.fulfill(content_type="image/png", body=b""))
    for mode in ("before", "overlay"):
        for zoom, factor in (("100", 1), ("200", 2)):
            page.goto(f"/reviews/{rounds[1].pk}?tab=shots&mode={mode}&zoom={zoom}#shots")
            picture = page.locator("figure[data-width='390'] .now img")
            assert picture.evaluate("(image) => image.naturalWidth") == 0
            assert picture.evaluate(WIDTH_OF) == 390 * factor


def test_a_comment_points_at_the_same_place_however_large_the_picture_is(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}?tab=shots&mode=overlay&zoom=200#shots", who=site.world.ines)
    figure = page.locator("figure[data-width='390']")
    figure.get_by_role("link", name="Comment on a point").click()
    now = figure.locator(".now")
    size = now.evaluate("(el) => [el.clientWidth, el.clientHeight]")
    assert size[0] == 390 * 2
    now.click(position={"x": size[0] / 4, "y": size[1] / 8})
    page.locator("#say-it").fill("The title moved.")
    page.get_by_role("button", name="Add comment").click()
    expect(page.locator("[data-said] textarea")).to_have_value("The title moved.")
    page.goto(f"/reviews/{rounds[1].pk}?tab=shots&mode=overlay#shots")
    pin = page.locator("figure[data-width='390'] [data-pins] > svg")
    for label in ("Fit", "100", "200"):
        sized(page, label)
        picture = now.locator("img").bounding_box()
        circle = pin.locator("circle").bounding_box()
        assert picture
        assert circle
        across = (circle["x"] + circle["width"] / 2 - picture["x"]) / picture["width"]
        down = (circle["y"] + circle["height"] / 2 - picture["y"]) / picture["height"]
        assert (across, down) == (pytest.approx(0.25, abs=0.01), pytest.approx(0.125, abs=0.01))


def test_modes_and_sizes_change_within_fifty_milliseconds(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}?tab=shots#shots", who=site.world.ines)
    labels = ["Overlay", "100\N{NO-BREAK SPACE}%", "200\N{NO-BREAK SPACE}%", "Fit"]
    page.evaluate(SWITCHES, labels)
    took = [page.evaluate(SWITCHES, labels) for _ in range(5)]
    assert all(min(times) < 50 for times in zip(*took, strict=True)), took


def test_a_colleague_who_opens_the_same_round_is_named_without_a_word_over_the_socket(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page("/reviews", who=site.world.ines)
    sockets: list[Any] = []
    spoken: list[Any] = []

    def heard(socket: Any) -> None:
        socket.on_message(lambda message: spoken.append(message))
        sockets.append(socket)

    page.route_web_socket("**/ws", heard)
    page.goto(f"/reviews/{rounds[1].pk}")
    expect(page.locator("#presence")).to_be_hidden()
    other = open_page(f"/reviews/{rounds[1].pk}", who=site.world.ben)
    expect(other.get_by_text("Ines Halvorsen is also reviewing")).to_be_visible()
    beat = json.dumps({"type": "beat", "sequences": {}, "at": "2026-11-30T10:44:07Z"})
    page.locator("[data-live-dot][data-state=still]").wait_for()
    for _ in range(3):
        sockets[-1].send(beat)
    expect(page.get_by_text("Ben Okafor is also reviewing")).to_be_visible()
    assert spoken == []
    assert flaws(page) == []


def test_an_output_unfolds_and_is_searched_where_it_stands(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}?tab=commands#commands", who=site.world.ines)
    command = page.locator("#cmd-1")
    expect(command.locator("[id='o1-1000']")).to_be_visible()
    command.get_by_role("link", name="lines folded").click()
    expect(command.locator("[id='o1-41']")).to_be_visible()
    command.get_by_role("searchbox").fill("STEP 77")
    command.get_by_role("button", name="Find").click()
    expect(command).to_contain_text("11 lines hold “STEP 77”.")
    expect(command.locator("[id='o1-777']")).to_be_visible()
    command.locator("[id='o1-777'] a").click()
    assert page.url.endswith("#o1-777")


def test_without_script_every_view_is_a_link(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}", who=site.world.ines, script=False)
    page.get_by_role("link", name="Split", exact=True).click()
    expect(page.locator("#f0 table.split")).to_be_visible()
    page.locator("[data-path='app/large.py'] summary").click()
    page.locator("[data-path='app/large.py']").get_by_role("link", name="Load this file").click()
    expect(page.get_by_text("value_399 = 399").last).to_be_visible()
    page.locator("[data-tab-link=shots]").click()
    page.get_by_role("link", name="Before and after").click()
    expect(page.locator("figure .then").first).to_be_visible()
    expect(page.get_by_role("link", name="Overlay")).to_be_hidden()
    page.get_by_role("link", name="200").click()
    expect(page.get_by_role("link", name="Before and after")).to_have_attribute("aria-current", "true")
    assert page.locator(f"{BOX} .now img").evaluate(WIDTH_OF) == 780
    page.goto(f"/reviews/{rounds[1].pk}?tab=tests")
    page.get_by_role("link", name="Newly failing 1").click()
    expect(page.locator("#tests tbody tr")).to_have_count(1)


def test_two_rounds_beside_each_other_show_what_differs_alone(
    site: Site, rounds: tuple[Delivery, Delivery], open_page: Open
) -> None:
    page = open_page(f"/reviews/{rounds[1].pk}/compare", who=site.world.ines)
    expect(page.get_by_text("value_7 = 70").first).to_be_visible()
    expect(page.get_by_text("value_8 = 8").first).to_be_visible()
    expect(page.get_by_text("value_20 = 20")).to_have_count(0)
    expect(page.get_by_text("newly failing").first).to_be_visible()
