"""A socket that is open hears nothing of a pool its person has lost, and nothing after signing out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.test import Client

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
        for pool in pools:
            await consumer.live_hints({"pool": pool.name, "sequence": 7, "hints": []})
        assert consumer.telling is not None
        await consumer.telling

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
    assert pool.name in message["text"]


def test_hints_of_two_pools_that_come_together_are_one_frame(person: User, pool: Pool) -> None:
    other = Pool.objects.create(name="sandbox", scheduler_epoch=2)
    Membership.objects.create(pool=other, person=person, right=Right.VIEWER)
    client = Client()
    client.force_login(person)
    (message,) = heard(client.session.session_key, pool, other)
    assert json.loads(message["text"])["sequences"] == {"billing": 7, "sandbox": 7}


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
