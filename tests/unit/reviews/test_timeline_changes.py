"""The timeline says of each change which field became what, of an adjustment and of a revision alike."""

from __future__ import annotations

from datetime import UTC, datetime
from html import unescape
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from claims import transitions
from claims.models import ReviewerGroup, Task
from claims.vocabulary import ReclaimPolicy
from reviews.taskpage import changes
from reviews.taskpage.scheduling import WORDS
from tests.unit.reviews.world import World, as_person, done


def timeline(client: Client, task: Task) -> dict[str, str]:
    """Each field of the changes of a timeline, with what is said of it."""
    html = unescape(client.get(f"/tasks/{task}/timeline").content.decode()).replace("\xa0", " ")
    found: dict[str, str] = {}
    for block in html.split('<dl class="was">')[1:]:
        for one in block.split("</dl>")[0].split("<dt>")[1:]:
            name, _, said = one.partition("</dt>")
            for tag in ('<span aria-hidden="true">→</span>', '<span class="sr">', '<span class="hint">'):
                said = said.replace(tag, "")
            for tag in ("</span>", "<dd>", "</dd>", "<del>", "</del>", "<ins>", "</ins>"):
                said = said.replace(tag, "")
            found[name] = " ".join(said.split())
    return found


def adjusted(world: World, task: Task, **attributes: Any) -> None:
    done(transitions.adjust(as_person(world.noor), task.pk, attributes))


def test_an_adjustment_says_each_field_before_and_after(ines: Client, world: World) -> None:
    task = world.write("Dunning", reviewer="ines")
    group = ReviewerGroup.objects.get(name="billing-reviewers").name
    adjusted(
        world,
        task,
        title="Reminders",
        priority=0,
        max_attempts=9,
        reclaim_policy=ReclaimPolicy.AUTO,
        reviewer="ben",
        reviewer_group=group,
        not_before=datetime(2026, 12, 1, 9, 30, tzinfo=UTC),
    )
    found = timeline(ines, task)
    assert found["Title"] == "Dunning became Reminders"
    assert found["Priority"] == "2 became 0"
    assert found["Most attempts"].endswith("became 9")
    assert found["Reclaim policy"] == "manual became auto"
    assert found["Named reviewer"] == "Ines Halvorsen became Ben Okafor"
    assert found["Reviewer group"] == "none became billing-reviewers"
    assert found["Not before"] == "at once became 2026-12-01 09:30 UTC"
    assert list(found) == list(WORDS.values())


def test_a_field_that_is_emptied_says_what_that_means(ines: Client, world: World) -> None:
    task = world.write("Dunning", reviewer="ines")
    adjusted(world, task, reviewer=None)
    assert timeline(ines, task) == {"Named reviewer": "Ines Halvorsen became any reviewer"}


def test_a_revision_says_which_fields_of_the_input_changed_on_both_its_pages(
    ines: Client, world: World
) -> None:
    old = world.write("Dunning")
    body = {**old.specification.body, "access": ["pdf"], "scope": {"files": ["app/**"]}}
    body["acceptance"] = [{"text": "It works at 390 px", "proof": "shot-390"}, {"text": "Types pass"}]
    made = done(transitions.revise(as_person(world.noor), old.pk, 1, body, "Reminders")).task
    expected = {
        "Excluded file": "app/vendor/** taken out",
        "Criterion 2": "text: Tests pass became text: Types pass",
        "Label": "pdf new",
    }
    assert timeline(ines, Task.objects.get(pk=made.task_id)) == {
        "Title": "Dunning became Reminders",
        **expected,
    }
    assert timeline(ines, old) == expected


def test_a_title_that_is_adjusted_later_is_no_change_of_the_revision(ines: Client, world: World) -> None:
    old = world.write("Dunning")
    made = done(
        transitions.revise(as_person(world.noor), old.pk, 1, {**old.specification.body, "access": ["x"]})
    )
    adjusted(world, Task.objects.get(pk=made.task.task_id), title="Later")
    assert timeline(ines, old) == {"Label": "x new"}


def test_a_revision_that_changes_very_much_is_bounded(ines: Client, world: World) -> None:
    old = world.write("Dunning")
    body = {**old.specification.body, "task": "y" * 900, "access": [f"label-{at}" for at in range(30)]}
    made = done(transitions.revise(as_person(world.noor), old.pk, 1, body)).task
    found = timeline(ines, Task.objects.get(pk=made.task_id))
    assert len(found) <= changes.MOST + 1
    assert found["Task"].endswith("… (cut)")


def test_the_changes_of_a_page_take_the_same_queries_however_many_there_are(
    ines: Client, world: World
) -> None:
    few, many = world.write("Few"), world.write("Many")
    adjusted(world, few, reviewer="ben", reviewer_group="billing-reviewers")
    for priority, reviewer in enumerate(("ben", "ines") * 4):
        adjusted(world, many, priority=priority, reviewer=reviewer, reviewer_group="billing-reviewers")
    counts = []
    for task in (few, many):
        timeline(ines, task)
        with CaptureQueriesContext(connection) as queries:
            timeline(ines, task)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 20
