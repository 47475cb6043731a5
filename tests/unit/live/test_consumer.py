"""A socket that is open hears nothing of a pool its person has lost, and nothing after signing out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.test import Client

from claims.live import standing
from claims.live.consumer import RECHECK_SECONDS, SIGNED_OUT, LiveConsumer
from claims.models import Membership, Pool
from claims.vocabulary import Right

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def person() -> User:
    return User.objects.create_user("ines")


@pytest.fixture
def pool(person: User) -> Pool:
    pool = Pool.objects.create(name="billing", scheduler_epoch=1)
    Membership.objects.create(pool=pool, person=person, right=Right.VIEWER)
    return pool


def heard(session_key: str | None, *pools: Pool) -> list[dict[str, Any]]:
    """What a page that could hear of the pools five seconds ago is sent when a hint of each comes."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def run() -> None:
        consumer = LiveConsumer()
        consumer.scope = {"session": SimpleNamespace(session_key=session_key)}
        consumer.base_send, consumer.channel_name = send, "specific.test!page"
        consumer.channel_layer = get_channel_layer()
        consumer.pools = {pool.pk: pool.name for pool in pools}
        consumer.checked_at = time.monotonic() - RECHECK_SECONDS
        hints = [{"pool": name, "task": None, "verbs": []} for name in (*consumer.pools.values(), "foreign")]
        await consumer.live_hints({"sequences": {hint["pool"]: 7 for hint in hints}, "hints": hints})

    asyncio.run(run())
    return sent


def lose_the_right(client: Client) -> None:
    Membership.objects.all().delete()


def sign_out(client: Client) -> None:
    client.session.delete()


def be_switched_off(client: Client) -> None:
    User.objects.update(is_active=False)


def test_a_hint_reaches_a_page_whose_person_has_a_right_in_the_pool(person: User, pool: Pool) -> None:
    client = Client()
    client.force_login(person)
    (message,) = heard(client.session.session_key, pool)
    assert message["type"] == "websocket.send"
    told = json.loads(message["text"])
    assert told["sequences"] == {pool.name: 7}
    assert [hint["pool"] for hint in told["hints"]] == [pool.name]


def test_pages_that_ask_together_are_answered_by_one_look_for_each_session(
    person: User, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, stranger = Client(), Client()
    client.force_login(person)
    stranger.force_login(User.objects.create_user("olof"))
    keys = [client.session.session_key, stranger.session.session_key, "ended", None]
    looks: list[list[str]] = []
    real = standing.standings

    def look(asked: Iterable[str]) -> dict[str, standing.Standing]:
        looks.append(list(asked))
        return real(looks[-1])

    async def ask() -> list[standing.Standing]:
        return await asyncio.gather(*(standing.standing_of(key) for key in keys * 100))

    monkeypatch.setattr(standing, "standings", look)
    assert asyncio.run(ask()) == [{pool.pk: pool.name}, {}, None, None] * 100
    assert [sorted(map(str, look)) for look in looks] == [sorted(map(str, keys[:3]))]


def test_a_question_during_a_look_gets_a_look_of_its_own(person: User, pool: Pool) -> None:
    client = Client()
    client.force_login(person)
    key = client.session.session_key

    async def run() -> tuple[standing.Standing, standing.Standing]:
        first = await standing.standing_of(key)
        await sync_to_async(Membership.objects.all().delete)()
        return first, await standing.standing_of(key)

    assert asyncio.run(run()) == ({pool.pk: pool.name}, {})


@pytest.mark.parametrize("end", [lose_the_right, sign_out, be_switched_off])
def test_no_hint_reaches_a_page_five_seconds_after_its_person_lost_the_right(
    end: Callable[[Client], None], person: User, pool: Pool
) -> None:
    client = Client()
    client.force_login(person)
    key = client.session.session_key
    end(client)
    sent = heard(key, pool)
    assert [message.get("code") for message in sent] == ([] if end is lose_the_right else [SIGNED_OUT])
