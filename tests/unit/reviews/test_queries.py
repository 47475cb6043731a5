"""Every page asks the database a fixed number of times: here, or in the tests of the page that are named here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver

from claims.models import Delivery, Task
from reviews import urls
from tests.support import deliveries
from tests.unit.reviews.effects.conftest import MAIL, prepared
from tests.unit.reviews.world import World

ROOT = Path(__file__).parents[3]
COUNTS = {
    "badges": ("/badges", 20),
    "board-columns": ("/board/columns", 22),
    "board-table": ("/board/table", 18),
    "reviews-bucket": ("/reviews/bucket/must", 17),
    "deputy": ("/account/deputy", 16),
    "password": ("/account/password", 13),
    "help-problems": ("/help/problems", 13),
    "help-problem": ("/help/problems/fenced", 13),
    "effect": ("/effects/{effect}", 21),
    "review-arrival": ("/reviews/{delivery}/arrival", 23),
    "review-sheet": ("/reviews/{delivery}/sheet/accept", 23),
    "review-file": ("/reviews/{delivery}/diff/0", 23),
    "review-command": ("/reviews/{delivery}/commands/1", 23),
    "review-compare": ("/reviews/{second}/compare", 20),
    "review-draft": ("/reviews/{first}/draft", 23),
    "nowhere": ("/no/such/page", 13),
}
"""Route, an address of it, and how many statements it takes for a reviewer and operator of one pool."""
ELSEWHERE = {
    "board": "test_board.py",
    "reviews": "test_inbox.py",
    "reviews-preview": "test_inbox_acting.py",
    "reviews-snooze": "test_inbox_acting.py",
    "reviews-hand-on": "test_inbox_acting.py",
    "review": "desk/test_page.py",
    "review-presence": "desk/test_present.py",
    "operations": "operations/test_page.py",
    "task": "test_taskpage.py",
    "task-tab": "test_taskpage.py",
    "task-deps": "test_graph_picture.py",
    "task-attempts": "test_attempts.py",
    "task-record": "test_record.py",
    "task-new": "writing/test_page.py",
    "task-import": "writing/test_page.py",
}
NO_PAGES = re.compile(
    r"^(start|signin|signout|preferences|task-like|task-from|task-record-file|task-(check|scope|preview|seat|publish))$|-(act|adopt|save|viewed|decide|settle|mark|pool|bytes|bundle|shot|file-of)$|^task-attempt-"
)
"""What leads on, is only posted to, or is bytes."""


def names(patterns: list[Any]) -> set[str]:
    found: set[str] = set()
    for one in patterns:
        if isinstance(one, URLResolver):
            found |= names(one.url_patterns)
        elif isinstance(one, URLPattern) and one.name:
            found.add(one.name)
    return found


@pytest.fixture
def places(world: World, ines: Client, settings: Any, tmp_path: Path) -> dict[str, object]:
    """An effect, a delivery, and two rounds of another task."""
    storage = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(tmp_path)},
    }
    settings.STORAGES = {**settings.STORAGES, "evidence": storage}
    agent = world.agents["agent-7"]
    effect = prepared(world, MAIL, "agent-9", "Mail")
    items = deliveries.usual_items(diff=deliveries.IN_SCOPE)
    delivery = deliveries.deliver(deliveries.new_task(world.billing, reviewer="ines"), agent, items=items)
    task = deliveries.new_task(world.billing, "Two rounds", reviewer="ines")
    first = deliveries.deliver(task, agent, items=items)
    world.send_back(first, world.ines)
    second = deliveries.deliver(Task.objects.get(pk=task.pk), agent, deliveries.next_fence(task), items)
    return {"effect": effect.id, "delivery": delivery.pk, "first": first.pk, "second": second.pk}


def counted(client: Client, address: str) -> int:
    """The statements of the second call: the first one fills what is kept in memory."""
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    return len(queries)


@pytest.mark.parametrize("name", COUNTS)
def test_a_page_takes_as_many_queries_as_it_did_however_much_there_is(
    ines: Client, world: World, places: dict[str, object], name: str
) -> None:
    address, most = COUNTS[name][0].format(**places), COUNTS[name][1]
    assert counted(ines, address) == most
    for number in range(3):
        world.delivered(f"More {number}", reviewer="ines")
    assert counted(ines, address) == most


def test_every_page_has_its_number_here_or_in_a_test_of_its_own() -> None:
    pages = {name for name in names(urls.urlpatterns) if not NO_PAGES.search(name)}
    assert pages == COUNTS.keys() | ELSEWHERE.keys()
    for file in ELSEWHERE.values():
        text = (ROOT / "tests" / "unit" / "reviews" / file).read_text()
        assert "num_queries" in text or "CaptureQueriesContext" in text, file


def test_a_delivery_of_the_table_is_one_that_waits(places: dict[str, object]) -> None:
    assert Delivery.objects.filter(pk=places["delivery"], state="PENDING").exists()
