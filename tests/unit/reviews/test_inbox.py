"""/reviews and the badges: what waits for whom."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from claims.models import Agent, Delivery, Membership, Task
from claims.selectors import badges, inbox
from claims.selectors.seen import pools_of
from claims.vocabulary import Right
from reviews.inbox import marks
from reviews.inbox.rows import row_of
from reviews.models import VerdictDraft
from tests.unit.reviews.world import World

Tasks = dict[str, Task]


def seat(who: User) -> inbox.Seat:
    return marks.seat_of(who.pk, pools_of(who.pk))


def bucket(name: str, who: User) -> set[int]:
    (found,) = inbox.buckets(seat(who), inbox.InboxFilter(), 50, [name])
    assert found.count == len(found.rows)
    return {row.task.number for row in found.rows}


def test_a_named_reviewer_must_decide_and_a_group_can(world: World, tasks: Tasks) -> None:
    assert bucket("must", world.ines) == {tasks["delivered"].number}
    assert bucket("can", world.ines) == {tasks["can"].number}
    assert bucket("must", world.ben) == {tasks["other"].number}
    assert bucket("can", world.ben) == {tasks["can"].number}


def test_a_new_round_after_my_request_is_back_to_me_and_in_no_other_bucket(
    world: World, tasks: Tasks
) -> None:
    assert bucket("back", world.ines) == {tasks["told"].number}
    assert tasks["told"].number not in bucket("must", world.ines) | bucket("can", world.ines)


def test_a_bucket_counts_all_and_draws_the_first(world: World, tasks: Tasks) -> None:
    numbers = [tasks["delivered"].number] + [
        world.delivered(f"More {number}", reviewer="ines").task.number for number in range(3)
    ]
    last = Task.objects.get(number=numbers[-1])
    place = replace(seat(world.ines), pinned=[last.pk])
    for wanted, order in (
        (inbox.InboxFilter(), [numbers[3], numbers[0]]),
        (inbox.InboxFilter(newest=True), [numbers[3], numbers[2]]),
    ):
        must, can, back = inbox.buckets(place, wanted, 2)
        assert (must.count, can.count, back.count) == (4, 1, 1)
        assert [row.task.number for row in must.rows] == order


def test_what_waits_for_a_colleague_is_shown_apart_and_counts_in_no_badge(world: World, tasks: Tasks) -> None:
    assert [row.task.number for row in inbox.on_others(seat(world.ines), 9)] == [tasks["other"].number]
    assert badges.reviews_waiting(seat(world.ines)) == 3


def test_what_went_back_to_its_agent_is_waiting_on_the_agent(world: World, tasks: Tasks) -> None:
    found = inbox.on_agents(seat(world.ines), 9)
    assert [task.number for task in found] == [tasks["changes"].number]


def test_the_owner_of_the_agent_that_made_it_has_nothing_to_decide(world: World, tasks: Tasks) -> None:
    Membership.objects.create(pool=world.billing, person=world.noor, right=Right.REVIEWER)
    assert not inbox.waiting(seat(world.noor)).exists()
    Agent.objects.all().update(owner=world.mira)
    assert not inbox.waiting(seat(world.noor)).exists(), "the maker at the grant stays the maker"


def test_a_viewer_has_no_inbox_and_starts_on_the_board(client: Client, world: World, tasks: Tasks) -> None:
    client.force_login(world.mira)
    assert client.get("/")["Location"] == "/board"
    assert not inbox.waiting(seat(world.mira)).exists()


def test_a_reviewer_starts_in_the_inbox(ines: Client, tasks: Tasks) -> None:
    assert ines.get("/")["Location"] == "/reviews"


def test_the_page_says_first_what_is_needed(ines: Client, tasks: Tasks) -> None:
    html = unescape(ines.get("/reviews").content.decode())
    assert "3 deliveries wait for your decision" in html
    assert html.index("Must decide") < html.index("Can decide") < html.index("Back to you")
    assert "2 criteria met by agent-7’s account" in html


def test_unsent_verdicts_are_listed_for_the_one_who_gave_them_only(
    ines: Client, world: World, tasks: Tasks
) -> None:
    delivery = Delivery.objects.get(pk=tasks["delivered"].delivery_id)
    VerdictDraft.objects.create(
        person=world.ines, delivery=delivery, criterion=1, verdict="MET", typed_at=timezone.now()
    )
    assert "1 of 2 judged" in ines.get("/reviews").content.decode()
    ines.force_login(world.ben)
    assert "judged" not in ines.get("/reviews").content.decode()


def test_a_filter_that_fits_nothing_says_so(ines: Client, tasks: Tasks) -> None:
    assert "No delivery fits" in ines.get("/reviews?q=nosuchthing").content.decode()


def test_the_operations_badge_counts_quiet_claims_of_operated_pools(world: World, tasks: Tasks) -> None:
    assert badges.operations_waiting(pools_of(world.noor.pk)) == 1
    assert badges.operations_waiting(pools_of(world.ben.pk)) == 0
    assert [task.pk for task in badges.quiet_claims([world.billing.pk])] == [tasks["quiet"].pk]


def test_a_row_shows_the_servers_facts_and_flags_apart_from_the_agents_account(
    world: World, tasks: Tasks
) -> None:
    facts = {
        "diff": {"added": 64, "removed": 12, "files": 4},
        "tests": {"executed": 32, "passed": 31, "failed": 1, "skipped": 0},
        "screenshots": [{}, {}],
        "scope": {"excluded": ["a"], "outside": ["b", "c"]},
        "flags": [{"code": "width", "text": "shot-390 is 400 px wide, not 390 px."}],
    }
    Delivery.objects.filter(pk=tasks["delivered"].delivery_id).update(facts=facts)
    found = inbox.buckets(seat(world.ines), inbox.InboxFilter(), 9)[0].rows
    row = row_of(found[0], world.ines.pk)
    assert [fact.replace("\xa0", " ") for fact in row.facts] == [
        "+64 −12 in 4 files",
        "31 tests passed, 1 failed",
        "2 screenshots",
    ]
    assert [flag.text for flag in row.flags] == [
        "touches 1 excluded file",
        "1 failing test",
        "2 files outside scope",
        "shot-390 is 400 px wide, not 390 px",
    ]


def test_the_inbox_takes_the_same_queries_however_many_wait(ines: Client, world: World, tasks: Tasks) -> None:
    ines.get("/reviews")
    with CaptureQueriesContext(connection) as few:
        ines.get("/reviews")
    for number in range(5):
        world.delivered(f"More {number}", reviewer="ines")
    with CaptureQueriesContext(connection) as many:
        ines.get("/reviews")
    assert len(many) == len(few)
    assert len(few) <= 21
