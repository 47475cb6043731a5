"""Server time of every page with a million tasks and a delivery of fifty thousand changed lines.

The view is called in this process, by the test client: what is measured is everything from the request
to the last byte of the answer, without a network. A page counts with the median of its calls.
"""

from __future__ import annotations

import gc
import os
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from bench.crowd import Crowd, gathered
from bench.figures import Figure, Goal
from tests.unit.reviews.world import make_world

TASKS = int(os.environ.get("FENCEPOST_BENCH_TASKS", "1000000"))
CALLS = 20
MOST_MS = 100
NO_PAGES = re.compile(
    r"^(api/|signin|signout|healthz|readyz|<path:rest>)|\.zip$|\.png$|\.json$|/files/|/sheet/|/diff/|/commands/|/shots/"
)
"""Not pages for the signed-in, bytes to download, and what is listed by hand below."""


def measured(say: Callable[[str], None]) -> list[Figure]:
    """Fill the database, call every page; one line each, and the slowest as the figure."""
    call_command("collectstatic", interactive=False, verbosity=0)
    world = make_world()
    crowd = gathered(world, TASKS, say)
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(world.ines)
    gc.freeze()  # as config/wsgi.py
    times: dict[str, tuple[float, float]] = {}
    for address in (*routes(crowd), *by_hand(crowd)):
        told = called(client, address)
        if told is None:
            continue
        status, p50, worst, queries = told
        times[address] = (p50, worst)
        mark = "  <- above" if p50 > MOST_MS else ""
        say(f"  {p50:7.1f} ms p50, {worst:7.1f} ms at most, {queries:3} queries, {status}  {address}{mark}")
    slowest = max(times, key=lambda address: times[address][0])
    p50, worst = times[slowest]
    figure = Figure(
        "pages: the slowest of them",
        Goal(MOST_MS, MOST_MS, True, "ms"),
        f"p50 {p50:.1f} ms, {worst:.1f} ms at most",
        "–",
        p50,
    )
    figure.spread = f"({len(times)} pages, {CALLS} calls each, {TASKS:,} tasks)"
    figure.remarks.append(f"the slowest is {slowest}")
    return [figure]


def called(client: Client, address: str) -> tuple[int, float, float, int] | None:
    """Status, median and longest time in ms, queries of one call; None for what is no page to read."""
    status = client.get(address).status_code
    if status not in (200, 302):
        return None
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        client.get(address)
        times.append((time.perf_counter() - began) * 1_000)
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    ordered = sorted(times)
    return status, ordered[len(ordered) // 2], ordered[-1], len(queries)


def routes(crowd: Crowd) -> list[str]:
    """Every route that people have, once for each object it can be about."""
    found = []
    for pattern in sorted(set(_patterns(get_resolver().url_patterns))):
        if NO_PAGES.search(pattern):
            continue
        for values in _values(crowd):
            address = re.sub(
                r"<(?:\w+:)?(\w+)>", lambda name, values=values: str(values.get(name[1], "")), pattern
            )
            if f"/{address}" not in found and "//" not in address:
                found.append(f"/{address}")
    return found


def _values(crowd: Crowd) -> Iterator[dict[str, Any]]:
    for delivery, task in ((crowd.large, crowd.told), (crowd.waiting, crowd.finished)):
        yield {
            "delivery": delivery.pk, "ref": f"T-{task.number}", "tab": "timeline", "bucket": "must",
            "code": "fenced", "pool": "billing",
        }  # fmt: skip


def _patterns(patterns: list[Any], before: str = "") -> Iterator[str]:
    for one in patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from _patterns(one.url_patterns, route)
        elif isinstance(one, URLPattern):
            yield route


def by_hand(crowd: Crowd) -> Iterator[str]:
    """Pages of one address that differ by what is asked of them."""
    for tab in ("spec", "rounds", "claim", "effects", "timeline", "yaml"):
        yield f"/tasks/T-{crowd.told.number}/{tab}"
    for asked in (
        "view=table",
        "state=DONE",
        "view=table&state=DONE",
        "agent=agent-7",
        "q=invoices",
        "q=nothing+like+it",
        "reviewer=ines",
    ):
        yield f"/board?{asked}"
    for bucket in ("must", "can", "back"):
        yield f"/reviews/bucket/{bucket}"
    yield "/reviews?sort=newest"
    yield "/reviews?q=refunds"
    yield f"/operations?task=T-{crowd.quiet.number}"
    for tab in ("diff", "commands", "tests", "shots", "files", "talk"):
        yield f"/reviews/{crowd.large.pk}?tab={tab}"
    yield f"/reviews/{crowd.large.pk}?view=split&w=1"
    for part in ("sheet/accept", "diff/0", "diff/99?whole=1", "commands/1"):
        yield f"/reviews/{crowd.large.pk}/{part}"
