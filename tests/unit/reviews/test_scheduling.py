"""/tasks/<task>/change: scheduling attributes are changed in place, and two who change them lose nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from claims import transitions
from claims.models import History, Task
from claims.outcomes import Refused, Why
from reviews.taskpage import scheduling
from tests.unit.reviews.world import World, as_agent, as_person, done


@pytest.fixture
def mira(world: World, client: Client) -> Client:
    """The browser of Mira, who prepares tasks of billing."""
    client.force_login(world.mira)
    return client


def fields_of(task: Task, **typed: str) -> dict[str, str]:
    """The form as it is drawn now, with some fields typed over."""
    task = Task.objects.select_related("reviewer", "reviewer_group").get(pk=task.pk)
    values = scheduling.now_of(task)
    was = {f"was-{name}": value for name, value in values.items()}
    return {"key": str(uuid4()), "version": str(task.state_version), "do": "adjust", **values, **was, **typed}


def send(client: Client, task: Task, fields: dict[str, str]) -> tuple[int, str]:
    answer = client.post(f"/tasks/{task}/act", fields, follow=True)
    return answer.status_code, unescape(answer.content.decode()).replace("\xa0", " ")


def adjusted(world: World, task: Task, **attributes: Any) -> None:
    done(transitions.adjust(as_person(world.noor), task.pk, attributes))


def part(body: str, start: str, end: str) -> str:
    return body.split(start, 1)[1].split(end, 1)[0]


def adjust_form(body: str) -> str:
    return part(body, 'id="adjust"', "</form>")


def test_the_form_is_drawn_with_the_values_now_and_an_anchor_of_its_own(mira: Client, world: World) -> None:
    task = world.write(
        "Dunning",
        reviewer="ines",
        reviewer_group="billing-reviewers",
        priority=3,
        not_before=datetime(2026, 12, 1, 9, 30, tzinfo=UTC),
    )
    form = adjust_form(unescape(mira.get(f"/tasks/{task}/change").content.decode()))
    for drawn in ('value="Dunning"', 'value="3"', 'value="2026-12-01T09:30"', 'name="version" value="1"'):
        assert drawn in form
    assert 'value="ines" selected' in form
    assert 'value="billing-reviewers" selected' in form
    assert 'value="MANUAL" selected' in form


def test_only_what_was_changed_is_sent_and_the_history_keeps_it(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    typed = fields_of(task, title="Reminders", priority="0", notBefore="2026-12-01T09:30", reviewer="ben")

    status, body = send(mira, task, typed)

    task.refresh_from_db()
    row = History.objects.get(task_id=task.pk, state_version=2)
    assert (status, task.title, task.priority, task.reviewer.username) == (200, "Reminders", 0, "ben")
    assert task.not_before == datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
    assert sorted(row.body["changed"]) == ["not_before", "priority", "reviewer_id", "title"]
    assert f"{task}: not before, priority, named reviewer, title changed." in body


def test_every_attribute_can_be_changed_and_emptied_again(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    full = {
        "title": "Reminders",
        "priority": "9",
        "notBefore": "2026-12-01T09:30:05",
        "maxAttempts": "7",
        "reclaim": "AUTO",
        "reviewer": "ines",
        "reviewerGroup": "billing-reviewers",
    }
    assert send(mira, task, fields_of(task, **full))[0] == 200
    task = Task.objects.get(pk=task.pk)
    assert scheduling.now_of(task) == full

    assert send(mira, task, fields_of(task, notBefore="", reviewer="", reviewerGroup=""))[0] == 200
    task = Task.objects.get(pk=task.pk)
    assert (task.not_before, task.reviewer, task.reviewer_group) == (None, None, None)


def test_a_claim_is_not_lost_by_it(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    world.claim(task, "agent-3")
    send(mira, task, fields_of(task, priority="0"))
    task.refresh_from_db()
    assert (task.state, task.claim_generation, task.priority) == ("CLAIMED", 1, 0)


def test_a_form_that_changes_nothing_says_so_and_leaves_no_history(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    status, body = send(mira, task, fields_of(task))
    assert status == 200
    assert f"Nothing was changed: {task} is scheduled like that already." in body
    assert History.objects.filter(task_id=task.pk).count() == 1


def test_what_somebody_else_made_the_same_is_nothing_to_change(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    typed = fields_of(task, priority="0")
    adjusted(world, task, priority=0)
    typed["version"] = "2"
    assert "Nothing was changed" in send(mira, task, typed)[1]
    assert History.objects.filter(task_id=task.pk).count() == 2


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("title", "", "A title has 1 to 300 characters."),
        ("title", "x" * 301, "A title has 1 to 300 characters."),
        ("priority", "10", "Write a whole number from 0 to 9."),
        ("priority", "high", "Write a whole number from 0 to 9."),
        ("maxAttempts", "0", "Write a whole number from 1 to 100."),
        ("maxAttempts", "101", "Write a whole number from 1 to 100."),
        ("notBefore", "tomorrow", "Write a time in UTC"),
        ("notBefore", "0001-01-01T00:00+09:00", "Write a time in UTC"),
        ("reclaim", "SOMETIMES", "Choose one of MANUAL, AUTO."),
    ],
)
def test_a_field_error_stands_at_its_field_takes_the_focus_and_loses_nothing(
    mira: Client, world: World, field: str, typed: str, said: str
) -> None:
    task = world.write("Dunning")
    more = {"title": "Typed by hand"} if field != "title" else {"priority": "4"}

    status, body = send(mira, task, fields_of(task, **more, **{field: typed}))

    form = adjust_form(body)
    assert status == 422
    assert said in part(form, f'id="e-{field}"', "</p>")
    assert form.count("data-takes-focus") == 1
    assert "data-takes-focus" in part(form, f'id="f-{field}"', ">")
    assert all(f'value="{value}"' in form for value in more.values())
    assert f'"{typed}"' in form or f">{typed}</option>" in form
    assert History.objects.filter(task_id=task.pk).count() == 1


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("maxAttempts", "1", "maxAttempts is at least 2"),
        ("reviewer", "noor", "noor is not a reviewer in this pool."),
        ("reviewerGroup", "nobody", "There is no reviewer group nobody in this pool."),
    ],
)
def test_what_makes_no_sense_in_the_pool_is_told_at_its_field(
    mira: Client, world: World, field: str, typed: str, said: str
) -> None:
    task = world.write("Dunning")
    fence = world.claim(task, "agent-3")
    done(transitions.release(as_agent(world.agents["agent-3"]), fence, "out of memory"))

    status, body = send(mira, task, fields_of(task, **{"priority": "7", field: typed}))

    form = adjust_form(body)
    assert status == 422
    assert said in part(form, f'id="e-{field}"', "</p>")
    assert 'value="7"' in form
    assert typed in form
    assert "Nothing was changed" not in body


def test_a_refusal_that_names_no_field_is_about_the_task() -> None:
    assert scheduling.field_of(Refused(Why.UNPROCESSABLE, "Something else.")) == ""
    assert scheduling.field_of(Refused(Why.STALE_STATE, "The reviewer is away.")) == ""


def test_only_preparers_and_operators_find_the_form_and_a_refused_one_keeps_its_words(
    client: Client, world: World
) -> None:
    task = world.write("Dunning")
    client.force_login(world.ben)
    assert 'id="adjust"' not in client.get(f"/tasks/{task}/change").content.decode()

    status, body = send(client, task, fields_of(task, title="Typed by hand"))

    assert status == 403
    assert "Only a preparer or an operator of the pool can do this." in body
    assert 'value="Typed by hand"' in adjust_form(body)
    task.refresh_from_db()
    assert task.title == "Dunning"
    client.force_login(world.noor)
    assert send(client, task, fields_of(task, priority="1"))[0] == 200


@pytest.mark.parametrize("name", ["open", "claimed", "quiet", "delivered", "changes", "held"])
def test_it_works_in_every_state_that_is_not_final(
    mira: Client, world: World, tasks: dict[str, Task], name: str
) -> None:
    assert send(mira, tasks[name], fields_of(tasks[name], priority="8"))[0] == 200
    tasks[name].refresh_from_db()
    assert tasks[name].priority == 8


def test_a_blocked_task_is_changed_in_place_too(mira: Client, world: World) -> None:
    task = world.write("Pages", depends_on=(str(world.write("Schema")),))
    assert send(mira, task, fields_of(task, priority="8"))[0] == 200


def test_of_a_final_task_it_is_said_that_nothing_can_be_changed(
    mira: Client, world: World, tasks: dict[str, Task]
) -> None:
    task = tasks["done"]
    said = f"{task} is done; nothing about how it is scheduled can be changed any more."
    body = unescape(mira.get(f"/tasks/{task}/change").content.decode())
    assert said in body
    assert 'value="adjust"' not in body

    status, body = send(mira, task, fields_of(task, title="Typed by hand"))

    assert status == 409
    assert 'value="Typed by hand"' in adjust_form(body)
    assert said in body


def test_two_who_change_different_fields_both_get_what_they_wanted(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    typed = fields_of(task, title="Reminders", priority="0")
    adjusted(world, task, max_attempts=9, priority=5)

    status, body = send(mira, task, typed)

    three = part(body, 'id="three-fit"', "</section>")
    assert status == 409
    assert "Only you changed it".lower() in part(three, "<b>Title</b>", "</p>").lower()
    assert "both changed it: to settle" in part(three, "<b>Priority</b>", "</p>")
    assert "changed since you began" in part(three, "<b>Most attempts</b>", "</p>")
    shown = part(three, "<b>Priority</b>", "</li>")
    assert [part(one, "<dd>", "</dd>") for one in shown.split("<dt>")[1:]] == ["2", "5", "0"]
    assert 'value="adjust"' not in adjust_form(body)
    assert "Last: <b>Noor Haddad</b> changed how it is scheduled" in three
    assert body.index('id="adjust"') < body.index('id="revise"')

    status, body = send(mira, task, typed | {"do": "fit"})

    form = adjust_form(body)
    assert status == 200
    assert "Both changed, and yours stands here: Priority." in form
    for drawn in ('value="Reminders"', 'name="version" value="2"', 'name="maxAttempts" value="9"'):
        assert drawn in form
    assert History.objects.filter(task_id=task.pk).count() == 2

    again = fields_of(task, title="Reminders", priority="0")
    assert send(mira, task, again)[0] == 200
    task.refresh_from_db()
    assert (task.title, task.priority, task.max_attempts) == ("Reminders", 0, 9)


def test_a_task_that_moved_otherwise_takes_the_form_when_it_is_sent_again(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    typed = fields_of(task, title="Reminders")
    world.claim(task, "agent-3")

    status, body = send(mira, task, typed)

    form = adjust_form(body)
    assert status == 409
    assert "is claimed now, at state version 2" in body
    assert "three-fit" not in body
    assert 'value="Reminders"' in form
    assert 'name="version" value="2"' in form
    assert send(mira, task, typed | {"version": "2"})[0] == 200
    task.refresh_from_db()
    assert task.title == "Reminders"


def test_a_form_of_a_revision_that_was_replaced_goes_on_to_the_newest(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    typed = fields_of(task, priority="0")
    revised = transitions.revise(as_person(world.noor), task.pk, 1, task.specification.body, "Reminders")
    newest = f"T-{done(revised).task.number}"

    status, body = send(mira, task, typed)

    assert status == 409
    assert "changed since you began" in part(body, "<b>Title</b>", "</p>")
    status, body = send(mira, task, typed | {"do": "fit"})
    assert status == 200
    assert f'action="/tasks/{newest}/act"' in body
    assert 'value="Reminders"' in adjust_form(body)


def test_a_double_click_is_answered_as_the_first(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    typed = fields_of(task, priority="0")
    for _ in range(2):
        status, body = send(mira, task, typed)
        assert (status, f"{task}: priority changed." in body) == (200, True)
    assert History.objects.filter(task_id=task.pk).count() == 2


def test_a_form_found_by_the_back_button_meets_what_was_changed_by_it(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    typed = fields_of(task, priority="0")
    send(mira, task, typed)

    status, body = send(mira, task, typed | {"priority": "4"})

    assert status == 422
    shown = part(part(body, 'id="three-fit"', "</section>"), "<b>Priority</b>", "</li>")
    assert [part(one, "<dd>", "</dd>") for one in shown.split("<dt>")[1:]] == ["2", "0", "4"]
    assert f'name="key" value="{typed["key"]}-s"' not in body


def test_a_base_that_is_made_up_changes_nothing_but_the_drawing(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    made_up = {"was-priority": "x", "priority": "x", "was-title": "Never", "title": "Dunning"}
    assert "Nothing was changed" in send(mira, task, fields_of(task, **made_up))[1]
    adjusted(world, task, priority=5)
    status, _ = send(mira, task, fields_of(task) | made_up | {"version": "1"})
    assert status == 409
    assert History.objects.filter(task_id=task.pk).count() == 2


def test_of_who_is_signed_out_every_word_is_on_the_page(client: Client, world: World) -> None:
    task = world.write("Dunning")
    status, body = send(client, task, fields_of(task, title="Typed while signed out"))
    assert status == 401
    assert "Typed while signed out" in body
    assert "Dunning" not in body
