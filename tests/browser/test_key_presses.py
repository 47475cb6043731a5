"""The desk's promise to hands: a whole review takes at most forty key presses, and a reload in its midst costs none."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from claims.models import Delivery, Task
from claims.vocabulary import State
from tests.browser.conftest import Open, Site
from tests.browser.test_decision import Desk, desk
from tests.support import courses

__all__ = ["desk"]


@pytest.fixture
def delivery(site: Site, desk: Desk) -> Delivery:
    world = site.world
    made: Delivery = site.commit(
        lambda: courses.delivery_to_judge(world.billing, world.agents["agent-7"], world.ines)
    )
    return made


def test_six_criteria_and_twelve_files_are_judged_and_accepted_in_at_most_forty_key_presses(
    site: Site, open_page: Open, delivery: Delivery
) -> None:
    keys = courses.Keyboard(open_page(f"/reviews/{delivery.pk}", who=site.world.ines))
    courses.look_at_everything(keys)
    courses.judge(keys)
    courses.accept(keys)
    assert keys.presses <= courses.MOST_PRESSES
    assert site.commit(lambda: Task.objects.get(pk=delivery.task_id).state) == State.DONE


def test_a_reload_right_after_the_last_key_loses_no_verdict(
    site: Site, open_page: Open, delivery: Delivery
) -> None:
    page = open_page(f"/reviews/{delivery.pk}", who=site.world.ines)
    keys = courses.Keyboard(page)
    for _ in range(courses.CRITERIA - 1):
        keys.press("y")
    keys.press("n")
    page.keyboard.type("The last part")
    page.reload()
    expect(page.locator("[data-judged]")).to_have_text("6 of 6 judged")
    expect(page.get_by_label("Why not met")).to_have_value("The last part")
