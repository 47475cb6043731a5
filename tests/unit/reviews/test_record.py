"""/tasks/<task>/record: what the page says, what the file holds, and who may see either."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
from django.test import Client

from claims import transitions
from claims.models import History, Task
from claims.selectors import provenance
from client.records import Wrong, parsed
from client.verifying import verify
from tests.support.planting import plant
from tests.unit.reviews.world import World, as_person, done, unreviewed

QUERIES = 23
Tasks = dict[str, Task]


def page_of(client: Client, task: Task) -> str:
    answer = client.get(f"/tasks/{task}/record")
    assert answer.status_code == 200
    return unescape(answer.content.decode()).replace("\xa0", " ")


def test_the_page_says_who_accepted_what_under_which_authority(ines: Client, tasks: Tasks) -> None:
    task = tasks["done"]
    body = page_of(ines, task)

    assert "Ines Halvorsen accepted round 1 of agent-7" in body
    assert "whose owner is Noor Haddad" in body
    assert "epoch 13 · gen 1" in body
    assert "2 of 2 criteria met" in body
    assert "the 4 rows of its history follow from each other" in body
    assert f"fencepost verify {task}.record.json" in body
    assert str(task.input_digest) in body


def test_the_file_is_an_attachment_that_the_client_verifies(ines: Client, tasks: Tasks) -> None:
    task = tasks["done"]
    answer = ines.get(f"/tasks/{task}/record.json")

    assert answer["Content-Type"] == "application/vnd.in-toto+json"
    assert answer["Content-Disposition"] == f'attachment; filename="{task}.record.json"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    verify(parsed(answer.content))
    assert json.loads(answer.content)["predicate"]["head"]["hash"] in page_of(ines, task)


def test_rows_after_the_commit_are_in_the_record_and_it_still_holds(
    ines: Client, world: World, tasks: Tasks
) -> None:
    task = tasks["done"]
    before = ines.get(f"/tasks/{task}/record.json").content
    body = {**task.specification.body, "task": "Another text"}
    done(transitions.revise(as_person(world.mira), task.pk, task.state_version, body, task.title))

    after = ines.get(f"/tasks/{task}/record.json").content
    verify(parsed(after))
    assert (
        len(json.loads(after)["predicate"]["history"]) == len(json.loads(before)["predicate"]["history"]) + 1
    )


def test_a_commit_without_review_says_so(client: Client, world: World) -> None:
    client.force_login(world.mira)
    task = unreviewed(world)

    assert "agent-9 committed the one result" in page_of(client, task)
    verify(parsed(client.get(f"/tasks/{task}/record.json").content))


@pytest.mark.parametrize("name", ["open", "claimed", "delivered", "changes", "held"])
def test_a_task_without_a_result_has_no_record_yet(ines: Client, tasks: Tasks, name: str) -> None:
    task = tasks[name]

    assert f"{task} has no record yet" in page_of(ines, task)
    assert ines.get(f"/tasks/{task}/record.json").status_code == 404


def test_who_has_no_right_in_the_pool_finds_neither(client: Client, world: World, tasks: Tasks) -> None:
    client.force_login(world.stranger)
    for address in ("record", "record.json"):
        assert client.get(f"/tasks/{tasks['done']}/{address}").status_code == 404


def test_a_history_that_was_tampered_with_is_said_on_the_page_and_found_in_the_file(
    ines: Client, tasks: Tasks
) -> None:
    task = tasks["done"]
    row = History.objects.get(task_id=task.pk, verb="deliver")
    plant("history", "UPDATE claims_history SET actor_name = 'somebody' WHERE id = %s", row.pk)

    assert "the history does not hold" in page_of(ines, task)
    record = provenance.record_of(task.pk)
    assert record is not None
    with pytest.raises(Wrong, match="is not what was written"):
        verify(parsed(provenance.written(record)))


def test_the_page_asks_the_database_a_fixed_number_of_times(
    ines: Client, tasks: Tasks, django_assert_num_queries: Any
) -> None:
    ines.get(f"/tasks/{tasks['done']}/record")

    with django_assert_num_queries(QUERIES):
        ines.get(f"/tasks/{tasks['done']}/record")


def test_the_page_of_a_done_task_leads_to_its_record_and_no_other_does(ines: Client, tasks: Tasks) -> None:
    link = 'href="/tasks/{}/record"'
    assert link.format(tasks["done"]) in ines.get(f"/tasks/{tasks['done']}/spec").content.decode()
    assert (
        link.format(tasks["delivered"]) not in ines.get(f"/tasks/{tasks['delivered']}/spec").content.decode()
    )
