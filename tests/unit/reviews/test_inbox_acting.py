"""What a person does with a row of the inbox: pin, snooze, hand on, preview."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from claims.fences import Fence
from claims.models import Delivery, History, Membership, Task
from claims.vocabulary import Right
from reviews.inbox import marks
from reviews.models import PinnedTask, SnoozedDelivery, VerdictDraft
from tests.unit.reviews.world import World, person

Tasks = dict[str, Task]


def delivery_of(task: Task) -> Delivery:
    return Delivery.objects.get(pk=task.delivery_id)


def rows(client: Client, address: str = "/reviews") -> list[str]:
    """The ids of the rows that are listed, in order."""
    body = client.get(address).content.decode()
    return [part.split('"')[0] for part in body.split('id="delivery-')[1:]]


def waiting(client: Client) -> list[str]:
    """The same without what is snoozed."""
    body = client.get("/reviews").content.decode().split('id="asleep"')[0]
    return [part.split('"')[0] for part in body.split('id="delivery-')[1:]]


def test_a_pinned_row_comes_first_in_its_bucket_and_stays_pinned_with_the_next_round(
    ines: Client, world: World, tasks: Tasks
) -> None:
    later = world.delivered("Later", reviewer="ines")
    assert waiting(ines)[0] == str(tasks["delivered"].delivery_id)

    answer = ines.post("/reviews/mark", {"pin": str(later.pk)})

    assert answer["Location"] == f"/reviews#delivery-{later.pk}"
    assert waiting(ines)[0] == str(later.pk)
    assert PinnedTask.objects.get().task_id == later.task_id
    ines.post("/reviews/mark", {"unpin": str(later.pk)})
    assert waiting(ines)[0] == str(tasks["delivered"].delivery_id)


def test_pins_and_snoozes_are_private(ines: Client, client: Client, world: World, tasks: Tasks) -> None:
    ines.post(f"/reviews/snooze/{tasks['can'].delivery_id}", {"until": "hour"})
    assert str(tasks["can"].delivery_id) not in waiting(ines)
    client.force_login(world.ben)
    assert str(tasks["can"].delivery_id) in waiting(client)


def test_a_snoozed_row_is_listed_apart_comes_back_by_itself_and_can_be_brought_back(
    ines: Client, world: World, tasks: Tasks
) -> None:
    key = tasks["delivered"].delivery_id
    answer = ines.post(f"/reviews/snooze/{key}", {"until": "hour"}, follow=True)
    assert "is put aside until" in answer.content.decode()
    assert str(key) not in waiting(ines)
    assert str(key) in rows(ines)

    SnoozedDelivery.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert str(key) in waiting(ines)

    marks.snooze(world.ines.pk, key, timezone.now() + timedelta(hours=1))
    ines.post("/reviews/mark", {"wake": str(key)})
    assert str(key) in waiting(ines)


def test_a_new_round_brings_a_snoozed_task_back_at_once(ines: Client, world: World, tasks: Tasks) -> None:
    first = delivery_of(tasks["delivered"])
    ines.post(f"/reviews/snooze/{first.pk}", {"until": "week"})
    attempt = world.send_back(first, world.ines)
    task = Task.objects.get(pk=first.task_id)
    second = world.deliver(task, fence_of(task, attempt))
    assert str(second.pk) in waiting(ines)


def fence_of(task: Task, attempt: UUID) -> Fence:
    return Fence(task.pk, attempt, 13, task.claim_generation, task.cancel_generation)


@pytest.mark.parametrize(
    ("choice", "zone", "wanted"),
    [
        ("hour", "", datetime(2026, 11, 30, 19, 30, tzinfo=UTC)),
        ("tomorrow", "", datetime(2026, 12, 1, 9, 0, tzinfo=UTC)),
        ("tomorrow", "Europe/Oslo", datetime(2026, 12, 1, 8, 0, tzinfo=UTC)),
        ("week", "Europe/Oslo", datetime(2026, 12, 7, 8, 0, tzinfo=UTC)),
        ("week", "../etc/passwd", datetime(2026, 12, 7, 9, 0, tzinfo=UTC)),
        ("tomorrow", "Pacific/Kiritimati", datetime(2026, 12, 1, 19, 0, tzinfo=UTC)),
    ],
)
def test_a_choice_is_over_at_a_moment_on_the_persons_clock(choice: str, zone: str, wanted: datetime) -> None:
    monday = datetime(2026, 11, 30, 18, 30, tzinfo=UTC)
    assert marks.moment_of(choice, monday, zone) == wanted


def test_no_choice_draws_the_form_again(ines: Client, tasks: Tasks) -> None:
    answer = ines.post(f"/reviews/snooze/{tasks['delivered'].delivery_id}", {"until": "never"})
    assert answer.status_code == 200
    assert "Next week, Monday 9:00" in answer.content.decode()
    assert not SnoozedDelivery.objects.exists()


def handed(delivery: Delivery, who: object, **fields: str) -> dict[str, str]:
    return {
        "subject": delivery.subject_digest,
        "key": str(uuid4()),
        "to": str(who),
        "why": "On leave.",
        **fields,
    }


def test_handing_on_moves_the_turn_is_recorded_and_leaves_my_list(
    ines: Client, client: Client, world: World, tasks: Tasks
) -> None:
    delivery = delivery_of(tasks["delivered"])
    answer = ines.post(f"/reviews/hand-on/{delivery.pk}", handed(delivery, world.ben.pk), follow=True)

    assert "is handed on: it waits for Ben Okafor now" in answer.content.decode()
    assert Task.objects.get(pk=delivery.task_id).reviewer == world.ben
    told = History.objects.get(task_id=delivery.task_id, verb="adjust")
    assert (told.actor_name, told.body["reason"]) == ("ines", "On leave.")
    assert str(delivery.pk) not in waiting(ines)
    client.force_login(world.ben)
    assert str(delivery.pk) in waiting(client)
    body = client.get(f"/tasks/T-{delivery.task.number}/timeline").content.decode()
    assert "handed round 1 on to ben" in body
    assert "On leave." in body


def test_the_same_form_twice_hands_on_once(ines: Client, world: World, tasks: Tasks) -> None:
    delivery = delivery_of(tasks["delivered"])
    posted = handed(delivery, world.ben.pk)
    for _ in range(2):
        ines.post(f"/reviews/hand-on/{delivery.pk}", posted)
    assert History.objects.filter(task_id=delivery.task_id, verb="adjust").count() == 1


def test_a_members_not_me_of_a_group_leaves_it_to_the_others_and_comes_back_when_handed_back(
    ines: Client, client: Client, world: World, tasks: Tasks
) -> None:
    delivery = delivery_of(tasks["can"])
    ines.post(f"/reviews/hand-on/{delivery.pk}", handed(delivery, world.ben.pk))
    assert str(delivery.pk) not in waiting(ines)
    client.force_login(world.ben)
    client.post(f"/reviews/hand-on/{delivery.pk}", handed(delivery, world.ines.pk))
    client.force_login(world.ines)
    assert str(delivery.pk) in waiting(client)


def test_what_was_typed_stays_when_handing_on_is_refused(ines: Client, world: World, tasks: Tasks) -> None:
    delivery = delivery_of(tasks["delivered"])
    answer = ines.post(f"/reviews/hand-on/{delivery.pk}", handed(delivery, world.ben.pk, why=""))
    assert (answer.status_code, "Say why you hand it on." in answer.content.decode()) == (422, True)

    answer = ines.post(f"/reviews/hand-on/{delivery.pk}", handed(delivery, world.ben.pk, subject="sha256:0"))
    assert answer.status_code == 409
    assert "On leave.</textarea>" in answer.content.decode()


def test_only_those_who_may_decide_it_can_be_chosen(ines: Client, world: World, tasks: Tasks) -> None:
    Membership.objects.create(pool=world.billing, person=world.noor, right=Right.REVIEWER)
    delivery = delivery_of(tasks["delivered"])
    body = ines.get(f"/reviews/hand-on/{delivery.pk}").content.decode()
    assert "Ben Okafor (1 waits for them)" in body
    assert "Noor Haddad" not in body, "an agent of hers made it"
    answer = ines.post(f"/reviews/hand-on/{delivery.pk}", handed(delivery, world.noor.pk))
    assert answer.status_code == 422


def test_nobody_else_is_said_in_words(ines: Client, world: World, tasks: Tasks) -> None:
    Membership.objects.filter(person=world.ben).delete()
    body = ines.get(f"/reviews/hand-on/{tasks['delivered'].delivery_id}").content.decode()
    assert "Nobody else of this pool may decide it" in body


def test_a_delivery_that_was_decided_is_not_handed_on(ines: Client, world: World, tasks: Tasks) -> None:
    delivery = delivery_of(tasks["delivered"])
    world.accept(delivery, world.ines)
    answer = ines.get(f"/reviews/hand-on/{delivery.pk}", follow=True)
    assert "does not wait for a decision any more" in answer.content.decode()


def test_the_acts_are_not_found_by_those_who_do_not_review(
    client: Client, world: World, tasks: Tasks
) -> None:
    client.force_login(world.mira)
    key = tasks["delivered"].delivery_id
    for address in (f"/reviews/snooze/{key}", f"/reviews/hand-on/{key}", f"/reviews/preview/{key}"):
        assert client.get(address).status_code == 404
    for posted in ({"pin": str(key)}, {"pin": "x"}, {}):
        assert client.post("/reviews/mark", posted).status_code == 404
    assert not PinnedTask.objects.exists()


def test_the_preview_says_what_is_needed_and_offers_a_decision_once_all_is_judged(
    ines: Client, world: World, tasks: Tasks
) -> None:
    delivery = delivery_of(tasks["delivered"])
    body = ines.get(f"/reviews/preview/{delivery.pk}").content.decode()
    assert "Check the empty state at 390 px" in body
    assert "Judge its criteria first" in body
    assert 'data-key="a"' not in body.split('id="pane-body"')[1].split("</main>")[0]
    for number in (1, 2):
        VerdictDraft.objects.create(
            person=world.ines, delivery=delivery, criterion=number, verdict="MET", typed_at=timezone.now()
        )
    body = ines.get(f"/reviews/preview/{delivery.pk}", headers={"HX-Request": "true"}).content.decode()
    assert f'href="/reviews/{delivery.pk}/sheet/accept"' in body
    world.accept(delivery, world.ines)
    assert ines.get(f"/reviews/preview/{delivery.pk}").status_code == 404


def test_what_another_decides_is_told_to_the_pages_that_still_show_it(
    ines: Client, world: World, tasks: Tasks
) -> None:
    delivery = delivery_of(tasks["can"])
    world.accept(delivery, world.ben)
    body = ines.get("/reviews", headers={"HX-Request": "true"}).content.decode()
    assert f'data-left-row="delivery-{delivery.pk}" data-code="DONE">Accepted by Ben Okafor just now<' in body


def test_the_row_says_whose_turn_it_is_and_why(ines: Client, world: World, tasks: Tasks) -> None:
    world.delivered("For anybody")
    body = ines.get("/reviews").content.decode()
    for words in (
        "waiting for you, the named reviewer",
        "waiting for anyone in billing-reviewers",
        "waiting for any reviewer of billing",
    ):
        assert words in body


def test_an_empty_inbox_says_the_last_decision_and_the_oldest_elsewhere(
    ines: Client, world: World, tasks: Tasks
) -> None:
    for name in ("delivered", "can", "told"):
        world.accept(delivery_of(tasks[name]), world.ines)
    body = ines.get("/reviews").content.decode()
    assert "No one is waiting for you." in body
    assert "Last decision" in body
    assert "Oldest item elsewhere:" in body
    assert "with Ben Okafor" in body


@pytest.mark.parametrize(
    ("address", "most"),
    [
        ("/reviews/preview/{}", 14),
        ("/reviews/snooze/{}", 9),
        ("/reviews/hand-on/{}", 11),
        ("/account/deputy", 11),
    ],
)
def test_the_small_pages_take_the_same_queries_however_much_there_is(
    ines: Client, world: World, tasks: Tasks, address: str, most: int
) -> None:
    where = address.format(tasks["delivered"].delivery_id)
    ines.get(where)
    with CaptureQueriesContext(connection) as few:
        ines.get(where)
    for number in range(3):
        world.delivered(f"More {number}", reviewer="ben")
        Membership.objects.create(
            pool=world.billing, person=person(f"rev{number}", "Rev", str(number)), right=Right.REVIEWER
        )
    with CaptureQueriesContext(connection) as many:
        ines.get(where)
    assert len(many) == len(few) <= most
