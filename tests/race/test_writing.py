"""One draft, published at once from several pages: one task, and everybody is led to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.test import Client

from claims.models import History, Task
from reviews.models import TaskDraft
from tests.race.meeting import blocked, race
from tests.support.world import World

PAGES = 8


def publisher(world: World, posted: dict[str, str]) -> Callable[[], Any]:
    client = Client()
    client.force_login(world.preparer)
    return lambda: client.post("/tasks/new/publish", posted)


def test_a_draft_that_is_published_from_eight_pages_at_once_is_one_task(world: World) -> None:
    source = f"title: Once\ntask: Do it once.\npool: {world.pool.name}\n"
    draft = str(uuid4())
    posted = {"draft": draft, "source": source, "base": source, "version": "0", "seat": ""}
    pages = [publisher(world, posted) for _ in range(PAGES)]
    client = Client()
    client.force_login(world.preparer)
    client.post("/tasks/new/check", posted)

    with blocked("SELECT 1 FROM reviews_taskdraft WHERE id = %s FOR UPDATE", [draft]) as meeting:
        answers = race(meeting, pages)

    task = Task.objects.get(pool=world.pool)
    assert History.objects.filter(task=task).count() == 1
    assert TaskDraft.objects.get().published == task.number
    assert {answer["Location"] for answer in answers} <= {f"/tasks/{task}", f"/tasks/new?draft={draft}"}
    assert client.get(f"/tasks/new?draft={draft}")["Location"] == f"/tasks/{task}"
