"""The outbox is read whole: never past a running transaction, never skipping one that commits late."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.db import connection

from claims.live.hints import MOST_HINTS, coalesced
from claims.live.relay import Relay
from claims.models import Pool
from claims.selectors import feed
from claims.selectors.feed import Told

PATIENCE_SECONDS = 300.0

pytestmark = pytest.mark.django_db(transaction=True)

_INSERT = """INSERT INTO claims_history (id, task_id, pool_id, state_version, verb, to_state, claim_generation, actor_kind,
 actor_id, actor_name, source, request_id, at, body, hash)
 VALUES (%s, gen_random_uuid(), %s, 1, 'create', 'OPEN', 0, 'SYSTEM', 0, 'fencepost', 'COMMAND', 'req', now(), '{}', '')"""


@pytest.fixture
def pool() -> Pool:
    return Pool.objects.create(name="billing", scheduler_epoch=1)


@pytest.fixture
def writers(pool: Pool) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    """Two transactions of other processes."""
    there = connection.get_connection_params()
    wanted = {name: there[name] for name in ("host", "port", "user", "password", "dbname") if name in there}
    with psycopg.connect(**wanted) as one, psycopg.connect(**wanted) as two:
        yield one, two
        one.rollback()
        two.rollback()


def next_id(writer: psycopg.Connection) -> int:
    """Draw an id, which gives the transaction no number yet."""
    row = writer.execute("SELECT nextval(pg_get_serial_sequence('claims_history', 'id'))").fetchone()
    assert row is not None
    return int(row[0])


def read_until(cursor: feed.Cursor, count: int, limit: int = 1_000) -> tuple[list[int], feed.Cursor]:
    """Read until ``count`` rows came: other tests of this server may run transactions of their own."""
    found: list[int] = []
    until = time.monotonic() + PATIENCE_SECONDS
    while len(found) < count and time.monotonic() < until:
        rows, cursor = feed.read(cursor, limit)
        found += ids(rows)
        if not rows:
            threading.Event().wait(0.05)
    return found, cursor


def ids(rows: list[Told]) -> list[int]:
    return [row.id for row in rows]


def test_a_row_is_not_read_while_an_older_transaction_runs(pool: Pool, writers: tuple) -> None:
    one, two = writers
    cursor = feed.start()
    first, second = next_id(one), next_id(two)
    one.execute(_INSERT, [first, pool.pk])
    two.execute(_INSERT, [second, pool.pk])
    two.commit()
    rows, cursor = feed.read(cursor)
    assert rows == []
    one.commit()
    found, cursor = read_until(cursor, 2)
    assert found == [first, second]
    assert feed.read(cursor)[0] == []


def test_a_lower_id_that_commits_in_a_younger_transaction_is_not_skipped(pool: Pool, writers: tuple) -> None:
    one, two = writers
    cursor = feed.start()
    low = next_id(one)
    high = next_id(two)
    two.execute(_INSERT, [high, pool.pk])
    two.commit()
    found, cursor = read_until(cursor, 1)
    assert found == [high]
    one.execute(_INSERT, [low, pool.pk])
    one.commit()
    found, cursor = read_until(cursor, 1)
    assert found == [low]


def test_a_reader_that_starts_hears_what_is_still_running_then(pool: Pool, writers: tuple) -> None:
    one, _ = writers
    running = next_id(one)
    one.execute(_INSERT, [running, pool.pk])
    cursor = feed.start()
    one.commit()
    assert read_until(cursor, 1)[0] == [running]


def test_a_long_backlog_is_read_in_steps_without_loss(pool: Pool, writers: tuple) -> None:
    one, _ = writers
    cursor = feed.start()
    drawn = [next_id(one) for _ in range(7)]
    for row_id in drawn:
        one.execute(_INSERT, [row_id, pool.pk])
    one.commit()
    found, _ = read_until(cursor, 7, limit=3)
    assert found == drawn


def test_a_committed_row_is_seen_early_while_an_older_transaction_runs(pool: Pool, writers: tuple) -> None:
    one, two = writers
    relay = Relay()
    assert relay._read() == []
    first, second = next_id(one), next_id(two)
    one.execute(_INSERT, [first, pool.pk])
    two.execute(_INSERT, [second, pool.pk])
    two.commit()
    assert ids(relay._read()) == [second]
    assert relay._read() == []
    one.commit()
    assert relay_until(relay, 1) == [first], "the late one is told, the early one not again"
    assert relay._read() == []


def relay_until(relay: Relay, count: int) -> list[int]:
    """What the relay tells until ``count`` rows came."""
    found: list[int] = []
    until = time.monotonic() + 60
    while len(found) < count and time.monotonic() < until:
        found += ids(relay._read())
        threading.Event().wait(0.01)
    return found


def test_the_newest_sequence_of_each_pool_is_known_by_name(pool: Pool, writers: tuple) -> None:
    one, _ = writers
    Pool.objects.create(name="empty", scheduler_epoch=2)
    row_id = next_id(one)
    one.execute(_INSERT, [row_id, pool.pk])
    one.commit()
    assert feed.newest() == {"billing": row_id, "empty": 0}
    assert feed.newest([pool.pk]) == {"billing": row_id}


def test_changes_of_one_task_become_one_hint() -> None:
    task, other = uuid4(), uuid4()
    rows = [
        Told(1, 5, "billing", task, "claim"),
        Told(2, 5, "billing", task, "deliver"),
        Told(3, 5, "billing", other, "claim"),
    ]
    message = coalesced(rows)
    assert message is not None
    assert message["sequences"] == {"billing": 3}
    assert message["hints"] == [
        {"pool": "billing", "task": str(task), "verbs": ["claim", "deliver"]},
        {"pool": "billing", "task": str(other), "verbs": ["claim"]},
    ]


def test_very_many_changes_of_a_pool_become_one_hint_and_leave_room_for_the_others() -> None:
    task = uuid4()
    rows = [Told(at, 5, "billing", uuid4(), "claim") for at in range(MOST_HINTS // 2 + 1)]
    message = coalesced([*rows, Told(10**6, 6, "sandbox", task, "create")])
    assert message is not None
    assert message["sequences"] == {"billing": MOST_HINTS // 2, "sandbox": 10**6}
    assert message["hints"] == [
        {"pool": "billing", "task": None, "verbs": []},
        {"pool": "sandbox", "task": str(task), "verbs": ["create"]},
    ]


def test_nothing_read_is_nothing_told() -> None:
    assert coalesced([]) is None
