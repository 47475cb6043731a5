"""The transaction of claim.v1 section 3: locks, then a fresh read, each a statement of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

from claims import kernel
from claims.kernel import reading
from claims.kernel.reading import AGENT_LOCK, POOL_LOCK
from tests.support.world import World

pytestmark = pytest.mark.django_db

Sent = list[tuple[str, tuple[object, ...]]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Every statement that a verb sends while reading, in its order. They all reach PostgreSQL."""
    statements: Sent = []
    send = reading.send

    def listen(raw: psycopg.Connection[Any], statement: Any, values: Sequence[object]) -> psycopg.Cursor[Any]:
        statements.append((statement, tuple(values)))
        return send(raw, statement, values)

    monkeypatch.setattr(reading, "send", listen)
    return statements


def position(sent: Sent, *words: str) -> int:
    """Where the one statement with all these words is."""
    found = [number for number, (statement, _) in enumerate(sent) if all(word in statement for word in words)]
    assert len(found) == 1, (words, sent)
    return found[0]


def test_a_verb_locks_the_pool_then_the_row_and_then_reads_afresh(world: World, sent: Sent) -> None:
    task_id = world.task()
    sent.clear()
    kernel.take(world.person(world.operator), task_id)
    assert sent[0][1] == (POOL_LOCK, world.pool.id)
    assert "pg_advisory_xact_lock_shared" in sent[0][0]
    assert position(sent, "FROM claims_task", "FOR NO KEY UPDATE") == 1
    assert position(sent, "clock_timestamp()", "p.scheduler_epoch", "l.expires_at") == 2
    assert position(sent, "FROM auth_user") > 1


def test_a_grant_locks_the_agent_after_the_pool_and_reads_its_standing_after_the_row(
    world: World, sent: Sent
) -> None:
    task_id = world.task()
    sent.clear()
    kernel.take(world.caller(), task_id, grant_to=world.agents[0].id)
    assert [values for statement, values in sent if "advisory" in statement] == [
        (POOL_LOCK, world.pool.id),
        (AGENT_LOCK, world.agents[0].id),
    ]
    row = position(sent, "FROM claims_task", "FOR NO KEY UPDATE")
    assert row == 2
    assert position(sent, "clock_timestamp()", "p.scheduler_epoch") > row
    assert position(sent, "FROM claims_agent") > row


def test_the_next_task_is_locked_before_the_pool_is_read_and_passes_over_what_others_hold(
    world: World, sent: Sent
) -> None:
    world.tasks(2)
    sent.clear()
    kernel.next_claimable(world.pool.id, world.caller().actor, [], 2)
    rows = [
        number for number, (statement, _) in enumerate(sent) if "FOR NO KEY UPDATE SKIP LOCKED" in statement
    ]
    assert rows == [3, 4]
    assert position(sent, "clock_timestamp(), p.id") > max(rows)
    assert position(sent, "FROM claims_agent") > max(rows)


def test_the_row_lock_and_the_fresh_read_are_never_one_statement(world: World, sent: Sent) -> None:
    kernel.take(world.person(world.operator), world.task())
    for statement, _ in sent:
        assert not ("FOR NO KEY UPDATE" in statement and "scheduler_epoch" in statement)
        assert not ("advisory" in statement and "claims_" in statement)
