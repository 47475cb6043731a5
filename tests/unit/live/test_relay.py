"""The relay waits for a lost server and goes on where it was."""

from __future__ import annotations

import asyncio

import pytest
from django.db import connection

from claims.live.relay import PAUSE_SECONDS, RETRY_SECONDS, Relay
from claims.models import Pool

pytestmark = pytest.mark.django_db(transaction=True)


def one_round(relay: Relay) -> float:
    return asyncio.run(relay.round())


def test_a_round_that_finds_nothing_waits_a_moment() -> None:
    Pool.objects.create(name="billing", scheduler_epoch=1)
    assert one_round(Relay()) == PAUSE_SECONDS


def test_a_lost_database_connection_costs_one_wait_and_no_cursor() -> None:
    relay = Relay()

    async def rounds() -> list[float]:
        waits = [await relay.round()]
        kept = relay.cursor
        with connection.cursor() as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        waits += [await relay.round(), await relay.round()]
        assert kept is not None
        assert relay.cursor is not None
        return waits

    import os

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        waits = asyncio.run(rounds())
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
    assert waits[-1] == PAUSE_SECONDS
    assert set(waits) <= {PAUSE_SECONDS, RETRY_SECONDS}


def test_a_relay_that_is_asked_to_end_ends_after_its_round() -> None:
    async def run() -> None:
        relay = Relay()
        relay.stop()
        await asyncio.wait_for(relay.run(), 5)

    asyncio.run(run())
