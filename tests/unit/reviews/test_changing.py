"""/tasks/<task>: revise, cancel, acknowledge and adopt, and the graph around a task."""

from __future__ import annotations

from html import unescape
from uuid import uuid4

import pytest
from django.test import Client

from claims import transitions
from claims.models import Acknowledgement, Attempt, Task
from claims.outcomes import Revised
from claims.transitions import StagedResult
from claims.vocabulary import State
from tests.support.effects import long_ago, state_of
from tests.unit.reviews.effects.conftest import CHARGE, Prepared, charge, in_doubt, prepared
from tests.unit.reviews.effects.conftest import act as act_on_effect
from tests.unit.reviews.world import World, as_agent, as_person, done

__all__ = ["charge"]


@pytest.fixture
def mira(world: World, client: Client) -> Client:
    """The browser of Mira, who prepares tasks of billing."""
    client.force_login(world.mira)
    return client


def act(client: Client, task: Task, do: str, **fields: str) -> tuple[int, str]:
    task.refresh_from_db()
    posted = {"key": str(uuid4()), "version": str(task.state_version), "reason": "the law changed", "do": do}
    answer = client.post(f"/tasks/{task}/act", posted | fields, follow=True)
    return answer.status_code, unescape(answer.content.decode())


def page_of(client: Client, task: Task, tab: str) -> str:
    return unescape(client.get(f"/tasks/{task}/{tab}").content.decode()).replace("\xa0", " ")


def source_of(client: Client, task: Task) -> str:
    return page_of(client, task, "change").split('name="source"')[1].split(">", 1)[1].split("</textarea>")[0]


def newest(task: Task) -> Task:
    return Task.objects.filter(lineage_id=task.lineage_id).order_by("-revision")[0]


def test_a_revision_takes_its_place_and_ends_the_claim(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    world.claim(task, "agent-3")
    text = source_of(mira, task)
    assert "agent-3 loses its claim" in page_of(mira, task, "change")

    status, body = act(mira, task, "revise", source=text.replace("Tests pass", "Tests and types pass"))

    task.refresh_from_db()
    new = newest(task)
    assert (status, task.state, new.state, new.revision) == (200, State.SUPERSEDED, State.OPEN, 2)
    assert "is revision 2 of" in body
    assert new.specification.body["acceptance"][1]["text"] == "Tests and types pass"
    assert "wrote revision 2 of it" in body
    assert f"/tasks/{new}" in page_of(mira, task, "spec")


def test_what_is_wrong_with_a_revision_is_told_by_line_and_nothing_typed_is_lost(
    mira: Client, world: World
) -> None:
    task = world.write("Dunning")
    typed = "title: Dunning\ntask: x\nacceptence:\n  - text: y\npriority: 1\n"

    status, body = act(mira, task, "revise", source=typed)

    assert status == 422
    assert "line 3, column 1: there is no key acceptence; did you mean acceptance?" in body
    assert "acceptence:" in body.split('name="source"')[1].split("</textarea>")[0]
    assert newest(task) == task


def test_scheduling_cannot_be_slipped_into_a_revision(mira: Client, world: World) -> None:
    task = world.write("Dunning")

    status, body = act(mira, task, "revise", source="title: Dunning\ntask: x\npriority: 0\npool: sandbox\n")

    assert status == 422
    assert "pool is not part of the input" in body
    assert "priority is not part of the input" in body


def test_a_revision_of_what_has_moved_is_refused_with_the_truth(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    text = source_of(mira, task)

    status, body = act(mira, task, "revise", source=text + "# mine\n", version="7")

    assert status == 409
    assert f"{task} is open now, at state version 1." in body
    assert "# mine" in body


def test_a_cancelled_task_says_so_and_who_cancelled_it(mira: Client, world: World) -> None:
    task = world.write("Dunning")
    world.claim(task, "agent-3")
    assert act(mira, task, "cancel", reason=" ")[0] == 422

    status, body = act(mira, task, "cancel")

    task.refresh_from_db()
    assert (status, task.state) == (200, State.CANCELLED)
    assert "is cancelled. Nothing of it is accepted from now on" in body
    assert "Mira Chen" in body
    assert "<q>the law changed</q>" in body


def test_a_done_task_is_not_cancelled_and_the_page_says_why(mira: Client, world: World) -> None:
    delivery = world.delivered("Plans", reviewer="ines")
    world.accept(delivery, world.ines)

    status, body = act(mira, delivery.task, "cancel")

    assert status == 409
    assert "TOO_LATE" in body


def test_only_preparers_and_operators_find_the_forms_and_may_send_them(client: Client, world: World) -> None:
    task = world.write("Dunning")
    client.force_login(world.ben)

    assert "Only a preparer or an operator of billing" in page_of(client, task, "change")
    for do, more in (("cancel", {}), ("revise", {"source": "title: t\ntask: x\n"})):
        assert act(client, task, do, **more)[0] == 403
    client.force_login(world.stranger)
    assert client.post(f"/tasks/{task}/act", {"do": "cancel"}).status_code == 404
    task.refresh_from_db()
    assert task.state == State.OPEN


def test_a_blocked_task_names_what_is_in_the_way_and_the_other_what_waits_for_it(
    mira: Client, world: World
) -> None:
    first = world.write("Schema")
    second = world.write("Pages", depends_on=(str(first),))

    assert second.state == State.BLOCKED
    assert f"{first} Schema" in page_of(mira, second, "spec").split("Blocked for")[1].split("</p>")[0]
    assert "Waits for" in page_of(mira, second, "spec")
    assert "Waited for by" in page_of(mira, first, "spec")

    delivery = world.deliver(first, world.claim(first))
    world.accept(delivery, world.ines)
    assert "the last result it waited for is there" in page_of(mira, second, "timeline")


def test_what_was_built_on_a_result_that_was_replaced_is_marked(mira: Client, world: World) -> None:
    first = world.write("Schema")
    second = world.write("Pages", depends_on=(str(first),))
    for task in (first, second):
        world.accept(world.deliver(task, world.claim(task)), world.ines)
    again = done(
        transitions.revise(
            as_person(world.mira), first.pk, Task.objects.get(pk=first.pk).state_version, {"task": "Again"}
        )
    )
    assert isinstance(again, Revised)
    third = Task.objects.get(pk=again.task.task_id)
    world.accept(world.deliver(third, world.claim(third)), world.ines)

    body = page_of(mira, second, "timeline")
    assert "built on old input" in body
    assert "newer than the result this was opened with" in body


def test_an_earlier_effect_is_acknowledged_and_says_what_was_said(mira: Client, world: World) -> None:
    one = prepared(world, CHARGE)
    in_doubt(world, one)
    long_ago(one.id, 300)
    mira.force_login(world.noor)
    act_on_effect(mira, one, "settle", said="HAPPENED")
    mira.force_login(world.mira)
    act(mira, one.task, "revise", source=source_of(mira, one.task))
    new = newest(one.task)
    assert "nothing was said of it" in page_of(mira, new, "effects")

    assert act(mira, new, "acknowledge", effect=one.id, counts="")[0] == 422
    status, body = act(mira, new, "acknowledge", effect=one.id, counts="yes")

    assert status == 200
    assert Acknowledgement.objects.get(task=new).counts
    assert f"counts for {new}" in body
    status, body = act(mira, new, "acknowledge", effect=one.id, counts="no")
    assert (status, Acknowledgement.objects.filter(task=new).count()) == (409, 1)


def test_the_effects_tab_shows_each_slot_as_it_stands(ines: Client, world: World, charge: Prepared) -> None:
    body = page_of(ines, charge.task, "effects")

    assert f'href="/effects/{charge.id}"' in body
    assert "Nobody knows whether agent-7 made the call." in body
    waiting = world.write("Later", effects=(CHARGE,))
    assert "nothing is prepared yet" in page_of(ines, waiting, "effects")
    assert state_of(charge.id) == "UNKNOWN"


def staged_and_released(world: World) -> tuple[Task, Attempt]:
    """A task whose first runner staged a result, told what it cost, and gave the task back."""
    task = world.write("Import")
    fence = world.claim(task, "agent-3")
    caller = as_agent(world.agents["agent-3"])
    done(transitions.stage(caller, fence, StagedResult({"half": True}, ())))
    done(transitions.release(caller, fence, "out of memory", {"seconds": 90, "tokens": 1_200}))
    return task, Attempt.objects.get(pk=fence.attempt_id)


def test_evidence_is_adopted_by_the_agent_that_is_chosen(client: Client, world: World) -> None:
    task, attempt = staged_and_released(world)
    client.force_login(world.noor)
    assert "Adopt evidence that is there" in page_of(client, task, "claim")

    status, body = act(client, task, "adopt", attempt="", runner="")
    assert status == 422
    assert "Choose the evidence to go on from." in body
    status, body = act(client, task, "adopt", attempt=str(attempt.pk), runner="agent-9")

    task.refresh_from_db()
    assert (status, task.state, task.runner.name) == (200, State.CLAIMED, "agent-9")
    assert task.attempt.adopted_from == attempt.pk
    assert "it must be delivered again" in body


def test_only_an_operator_adopts(mira: Client, world: World) -> None:
    task, attempt = staged_and_released(world)

    assert "Adopt evidence" not in page_of(mira, task, "claim")
    assert act(mira, task, "adopt", attempt=str(attempt.pk), runner="agent-9")[0] == 403


def test_what_discarded_attempts_cost_is_kept_on_the_page(ines: Client, world: World) -> None:
    task, _ = staged_and_released(world)

    body = page_of(ines, task, "claim")

    assert "discarded, given back" in body
    assert "1 min, 1,200 tokens" in body


@pytest.mark.parametrize("do", ["", "explode"])
def test_what_is_no_act_is_not_found(mira: Client, world: World, do: str) -> None:
    assert act(mira, world.write("Dunning"), do)[0] == 404
