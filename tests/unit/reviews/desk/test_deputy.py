"""A deputy: named on a page, sees what waits, decides with the reason filled in, and is marked for ever."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from claims.models import Decision, Delivery, Deputy, Membership, Task
from claims.vocabulary import Right
from reviews.inbox.rows import day_words
from tests.support import deliveries
from tests.unit.reviews.world import World

ALL_MET = {f"verdict-{number}": "met" for number in range(1, 5)}


def today() -> date:
    return timezone.now().date()


@pytest.fixture
def until(world: World) -> date:
    """Ben is the deputy of Ines until this day."""
    last = today() + timedelta(days=4)
    Deputy.objects.create(
        pool=world.billing,
        person=world.ines,
        deputy=world.ben,
        from_day=today(),
        until_day=last,
        named_at=timezone.now(),
    )
    return last


def form(delivery: Delivery, do: str, **fields: str) -> dict[str, str]:
    return {"subject": delivery.subject_digest, "key": str(uuid4()), "do": do, **fields}


def test_a_person_names_another_reviewer_on_the_page_and_takes_it_back(ines: Client, world: World) -> None:
    last = today() + timedelta(days=3)
    posted = {"pool": "billing", "deputy": str(world.ben.pk), "from": str(today()), "until": str(last)}
    answer = ines.post("/account/deputy", {**posted, "do": "name"}, follow=True)
    assert f"from {day_words(today())} to {day_words(last)}" in answer.content.decode()
    assert Deputy.objects.get().deputy == world.ben

    ines.post("/account/deputy", {"pool": "billing", "do": "end"})
    assert not Deputy.objects.exists()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"until": "soon"}, "Write each day as a date"),
        ({"until": "2020-01-01", "from": "2019-12-30"}, "over already"),
        ({"deputy": "x"}, "Both of you have to be reviewers"),
    ],
)
def test_what_cannot_be_is_said_and_what_was_typed_stays(
    ines: Client, world: World, changed: dict[str, str], words: str
) -> None:
    day = str(today() + timedelta(days=1))
    posted = {"pool": "billing", "deputy": str(world.ben.pk), "from": day, "until": day, **changed}
    answer = ines.post("/account/deputy", posted)
    body = answer.content.decode()
    assert (answer.status_code, words in body) == (422, True)
    assert f'name="until" required value="{posted["until"]}"' in body
    assert not Deputy.objects.exists()


def test_a_pool_in_which_one_does_not_review_is_not_found(client: Client, world: World) -> None:
    client.force_login(world.noor)
    assert "You review in no pool" in client.get("/account/deputy").content.decode()
    assert client.post("/account/deputy", {"pool": "billing", "do": "end"}).status_code == 404


def test_the_page_says_for_whom_one_stands_in(client: Client, world: World, until: date) -> None:
    client.force_login(world.ben)
    assert "for Ines Halvorsen in billing" in client.get("/account/deputy").content.decode()


def test_what_waits_for_who_is_away_stands_under_must_decide(
    client: Client, world: World, delivery: Delivery, until: date
) -> None:
    client.force_login(world.ben)
    body = client.get("/reviews/bucket/must").content.decode()
    assert f"for Ines Halvorsen, away until {day_words(until)}" in body
    assert str(delivery.pk) in body
    Deputy.objects.update(from_day=today() + timedelta(days=1))
    assert str(delivery.pk) not in client.get("/reviews").content.decode().split('id="others"')[0]


def test_the_reason_is_filled_in_and_the_decision_is_marked(
    client: Client, world: World, delivery: Delivery, until: date
) -> None:
    client.force_login(world.ben)
    words = f"As deputy for Ines Halvorsen, away until {day_words(until)}."
    assert words in client.get(f"/reviews/{delivery.pk}/sheet/accept").content.decode()

    answer = client.post(f"/reviews/{delivery.pk}/decide", form(delivery, "accept", **ALL_MET), follow=True)

    decision = Decision.objects.get()
    assert (decision.marks, decision.reason) == (["DEPUTY"], words)
    assert "as deputy for the named reviewer" in answer.content.decode()


def test_a_filled_in_reason_does_not_excuse_an_excluded_file(
    client: Client, world: World, task: Task, until: date
) -> None:
    delivery = deliveries.deliver(task, world.agents["agent-7"])
    client.force_login(world.ben)
    words = f"As deputy for Ines Halvorsen, away until {day_words(until)}."
    for reason in ("", words):
        posted = form(delivery, "accept", **ALL_MET, reason=reason)
        answer = client.post(f"/reviews/{delivery.pk}/decide", posted)
        assert answer.status_code == 422
        assert "say why you accept it all the same" in answer.content.decode()
    posted = form(delivery, "accept", **ALL_MET, reason=f"{words} The plan was renamed.")
    assert client.post(f"/reviews/{delivery.pk}/decide", posted).status_code == 302
    assert Decision.objects.get().marks == ["DEPUTY", "SCOPE_VIOLATION"]


def test_a_deputy_who_is_a_maker_is_refused_and_told_who_can_decide(
    client: Client, world: World, task: Task, until: date
) -> None:
    Membership.objects.create(pool=world.billing, person=world.mira, right=Right.REVIEWER)
    world.agents["agent-7"].owner = world.ben
    world.agents["agent-7"].save()
    delivery = deliveries.deliver(
        task, world.agents["agent-7"], items=deliveries.usual_items(diff=deliveries.IN_SCOPE)
    )
    client.force_login(world.ben)

    body = client.get(f"/reviews/{delivery.pk}").content.decode()

    assert "agent-7 is an agent of yours: maker is not checker. Ines Halvorsen or Mira Chen can." in body
    assert f'href="/reviews/hand-on/{delivery.pk}"' in body
    assert str(delivery.pk) not in client.get("/reviews/bucket/must").content.decode()
    answer = client.post(f"/reviews/{delivery.pk}/decide", form(delivery, "accept", **ALL_MET))
    assert answer.status_code == 403
    assert not Decision.objects.exists()
