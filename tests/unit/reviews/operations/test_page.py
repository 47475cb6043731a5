"""Operations: the facts around quiet claims, and what an operator orders."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from claims.models import Lease, Task
from claims.selectors import badges, drain, quiet
from claims.vocabulary import State
from reviews.operations import dossier, workers
from tests.unit.reviews.world import World

QUERIES_WITH_A_DOSSIER = 21


@pytest.fixture
def silent(world: World) -> Task:
    """A claim that is quiet for six minutes, after twelve renewals."""
    task = world.write("Dunning: second reminder after 14 days")
    world.claim(task, "agent-3")
    now = timezone.now()
    Lease.objects.filter(task_id=task.pk).update(
        expires_at=now - timedelta(minutes=6),
        renewals=12,
        renewed_at=now - timedelta(minutes=9),
        renewed_under="13.1.0",
    )
    task.refresh_from_db()
    return task


@pytest.fixture
def noor(world: World, client: Client) -> Client:
    """The browser of Noor, operator of billing."""
    client.force_login(world.noor)
    return client


def act(client: Client, task: Task, do: str, **fields: str) -> tuple[int, str]:
    lease = Lease.objects.filter(task_id=task.pk).first()
    posted = {
        "key": str(uuid4()),
        "version": str(task.state_version),
        "lease": lease.expires_at.isoformat() if lease else "",
        "do": do,
    }
    answer = client.post(
        f"/operations/{task.pk}/act", posted | {"reason": "worker-b lost power"} | fields, follow=True
    )
    return answer.status_code, answer.content.decode()


def test_the_dossier_says_what_happened_and_what_a_release_does(noor: Client, silent: Task) -> None:
    body = noor.get("/operations").content.decode()

    assert "1 quiet claim needs an operator" in body
    assert "agent-3 renewed 12 times" in body
    assert "Most likely" in body
    assert "The task goes back to <b>Open</b>" in body
    assert "Generation 1 becomes <b>2</b>" in body
    assert "answered <b>FENCED</b>" in body


def test_nothing_quiet_is_said_as_a_fact(noor: Client, world: World) -> None:
    world.claim(world.write("Login: explain a locked account"), "agent-9")
    world.claim(world.write("Login: forget a device"), "agent-7")

    body = noor.get("/operations").content.decode()

    assert "Nothing needs an operator" in body
    assert "All 2 claims renewed in the last" in body


def test_release_opens_the_task_and_says_who_is_fenced(noor: Client, silent: Task) -> None:
    status, body = act(noor, silent, "release")

    silent.refresh_from_db()
    assert (status, silent.state, silent.claim_generation) == (200, State.OPEN, 2)
    assert "agent-3 with generation 1 is answered FENCED from now on." in body


def test_a_claim_that_was_renewed_meanwhile_is_not_released_unless_the_operator_insists(
    noor: Client, silent: Task
) -> None:
    seen = Lease.objects.get(task_id=silent.pk).expires_at.isoformat()
    Lease.objects.filter(task_id=silent.pk).update(
        expires_at=timezone.now() + timedelta(minutes=5), renewed_at=timezone.now()
    )

    status, body = act(noor, silent, "release", lease=seen)

    assert status == 409
    assert "agent-3 renewed" in body
    assert f"Release {silent} anyway" in body
    assert 'name="even_if_live" value="yes"' in body
    assert "worker-b lost power</textarea>" in body

    status, _ = act(noor, silent, "release", even_if_live="yes")
    silent.refresh_from_db()
    assert (status, silent.state) == (200, State.OPEN)


def test_a_task_that_has_moved_on_is_drawn_as_it_is_now(noor: Client, world: World, silent: Task) -> None:
    world.release_quiet(silent)
    stale = Task.objects.get(pk=silent.pk)
    stale.state_version -= 1

    status, body = act(noor, stale, "release")

    assert status == 409
    assert f"{silent} is open now; nobody holds a claim on it." in body


def test_reassign_gives_the_claim_to_another_agent_in_one_step(noor: Client, silent: Task) -> None:
    status, body = act(noor, silent, "reassign", runner="agent-9")

    silent.refresh_from_db()
    assert (status, silent.state, silent.claim_generation, silent.runner.name) == (
        200,
        State.CLAIMED,
        2,
        "agent-9",
    )
    assert "is reassigned: generation 2" in body


def test_extend_once_and_nudge_leave_the_authority_alone(noor: Client, silent: Task) -> None:
    act(noor, silent, "nudge")
    silent.refresh_from_db()
    assert Lease.objects.get(task_id=silent.pk).nudged_at is not None

    status, body = act(noor, silent, "extend")
    silent.refresh_from_db()
    assert (status, silent.claim_generation) == (200, 1)
    assert "more than it had" in body


def test_a_reason_is_needed_and_the_choice_of_an_agent(noor: Client, silent: Task) -> None:
    status, body = act(noor, silent, "reassign", reason="")

    assert status == 422
    assert "Say why; the reason is kept in the history." in body
    assert "Choose the agent that gets it." in body


def test_a_held_task_says_why_and_is_requeued(noor: Client, tasks: dict[str, Task]) -> None:
    held = tasks["held"]
    assert "the import format is not documented" in noor.get("/operations").content.decode()

    status, body = act(noor, held, "requeue")

    held.refresh_from_db()
    assert (status, held.state) == (200, State.OPEN)
    assert "is open again; its attempts start anew." in body


def test_only_operators_see_it_and_only_their_pools(client: Client, world: World, silent: Task) -> None:
    client.force_login(world.ben)
    assert client.get("/operations").status_code == 403

    client.force_login(world.noor)
    assert client.get("/operations?pool=sandbox").status_code == 404


def test_a_reviewer_cannot_release(client: Client, world: World, silent: Task) -> None:
    client.force_login(world.ben)

    assert client.post(f"/operations/{silent.pk}/act", {"do": "release", "reason": "x"}).status_code == 403


def test_the_page_asks_the_database_a_fixed_number_of_times(
    noor: Client, silent: Task, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(QUERIES_WITH_A_DOSSIER):
        noor.get("/operations")


def test_the_drain_names_what_can_still_write(noor: Client, world: World, tasks: dict[str, Task]) -> None:
    found = drain.status(world.billing.pk)
    states = list(Task.objects.filter(pool=world.billing).values_list("state", flat=True))
    body = noor.get("/operations").content.decode().split('id="drain-billing"')[1].split("</ul>")[0]

    assert found.claims.count == states.count(State.CLAIMED)
    assert found.deliveries.count == states.count(State.DELIVERED)
    assert f"{found.claims.count}, 1 of them quiet" in body
    for blocker in (*found.claims.blockers[:5], *found.deliveries.blockers[:5]):
        assert f"T-{blocker.number}" in body
    assert "Holds: </span>No effect executing or unknown" in body


def test_the_badge_is_the_length_of_the_list(world: World, tasks: dict[str, Task]) -> None:
    ids = [world.billing.pk]

    assert badges.quiet_count(ids) == len(quiet.rows(ids))


def test_the_guess_names_what_it_rests_on(world: World, silent: Task) -> None:
    now = timezone.now()
    task = quiet.rows([world.billing.pk])[0]

    assert "nothing was heard of agent-3" in dossier.guess_of(task, quiet.around(task), now)
    world.claim(world.write("Another"), "agent-3")
    assert "still renews 1 other claim" in dossier.guess_of(task, quiet.around(task), now)


def test_a_broker_that_does_not_answer_is_a_sentence(settings: Any, db: None) -> None:
    settings.FENCEPOST_BROKER_URL = "redis://127.0.0.1:1/0"

    assert any("the broker does not answer" in line.value for line in workers.lines())
