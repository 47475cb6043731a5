"""Who else has the decision page open: said to those who may see it, kept in the cache, and missed by nobody."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, cast
from uuid import uuid4

import pytest
from django.core.cache import caches
from django.test import Client
from redis.connection import Connection

from claims.models import Delivery, Membership
from claims.vocabulary import DeliveryState, Right
from config.caches import ForgivingRedisCache
from reviews.desk import present
from tests.unit.reviews.desk.test_page import QUERIES_OF_A_FIRST_ROUND
from tests.unit.reviews.world import World, person

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
QUERIES_OF_THE_FRAGMENT = 4
ONE_MORE = 1
REVIEWERS, READERS = ["Ada", "Ben", "Cem", "Dua", "Eva"], ["Fay", "Gus", "Hal", "Ida"]


def came(delivery: Delivery, who: Any, seconds_ago: float) -> None:
    """That person had the page open so long ago."""
    cache = cast(ForgivingRedisCache, caches["default"])
    key, now = f"present:{delivery.pk}", time.time()
    cache.seen_lately(key, str(who.pk), now - seconds_ago, present.LASTS_SECONDS)


def told(delivery: Delivery, who: Any) -> str:
    """What the page tells this person."""
    client = Client()
    client.force_login(who)
    answer = client.get(f"/reviews/{delivery.pk}/presence", headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode().partition(">")[2].partition("<")[0]


def test_two_who_open_the_page_are_told_of_each_other_and_not_of_themselves(
    world: World, ines: Client, delivery: Delivery
) -> None:
    assert "data-live-text></span>" in ines.get(f"/reviews/{delivery.pk}").content.decode()

    assert told(delivery, world.ben) == "Ines Halvorsen is also reviewing"
    assert ">Ben Okafor is also reviewing</span>" in ines.get(f"/reviews/{delivery.pk}").content.decode()


def test_who_may_not_decide_is_reading(world: World, delivery: Delivery) -> None:
    came(delivery, world.noor, 0)

    assert told(delivery, world.ines) == "Noor Haddad is also reading"


def test_who_made_it_is_reading_although_they_review_others_work(world: World, delivery: Delivery) -> None:
    maker = person("olu", "Olu", "Maker")
    Membership.objects.create(pool=delivery.pool, person=maker, right=Right.REVIEWER)
    delivery.makers = [maker.pk]
    came(delivery, maker, 0)

    assert present.others(delivery, world.ines.pk) == "Olu Maker is also reading"


def test_who_decides_is_told_from_who_looks_on_until_it_is_decided(world: World, delivery: Delivery) -> None:
    came(delivery, world.ben, 1)
    came(delivery, world.mira, 0)
    assert present.others(delivery, world.ines.pk) == "Ben Okafor is also reviewing, Mira Chen is reading"

    delivery.state = DeliveryState.ACCEPTED
    assert present.others(delivery, world.ines.pk) == "Mira Chen and Ben Okafor are also reading"


def test_who_left_is_named_for_two_minutes_and_no_longer(world: World, delivery: Delivery) -> None:
    came(delivery, world.ben, present.LASTS_SECONDS - 5)
    assert told(delivery, world.ines) == "Ben Okafor is also reviewing"

    came(delivery, world.ben, present.LASTS_SECONDS + 1)
    assert told(delivery, world.ines) == ""


def test_the_cache_itself_forgets_a_page_that_nobody_opens(world: World, delivery: Delivery) -> None:
    came(delivery, world.ben, 0)
    cache = caches["default"]
    name = cache.make_and_validate_key(f"present:{delivery.pk}")

    assert 0 < cache._cache.get_client(name).ttl(name) <= present.LASTS_SECONDS  # type: ignore[attr-defined]


def test_twenty_who_come_at_the_same_moment_do_not_lose_each_other() -> None:
    delivery_id, at_once = uuid4(), Barrier(20)

    def come(number: int) -> None:
        at_once.wait(30)
        present.renew(delivery_id, number)

    with ThreadPoolExecutor(20) as crowd:
        list(crowd.map(come, range(20)))

    assert sorted(present.renew(delivery_id, 99)) == list(range(20))


def test_who_lost_the_right_to_see_it_is_not_named(world: World, delivery: Delivery) -> None:
    came(delivery, world.ben, 0)
    Membership.objects.filter(person=world.ben).delete()
    Membership.objects.create(pool=world.sandbox, person=world.ben, right=Right.REVIEWER)

    assert told(delivery, world.ines) == ""


def test_whose_account_is_closed_is_not_named(world: World, delivery: Delivery) -> None:
    came(delivery, world.ben, 0)
    world.ben.is_active = False
    world.ben.save()

    assert told(delivery, world.ines) == ""


def test_who_may_not_see_it_neither_sees_nor_counts(world: World, delivery: Delivery, client: Client) -> None:
    client.force_login(world.stranger)
    assert client.get(f"/reviews/{delivery.pk}/presence", headers=HTMX).status_code == 404

    assert present.renew(delivery.pk, world.ines.pk) == []


@pytest.mark.parametrize("request_of", ["save", "arrival", "presence"])
def test_what_an_open_page_asks_for_anyway_keeps_somebody_here(
    ines: Client, world: World, delivery: Delivery, request_of: str
) -> None:
    address = f"/reviews/{delivery.pk}/{request_of}"
    if request_of == "save":
        assert ines.post(address, {"verdict-1": "met"}, headers=HTMX).status_code == 204
    else:
        assert ines.get(address, headers=HTMX).status_code == 200

    assert present.renew(delivery.pk, world.ben.pk) == [world.ines.pk]


def test_the_fragment_is_a_page_too_and_costs_nothing_while_nothing_changes(
    ines: Client, delivery: Delivery
) -> None:
    address = f"/reviews/{delivery.pk}/presence"
    first = ines.get(address, headers=HTMX)

    assert first.content.decode().startswith('<span id="presence"')
    again = ines.get(address, headers={**HTMX, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert 'id="desk"' in ines.get(address).content.decode()


def test_somebody_else_costs_one_query_and_nobody_else_none(
    ines: Client, world: World, delivery: Delivery, django_assert_num_queries: Any
) -> None:
    address = f"/reviews/{delivery.pk}"
    ines.get(address)
    came(delivery, world.ben, 0)
    came(delivery, world.noor, 0)

    with django_assert_num_queries(QUERIES_OF_A_FIRST_ROUND + ONE_MORE):
        ines.get(address)
    with django_assert_num_queries(QUERIES_OF_THE_FRAGMENT + ONE_MORE):
        ines.get(f"{address}/presence", headers=HTMX)


def test_a_page_asks_the_cache_once(
    ines: Client, world: World, delivery: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    ines.get(f"/reviews/{delivery.pk}")
    came(delivery, world.ben, 0)
    trips: list[Any] = []
    send = Connection.send_packed_command

    def counted(self: Connection, command: Any, *args: Any, **more: Any) -> Any:
        trips.append(command)
        return send(self, command, *args, **more)

    monkeypatch.setattr(Connection, "send_packed_command", counted)

    assert "Ben Okafor is also reviewing" in ines.get(f"/reviews/{delivery.pk}").content.decode()
    assert len(trips) == 1


def test_without_the_cache_nothing_is_said_and_nothing_fails(
    ines: Client, world: World, delivery: Delivery, settings: Any
) -> None:
    came(delivery, world.ben, 0)
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}}

    answer = ines.get(f"/reviews/{delivery.pk}")
    assert answer.status_code == 200
    assert "is also" not in answer.content.decode()
    assert ines.get(f"/reviews/{delivery.pk}/presence", headers=HTMX).status_code == 200
    saved = ines.post(f"/reviews/{delivery.pk}/save", {"verdict-1": "met"}, headers=HTMX)
    assert saved.status_code == 204


@pytest.mark.parametrize(
    ("reviewing", "reading", "words"),
    [
        (0, 0, ""),
        (1, 0, "Ada is also reviewing"),
        (2, 0, "Ada and Ben are also reviewing"),
        (3, 0, "Ada, Ben and Cem are also reviewing"),
        (4, 0, "Ada, Ben, Cem and 1 more are also reviewing"),
        (5, 0, "Ada, Ben, Cem and 2 more are also reviewing"),
        (0, 1, "Fay is also reading"),
        (0, 4, "Fay, Gus, Hal and 1 more are also reading"),
        (1, 1, "Ada is also reviewing, Fay is reading"),
        (2, 3, "Ada and Ben are also reviewing, Fay and 2 more are reading"),
        (3, 1, "Ada, Ben and Cem are also reviewing, 1 more is reading"),
    ],
)
def test_at_most_three_are_named_and_those_who_review_before_those_who_read(
    reviewing: int, reading: int, words: str
) -> None:
    assert present.said(REVIEWERS[:reviewing], READERS[:reading]) == words
