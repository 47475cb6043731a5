"""Bounds: however large the evidence is, a page reads and draws a little of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from claims import evidence
from claims.models import Task
from reviews.desk import reading
from tests.support import deliveries
from tests.unit.reviews.world import World

MOST_PAGE_BYTES = 400_000
MOST_READ_BYTES = 4 * 1024 * 1024
QUERIES = 18


class Counted:
    """How many bytes of evidence a page read."""

    def __init__(self) -> None:
        self.count = 0


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Counts what goes through the page's one way to bytes; what was remembered is forgotten first."""
    counted = Counted()
    original = reading.content_of

    def counting(sha256: str, limit_bytes: int, start: int = 0) -> tuple[bytes, bool]:
        content, is_cut = original(sha256, limit_bytes, start)
        counted.count += len(content)
        return content, is_cut

    monkeypatch.setattr(reading, "content_of", counting)
    for memory in (
        reading.drawn_file,
        reading.ends_of,
        reading.report_of,
        reading.size_of,
        reading.changes_of,
    ):
        memory.cache_clear()
    return counted


def changed(path: str, lines: int) -> str:
    body = "".join(f"-old({number})\n+new({number})  # changed\n" for number in range(lines // 2))
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ -1,{lines // 2} +1,{lines // 2} @@\n{body}"


@pytest.mark.parametrize(("files", "lines"), [(12, 4_168), (500, 100), (25_000, 2)])
def test_a_page_of_fifty_thousand_changed_lines_reads_and_draws_little(
    ines: Client,
    world: World,
    task: Task,
    read: Counted,
    django_assert_num_queries: Any,
    files: int,
    lines: int,
) -> None:
    diff = "".join(changed(f"app/part{number}/file.py", lines) for number in range(files)).encode()
    log = b"".join(b"\x1b[32mline\x1b[0m %d\n" % number for number in range(100_000))
    items = [
        deliveries.item("diff", "diff", diff, (1,)),
        deliveries.item("tests", "command", log, command="make"),
    ]
    delivery = deliveries.deliver(task, world.agents["agent-7"], items=items)
    ines.get("/board")

    with django_assert_num_queries(QUERIES):
        answer = ines.get(f"/reviews/{delivery.pk}")

    assert answer.status_code == 200
    assert len(answer.content) < MOST_PAGE_BYTES
    assert read.count < MOST_READ_BYTES
    assert f"{files:,}" in answer.content.decode() or f"{files} file" in answer.content.decode()


def test_one_line_of_five_megabytes_is_cut_in_every_viewer(
    ines: Client, world: World, task: Task, read: Counted
) -> None:
    line = b"x" * 5_000_000
    head = b"diff --git a/app/x.js b/app/x.js\n--- a/app/x.js\n+++ b/app/x.js\n@@ -1 +1 @@\n-a\n+"
    items = [
        deliveries.item("diff", "diff", head + line + b"\n", (1,)),
        deliveries.item("out", "command", line, command="cat x.js"),
    ]
    delivery = deliveries.deliver(task, world.agents["agent-7"], items=items)

    page = ines.get(f"/reviews/{delivery.pk}").content.decode()
    assert len(page) < MOST_PAGE_BYTES
    assert "Load this file" in page
    file = ines.get(f"/reviews/{delivery.pk}/diff/0", headers={"HX-Request": "true"}).content.decode()
    assert "4,998,000 more characters" in file
    assert len(file) < 20_000
    found = ines.get(
        f"/reviews/{delivery.pk}/commands/1?find=xxx", headers={"HX-Request": "true"}
    ).content.decode()
    assert len(found) < 20_000


def test_many_commands_and_screenshots_are_listed_within_bounds(
    ines: Client, world: World, task: Task
) -> None:
    shots = [
        deliveries.item(f"page{number}-390", "screenshot", deliveries.picture(390, 40 + number), width=390)
        for number in range(80)
    ]
    commands = [deliveries.item(f"c{number}", "command", b"ok %d\n" % number) for number in range(60)]
    items = [deliveries.item("diff", "diff", deliveries.IN_SCOPE, (1,)), *shots, *commands]
    delivery = deliveries.deliver(task, world.agents["agent-7"], items=items)
    page = ines.get(f"/reviews/{delivery.pk}").content.decode()

    assert page.count("<figure") == 60
    assert "20 more screenshots are not drawn" in page
    assert page.count("Show its output") == 40
    assert (
        "ok 59"
        in ines.get(f"/reviews/{delivery.pk}/commands/60", headers={"HX-Request": "true"}).content.decode()
    )


def test_bytes_that_end_before_the_index_says_are_drawn_as_far_as_they_go(world: World) -> None:
    item, content = deliveries.item("diff", "diff", deliveries.IN_SCOPE)
    evidence.keep([content], item.sha256, len(content))

    assert reading.drawn_file(reading.AskedFile(item.sha256, len(content) + 50, 500, 0, "x.py")).rows == 0
    assert reading.drawn_file(reading.AskedFile(item.sha256, 3, 200, 0, "x.py")).rows >= 0
