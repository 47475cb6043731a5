"""/tasks/new: who may write, what is drawn, how many queries it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from claims.models import Membership, Task
from claims.vocabulary import Right, State
from reviews.models import TaskDraft
from reviews.writing import gallery, urls
from tests.unit.reviews.world import World
from tests.unit.reviews.writing.conftest import GOOD, form_of, text_of

FRAGMENT: dict[str, Any] = {"HTTP_HX_REQUEST": "true", "HTTP_HX_REQUEST_TYPE": "partial"}
MOST_QUERIES = 22


def test_only_a_preparer_sees_the_page(world: World, client: Client) -> None:
    client.force_login(world.ben)
    assert client.get("/tasks/new").status_code == 403
    assert client.post("/tasks/new/publish", form_of(GOOD)).status_code == 403
    assert not Task.objects.exists()


def test_an_empty_page_holds_an_example_with_notes(mira: Client) -> None:
    page = text_of(mira.get("/tasks/new"))
    assert "# One task. Lines that begin with #" in page
    assert "begins when you type" in page
    assert not TaskDraft.objects.exists()


@pytest.mark.parametrize("slug", [gallery.EMPTY, "invoice-dates", "csv-header"])
def test_every_template_of_the_gallery_opens_for_the_pool(mira: Client, slug: str) -> None:
    page = text_of(mira.get(f"/tasks/new/from/{slug}?pool=billing"))
    assert 'value="billing" selected' in page
    assert "reviewer: reviewer" not in page


def test_any_task_of_the_pool_is_a_template(mira: Client, world: World) -> None:
    task = world.write("Dunning", access=("browser",))
    page = text_of(mira.get(f"/tasks/new/like?task={task}", follow=True))
    assert "title: Dunning" in page
    assert 'name="access" value="browser"' in page


def test_a_task_of_another_pool_is_no_template(mira: Client, world: World) -> None:
    hidden = world.write("Secret", pool=world.sandbox)
    assert mira.get(f"/tasks/new/from/T-{hidden.number}").status_code == 404
    assert mira.get("/tasks/new/from/nothing").status_code == 404


@pytest.mark.parametrize("name", ["../x", "a b", "é", "T-1/x"])
def test_what_cannot_be_a_task_is_no_template_either(mira: Client, name: str) -> None:
    answer = mira.get("/tasks/new/like", {"task": name})
    assert answer.status_code == 404
    assert "There is no template" in text_of(answer)


def test_the_choice_of_who_decides_names_their_load(mira: Client, world: World) -> None:
    world.delivered("One", reviewer="ines")
    world.delivered("Two", reviewer="ines")
    page = text_of(mira.get("/tasks/new"))
    assert "Ines Halvorsen, 2 deliveries wait" in page
    assert "Ben Okafor, nothing waits" in page
    assert "anyone of billing-reviewers, 2 members" in page


def test_the_preview_names_what_must_be_delivered_and_who_can_take_it(mira: Client) -> None:
    source = (
        GOOD + "  - {kind: screenshot, name: empty, page: /billing, widths: [390, 1280]}\naccess: [browser]\n"
    )
    page = text_of(mira.post("/tasks/new/preview", form_of(source), **FRAGMENT))
    assert "<code>empty-390</code> <code>empty-1280</code>" in page
    assert "agent-7 can take it" in page
    assert '"title": "Dates"' in page


def test_the_number_of_queries_is_fixed(mira: Client, repository: World) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            mira.post("/tasks/new/preview", form_of(GOOD + "dependsOn: [T-1]\n"))
        return len(found)

    mira.get("/tasks/new")
    few = queries()
    for number in range(4):
        repository.claim(repository.write(f"Work {number}"), "agent-9")
        repository.delivered(f"Done {number}", reviewer="ines")
        mira.post("/tasks/new/check", form_of(GOOD))
    assert queries() == few <= MOST_QUERIES


def test_the_fragment_of_a_check_stays_within_its_queries(mira: Client, repository: World) -> None:
    posted = form_of(GOOD)
    mira.post("/tasks/new/check", posted, **FRAGMENT)
    with CaptureQueriesContext(connection) as found:
        mira.post("/tasks/new/check", posted | {"version": "1"}, **FRAGMENT)
    assert len(found) <= MOST_QUERIES


def test_the_board_leads_preparers_to_it_and_nobody_else(mira: Client, world: World) -> None:
    assert 'href="/tasks/new"' in text_of(mira.get("/board"))
    mira.force_login(world.ben)
    assert 'href="/tasks/new"' not in text_of(mira.get("/board"))
    Membership.objects.create(pool=world.billing, person=world.ben, right=Right.ADMIN)
    assert 'href="/tasks/new"' in text_of(mira.get("/board"))


def test_a_published_draft_leads_to_its_task(mira: Client) -> None:
    posted = form_of(GOOD)
    mira.post("/tasks/new/publish", posted)
    task = Task.objects.get()
    assert task.state == State.OPEN
    assert mira.get(f"/tasks/new?draft={posted['draft']}")["Location"] == f"/tasks/{task}"


def test_a_draft_of_somebody_else_is_not_there(mira: Client, world: World) -> None:
    posted = form_of(GOOD.replace("Dates", "Private dates"))
    mira.post("/tasks/new/check", posted)
    Membership.objects.create(pool=world.billing, person=world.ben, right=Right.PREPARER)
    mira.force_login(world.ben)
    assert "Private dates" not in text_of(mira.get(f"/tasks/new?draft={posted['draft']}"))
    assert mira.post("/tasks/new/check", posted).status_code == 404
    assert mira.post("/tasks/new/check", {"draft": "nonsense"}).status_code == 404
    assert TaskDraft.objects.get().title == "Private dates"
    assert uuid4() != TaskDraft.objects.get().pk


@pytest.mark.parametrize("route", [str(one.pattern) for one in urls.urlpatterns])
def test_every_address_is_in_the_reference(route: str) -> None:
    reference = Path(__file__).parents[4] / "docs" / "reference" / "pages.md"
    assert f"`/{route.replace('<slug:template>', '<template>')}`" in reference.read_text(encoding="utf-8")
