"""/tasks/<task>/change: a revision that meets a newer task is shown field by field, and merged on request."""

from __future__ import annotations

from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from claims import transitions
from claims.models import Task
from reviews.taskpage.template_yaml import input_of
from tests.unit.reviews.world import World, as_person, done


@pytest.fixture
def mira(world: World, client: Client) -> Client:
    """The browser of Mira, who prepares tasks of billing."""
    client.force_login(world.mira)
    return client


@pytest.fixture
def task(world: World) -> Task:
    """Two criteria, files, an excluded folder."""
    return world.write("Dunning")


def form_of(task: Task, source: str = "", **more: str) -> dict[str, str]:
    """The form as it is drawn now, with this text typed."""
    task = Task.objects.select_related("specification").get(pk=task.pk)
    text = source or input_of(task, task.specification.body)
    drawn = {"key": str(uuid4()), "version": str(task.state_version), "wasTitle": task.title}
    return {**drawn, "do": "revise", "source": text, **more}


def send(client: Client, ref: object, fields: dict[str, str]) -> tuple[int, str]:
    answer = client.post(f"/tasks/{ref}/act", fields, follow=True)
    return answer.status_code, unescape(answer.content.decode()).replace("\xa0", " ")


def revised(world: World, task: Task, title: str | None = None, **parts: Any) -> Task:
    """Noor writes the next revision."""
    task.refresh_from_db()
    body = {**task.specification.body, **parts}
    made = done(transitions.revise(as_person(world.noor), task.pk, task.state_version, body, title)).task
    return Task.objects.get(pk=made.task_id)


def part(body: str, start: str, end: str) -> str:
    return body.split(start, 1)[1].split(end, 1)[0]


def field_of(body: str, name: str) -> tuple[str, list[str]]:
    """What is said of a field, and its base, now and yours."""
    shown = part(part(body, 'id="three-merge"', "</section>"), f"<b>{name}</b>", "</li>")
    return shown.split("</p>")[0], [part(one, "<dd>", "</dd>") for one in shown.split("<dt>")[1:]]


def typed_in(body: str) -> str:
    return part(body, 'name="source"', "</textarea>").split(">", 1)[1].removeprefix("\n")


def newest(task: Task) -> Task:
    return Task.objects.filter(lineage_id=task.lineage_id).order_by("-revision")[0]


def test_what_was_replaced_meanwhile_is_shown_against_the_newest_revision(
    mira: Client, world: World, task: Task
) -> None:
    typed = form_of(task)
    typed["source"] = (
        typed["source"].replace("Tests pass", "Tests and types pass").replace("app/**", "src/**")
    )
    new = revised(world, task, "Reminders", acceptance=[{"text": "It works at 390 px", "proof": "a film"}])

    status, body = send(mira, task, typed)

    assert status == 409
    assert f"Revise {new}" in body
    assert "changed since you began" in field_of(body, "Title")[0]
    assert field_of(body, "Title")[1] == ["Dunning", "Reminders", "Dunning"]
    assert "only you changed it" in field_of(body, "File in scope")[0]
    assert field_of(body, "File in scope")[1] == ["app/**", "app/**", "src/**"]
    said, values = field_of(body, "Criterion 2")
    assert "both changed it: to settle" in said
    assert values == ["text: Tests pass", "not there", "text: Tests and types pass"]
    assert typed_in(body) == typed["source"]
    assert "<b>Noor Haddad</b> wrote revision 2 of it" in body
    assert 'value="revise"' not in body
    assert newest(task).pk == new.pk


def test_the_merge_is_sent_to_the_newest_revision_and_nothing_is_written_by_it(
    mira: Client, world: World, task: Task
) -> None:
    typed = form_of(task)
    typed["source"] = typed["source"].replace("Tests pass", "Tests and types pass") + "# a word of mine\n"
    new = revised(world, task, "Reminders", access=["pdf"], acceptance=[{"text": "Only this"}])

    status, body = send(mira, task, typed | {"do": "merge"})

    text = typed_in(body)
    assert status == 200
    assert newest(task).pk == new.pk
    assert f'action="/tasks/{new}/act"' in body
    assert "Both changed, and yours stands here: Criterion 2." in body
    for line in ("title: Reminders", "- pdf", "- text: Only this", "- text: Tests and types pass"):
        assert line in text
    assert "# a word of mine" in part(body, 'name="kept"', "</textarea>")

    status, body = send(mira, new, form_of(new, text, kept=typed["source"]))
    last = newest(task)
    assert (status, last.revision, last.title, last.access) == (200, 3, "Reminders", ["pdf"])


def test_what_one_had_typed_stays_through_a_second_merge_and_a_refusal(
    mira: Client, world: World, task: Task
) -> None:
    first = form_of(task, do="merge")
    first["source"] = first["source"].replace("Dunning\n", "Mine\n", 1) + "# first\n"
    new = revised(world, task, access=["pdf"])
    text = typed_in(send(mira, task, first)[1])
    second = form_of(new, text + "# second\n", kept=first["source"], do="merge")
    revised(world, new, access=["browser"])

    body = send(mira, new, second)[1]
    kept = part(body, 'name="kept"', "</textarea>")
    assert "# first" in kept
    assert "# second" in kept

    body = send(mira, new, second | {"do": "revise", "source": "task: [", "kept": kept})[1]
    assert "# first" in part(body, 'name="kept"', "</textarea>")


def test_a_task_whose_input_did_not_move_takes_the_text_when_it_is_sent_again(
    mira: Client, world: World, task: Task
) -> None:
    typed = form_of(task)
    typed["source"] = typed["source"].replace("Tests pass", "Types pass") + "# mine\n"
    world.claim(task, "agent-3")

    status, body = send(mira, task, typed)

    assert status == 409
    assert "is claimed now, at state version 2" in body
    assert "agent-3 loses its claim" in body
    assert "three-merge" not in body
    assert typed_in(body) == typed["source"]
    assert 'name="version" value="2"' in part(body, 'id="revise"', "</form>")


def test_a_revision_with_the_same_input_takes_the_text_to_it(mira: Client, world: World, task: Task) -> None:
    typed = form_of(task)
    typed["source"] += "# mine\n"
    new = revised(world, task)

    status, body = send(mira, task, typed)

    assert status == 409
    assert f'action="/tasks/{new}/act"' in part(body, 'id="revise"', ">")
    assert "three-merge" not in body
    assert typed_in(body) == typed["source"]
    assert send(mira, new, form_of(new, typed["source"].replace("Tests pass", "Types pass")))[0] == 200


def test_a_title_that_was_adjusted_meanwhile_is_not_taken_back(
    mira: Client, world: World, task: Task
) -> None:
    typed = form_of(task)
    typed["source"] = typed["source"].replace("Tests pass", "Types pass")
    done(transitions.adjust(as_person(world.noor), task.pk, {"title": "Reminders"}))

    body = send(mira, task, typed)[1]
    assert field_of(body, "Title")[1] == ["Dunning", "Reminders", "Dunning"]

    assert typed_in(send(mira, task, typed | {"do": "merge"})[1]).startswith("title: Reminders\n")


def test_a_flaw_does_not_move_what_the_form_began_from(mira: Client, world: World, task: Task) -> None:
    typed = form_of(task, "title: Dunning\nacceptence: []\n")
    new = revised(world, task, access=["pdf"])

    status, body = send(mira, task, typed)

    form = part(body, 'id="revise"', "</form>")
    assert status == 422
    assert 'name="version" value="1"' in form
    assert "acceptence" in typed_in(body)
    assert f'href="/tasks/{new}/change"' in body
    assert send(mira, task, typed | {"do": "merge"})[0] == 422


def test_a_double_click_writes_one_revision(mira: Client, world: World, task: Task) -> None:
    typed = form_of(task)
    typed["source"] = typed["source"].replace("Tests pass", "Types pass")
    for _ in range(2):
        status, body = send(mira, task, typed)
        assert (status, "is revision 2 of" in body) == (200, True)
    assert newest(task).revision == 2


def test_a_form_found_by_the_back_button_meets_its_own_revision(
    mira: Client, world: World, task: Task
) -> None:
    typed = form_of(task)
    typed["source"] = typed["source"].replace("Tests pass", "Types pass")
    send(mira, task, typed)

    status, body = send(mira, task, typed | {"source": typed["source"].replace("Types", "Colours")})

    assert status == 422
    values = field_of(body, "Criterion 2")[1]
    assert values == ["text: Tests pass", "text: Types pass", "text: Colours pass"]
    assert f'name="key" value="{typed["key"]}"' not in body


def test_who_lost_the_right_meanwhile_keeps_every_word(client: Client, world: World, task: Task) -> None:
    client.force_login(world.ben)
    typed = form_of(task, "title: Typed by Ben\ntask: x\n")
    status, body = send(client, task, typed)
    assert status == 403
    assert "title: Typed by Ben" in typed_in(body)


def test_of_who_is_signed_out_every_word_is_on_the_page(client: Client, task: Task) -> None:
    status, body = send(client, task, form_of(task, "title: Typed while signed out\ntask: x\n"))
    assert status == 401
    assert "title: Typed while signed out" in body


def test_a_line_at_the_end_and_a_line_at_the_start_are_kept(mira: Client, world: World, task: Task) -> None:
    typed = form_of(task, "\n# first line\ntitle: Dunning\ntask: |\n  One.\n  Two.\n\n")
    revised(world, task, access=["pdf"])
    assert typed_in(send(mira, task, typed)[1]) == typed["source"]


def test_the_form_is_not_drawn_anew_under_who_types(mira: Client, task: Task) -> None:
    body = unescape(mira.get(f"/tasks/{task}/change").content.decode())
    assert "data-live=" not in part(body, 'id="task"', ">")
    assert "data-live=" in part(body, 'id="task-side"', ">")
