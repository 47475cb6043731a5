"""The database and the broker under load: B01, B48, B69."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.db import DatabaseError, connection

from agents import runs
from agents.models import AgentProfile
from claims import sweeps, transitions
from claims.models import CanonicalCommit, Decision
from claims.outcomes import Granted, Refused, Why
from claims.vocabulary import DeliveryState, ReclaimPolicy, ReviewPolicy, State
from config.checks import visibility_timeout_exceeds_every_limit
from tests.support import invariants
from tests.support.records import no_change, task_row
from tests.support.world import World, expire, judgement

pytestmark = pytest.mark.django_db

CLIENTS = 32
LOAD_SECONDS = 60.0 if os.environ.get("FENCEPOST_LONG") else 4.0
BROKEN = (
    "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN RAISE EXCEPTION 'the audit trail is full' USING ERRCODE = '53100'; END $$;"
    " CREATE TRIGGER broken BEFORE INSERT ON claims_history FOR EACH ROW EXECUTE FUNCTION broken()"
)


@pytest.mark.parametrize(
    "limit", ["FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS", "FENCEPOST_UPKEEP_TIME_LIMIT_SECONDS"]
)
def test_b01_celery_5306_no_job_may_run_as_long_as_the_broker_keeps_its_message_hidden(
    settings: LazySettings, limit: str
) -> None:
    assert visibility_timeout_exceeds_every_limit(None) == []
    setattr(settings, limit, settings.FENCEPOST_VISIBILITY_TIMEOUT_SECONDS)
    assert [found.id for found in visibility_timeout_exceeds_every_limit(None)] == ["fencepost.E001"]


def test_b01_celery_5306_of_several_deliveries_of_one_message_one_begins_the_run(world: World) -> None:
    granted = world.claimed()
    profile = AgentProfile.objects.create(agent=world.agents[0], pool=world.pool, command=["true"])
    assert runs.note_sent(granted.fence.attempt_id, profile.id)
    begun = [runs.begin(granted.fence.attempt_id) for _ in range(3)]
    assert begun[0] is not None
    assert begun[1:] == [None, None]


def test_b48_yuzu_2768_no_decision_without_its_row_of_history(world: World) -> None:
    delivery = world.delivered()
    with connection.cursor() as cursor:
        cursor.execute(BROKEN)
    with no_change(delivery.task_id), pytest.raises(DatabaseError):
        transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.PENDING
    assert not Decision.objects.exists()
    assert not CanonicalCommit.objects.exists()
    assert task_row(delivery.task_id).state == State.DELIVERED


def test_b69_openobserve_13251_nobody_is_told_of_a_deadlock(open_world: World) -> None:
    """All at once on the same few tasks: claims, releases, commits, cancellations, sweeps."""
    tasks = open_world.tasks(
        4, reclaim_policy=ReclaimPolicy.AUTO, review_policy=ReviewPolicy.NONE, max_attempts=1_000
    )
    end, seen, lock = time.monotonic() + LOAD_SECONDS, Counter[str](), threading.Lock()

    def work(number: int) -> None:
        chance = random.Random(number)
        try:
            while time.monotonic() < end:
                said = _said(_one(open_world, chance, tasks))
                with lock:
                    seen[said] += 1
        finally:
            connection.close()

    with ThreadPoolExecutor(CLIENTS) as threads:
        for each in [threads.submit(work, number) for number in range(CLIENTS)]:
            each.result()
    assert seen["Granted"]
    assert Why.OUTCOME_UNKNOWN not in seen, seen
    for task_id in tasks:
        invariants.check(task_id)


def _one(world: World, chance: random.Random, tasks: list[UUID]) -> Any:
    task_id, agent = chance.choice(tasks), chance.choice(world.agents)
    act = chance.random()
    if act < 0.1:
        expire(task_id)
        return sweeps.lapse_due()
    if act < 0.12:
        return transitions.cancel(world.person(world.preparer), task_id, "not wanted")
    granted = transitions.claim(world.caller(agent), task_id, task_row(task_id).state_version, world.epoch)
    if isinstance(granted, Granted) and act < 0.95:
        transitions.release(world.caller(agent), granted.fence, "no time")
    return granted


def _said(answer: Any) -> str:
    return str(answer.why) if isinstance(answer, Refused) else type(answer).__name__
