"""What the clock does: only what is due, and harmless when it is done twice or half."""

from __future__ import annotations

import hashlib
import os
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.core.management import call_command
from django.db import connection

from claims import evidence, sweeps, transitions
from claims.evidence.storage import path_of
from claims.models import Agent, Attempt, Blob, EvidenceFile, History, IdempotencyKey, Task
from claims.outcomes import Refused
from claims.vocabulary import ReclaimPolicy
from tests.support.invariants import check
from tests.support.world import World, a_world, expire


@pytest.fixture(autouse=True)
def storage(tmp_path: Path, settings: Any) -> None:
    """A storage of the test's own: what is collected here was made here."""
    evidence_storage = {**settings.STORAGES["evidence"], "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "evidence": evidence_storage}


@pytest.fixture
def world(db: None) -> World:
    return a_world()


def state_of(granted: Any) -> str:
    return str(Task.objects.get(id=granted.fence.task_id).state)


def test_an_expired_auto_claim_becomes_open_and_a_manual_one_stays_quiet(world: World) -> None:
    auto, manual = world.claimed(reclaim_policy=ReclaimPolicy.AUTO), world.claimed()
    alive = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    for granted in (auto, manual):
        expire(granted.fence.task_id)
    assert sweeps.sweep().lapsed >= 1
    assert (state_of(auto), state_of(manual), state_of(alive)) == ("OPEN", "CLAIMED", "CLAIMED")
    assert Attempt.objects.get(id=auto.fence.attempt_id).outcome == "LAPSED"
    check(auto.fence.task_id)


def test_a_second_sweep_finds_nothing_to_do(world: World) -> None:
    granted = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    expire(granted.fence.task_id)
    sweeps.sweep()
    rows = History.objects.filter(task_id=granted.fence.task_id).count()
    assert sweeps.lapse_due() == 0
    assert History.objects.filter(task_id=granted.fence.task_id).count() == rows


def test_claims_of_an_old_epoch_end_as_fenced_and_are_held_or_opened(world: World) -> None:
    auto, manual = world.claimed(reclaim_policy=ReclaimPolicy.AUTO), world.claimed()
    world.raise_epoch()
    sweeps.sweep()
    assert (state_of(auto), state_of(manual)) == ("OPEN", "HELD")
    for granted in (auto, manual):
        assert Attempt.objects.get(id=granted.fence.attempt_id).outcome == "FENCED"
        check(granted.fence.task_id)


def test_a_claim_renewed_after_the_sweep_looked_is_left_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    expire(granted.fence.task_id)
    lapse = transitions.lapse

    def renewed_first(caller: Any, task_id: Any) -> Any:
        assert not isinstance(transitions.renew(world.caller(), granted.fence, 60), Refused)
        return lapse(caller, task_id)

    monkeypatch.setattr(transitions, "lapse", renewed_first)
    assert sweeps.lapse_due() == 0
    assert state_of(granted) == "CLAIMED"


def test_one_broken_task_does_not_keep_the_others_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (world.claimed(reclaim_policy=ReclaimPolicy.AUTO) for _ in range(2))
    for granted, seconds in ((first, 20), (second, 10)):
        expire(granted.fence.task_id, seconds)
    lapse = transitions.lapse

    def broken(caller: Any, task_id: Any) -> Any:
        if task_id == first.fence.task_id:
            raise RuntimeError("poison")
        return lapse(caller, task_id)

    monkeypatch.setattr(transitions, "lapse", broken)
    sweeps.lapse_due()
    assert (state_of(first), state_of(second)) == ("CLAIMED", "OPEN")


def test_three_lapses_use_the_attempts_up_and_hold_the_task(world: World) -> None:
    task_id = world.task(reclaim_policy=ReclaimPolicy.AUTO, max_attempts=3)
    for _ in range(3):
        world.claimed(task_id=task_id)
        expire(task_id)
        sweeps.lapse_due()
    task = Task.objects.get(id=task_id)
    assert (task.state, task.attempts_used) == ("HELD", 3)
    assert "3 of 3 attempts" in task.reason


def test_what_a_disabled_agent_still_holds_is_held(world: World) -> None:
    granted = world.claimed()
    Agent.objects.filter(id=world.agents[0].id).update(is_disabled=True)
    sweeps.sweep()
    assert state_of(granted) == "HELD"


def test_old_keys_are_forgotten(world: World) -> None:
    world.task()
    answered = transitions.claim_next(
        world.caller(key="k-old", request_digest="x"), world.pool.name, world.epoch
    )
    assert not isinstance(answered, Refused)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE claims_idempotencykey SET used_at = used_at - interval '25 hours' WHERE key = 'k-old'"
        )
    assert sweeps.sweep().keys >= 1
    assert not IdempotencyKey.objects.filter(key="k-old").exists()


def test_the_last_good_sweep_is_known_to_operators(world: World) -> None:
    sweeps.sweep()
    assert sweeps.last_good() is not None


def test_late_evidence_goes_after_its_days_and_other_evidence_stays(world: World) -> None:
    granted = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    world.staged(granted)
    expire(granted.fence.task_id)
    world.claimed(world.agents[1], granted.fence.task_id)
    world.staged(granted, content=b"too late")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE claims_evidencefile SET added_at = added_at - interval '31 days'")
    assert sweeps.collect(0).late >= 1
    assert list(
        EvidenceFile.objects.filter(attempt_id=granted.fence.attempt_id).values_list("late", flat=True)
    ) == [False]


def kept(content: bytes, age: timedelta) -> str:
    """Bytes in the storage that were written some time ago."""
    sha256 = hashlib.sha256(content).hexdigest()
    evidence.keep([content], sha256, len(content))
    path = storages["evidence"].path(path_of(sha256))
    then = os.stat(path).st_mtime - age.total_seconds()
    os.utime(path, (then, then))
    return sha256


def test_bytes_that_nobody_names_are_deleted_after_a_day(world: World) -> None:
    old = kept(os.urandom(16), timedelta(hours=25))
    fresh = kept(os.urandom(16), timedelta(hours=1))
    for sha256 in (old, fresh):
        sweeps.collect(int(sha256[:2], 16))
    assert [storages["evidence"].exists(path_of(sha256)) for sha256 in (old, fresh)] == [False, True]


def test_bytes_that_an_attempt_has_stay_however_old_they_are(world: World) -> None:
    granted = world.claimed()
    content = os.urandom(16)
    world.staged(granted, content=content)
    sha256 = kept(content, timedelta(days=400))
    Blob.objects.filter(sha256=sha256).update(kept_at="2025-01-01T00:00:00Z")
    sweeps.collect(int(sha256[:2], 16))
    assert storages["evidence"].exists(path_of(sha256))
    assert Blob.objects.filter(sha256=sha256).exists()


def test_bytes_uploaded_again_while_they_were_deleted_are_put_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = kept(os.urandom(16), timedelta(hours=25))
    storage = storages["evidence"]
    delete = storage.delete

    def uploaded_meanwhile(name: str) -> None:
        delete(name)
        Blob.objects.create(sha256=sha256, size=16)

    monkeypatch.setattr(storage, "delete", uploaded_meanwhile)
    assert sweeps.collect(int(sha256[:2], 16)).files == 0
    assert hashlib.sha256(evidence.read_bytes(sha256, 100)[0]).hexdigest() == sha256


def test_a_sweep_can_be_made_by_hand(world: World) -> None:
    out = StringIO()
    call_command("sweep", "--evidence", stdout=out)
    assert "claims ended" in out.getvalue()
