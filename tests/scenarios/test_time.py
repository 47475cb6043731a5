"""Clocks, waiting and sweeps: B02, B08, B09, B10, B12, B14, B18, B19, B20."""

from __future__ import annotations

import ast
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import F

from claims import sweeps, transitions
from claims.callers import sweep_caller
from claims.models import Attempt, History, Lease
from claims.outcomes import EpochRaised, Granted, Left, Refused, Renewed, Why
from claims.vocabulary import ReclaimPolicy, ReviewPolicy, State
from client import Grant, Stopped, Unreachable, Working
from tests.race.meeting import blocked_task, race
from tests.support import invariants
from tests.support.records import no_change, task_row, verbs_of, why
from tests.support.world import World, expire

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
SWEEPERS = 4
ROUNDS_OF_RENEWAL = 720 if os.environ.get("FENCEPOST_LONG") else 40
SAFE_TO_LOSE = ("claims/api/limits.py",)
"""Counts calls in windows of wall-clock time; nothing about a claim depends on it."""


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts)


def test_b02_kombu_337_of_three_copies_of_a_release_the_later_ones_do_nothing(world: World) -> None:
    task_id = world.claimed(reclaim_policy=ReclaimPolicy.AUTO).fence.task_id
    expire(task_id)
    copies = [transitions.lapse(sweep_caller(), task_id) for _ in range(3)]
    assert isinstance(copies[0], Left)
    assert copies[1:] == [None, None]
    assert verbs_of(task_id).count("lapse") == 1


def test_b02_kombu_337_nothing_is_sent_to_be_done_at_a_later_time() -> None:
    later = re.compile(r"\b(eta|countdown)\s*=")
    assert [
        path for path in sources("claims", "agents", "reviews", "config") if later.search(path.read_text())
    ] == []


def test_b08_etcd_11456_a_claim_that_waited_for_its_row_is_not_expired_when_it_is_granted(
    open_world: World,
) -> None:
    task_id = open_world.task()
    with blocked_task(task_id) as meeting:
        (answer,) = race(
            meeting,
            [lambda: transitions.claim(open_world.caller(), task_id, 1, open_world.epoch, 1)],
            lambda: meeting.execute("SELECT pg_sleep(1.2)"),
        )
    assert isinstance(answer, Granted)
    attempt = Attempt.objects.get(id=answer.fence.attempt_id)
    assert answer.lease_expires_at - attempt.started_at == timedelta(seconds=1)


def test_b09_occurrent_659_no_lease_is_judged_by_the_clock_of_a_process() -> None:
    judged = [
        path
        for path in sources(
            "claims/decide", "claims/kernel", "claims/transitions", "claims/api", "claims/sweeps.py"
        )
        if path.relative_to(ROOT).as_posix() not in SAFE_TO_LOSE
    ]
    judged.append(ROOT / "claims" / "sweeps.py")
    found = [
        f"{path}:{node.lineno}"
        for path in judged
        for node in ast.walk(ast.parse(path.read_text()))
        if _reads_clock(node)
    ]
    assert found == []


def _reads_clock(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    name = ast.unparse(node.func)
    return name.endswith(("timezone.now", "datetime.now", "datetime.utcnow", "date.today"))


def test_b09_occurrent_659_statements_ask_for_the_time_of_the_moment() -> None:
    """``now()`` is when the transaction began, which may have waited for a lock since."""
    frozen = re.compile(
        r"(?<![\w.])(now\(\)|current_timestamp|localtimestamp|transaction_timestamp)", re.IGNORECASE
    )
    places = [*sources("claims/kernel", "claims/transitions"), ROOT / "claims" / "sweeps.py"]
    places += (ROOT / "claims" / "migrations").glob("0*.py")
    found = [
        f"{path.name}: {node.value[:80]}"
        for path in places
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and frozen.search(node.value)
        and not node.value.startswith("Where")
    ]
    assert found == []


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/St_Johns"])
def test_b09_occurrent_659_the_time_zone_of_a_session_changes_nothing(world: World, zone: str) -> None:
    granted = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('TimeZone', %s, false)", [zone])
    try:
        assert isinstance(transitions.renew(world.caller(), granted.fence, 60), Renewed)
        assert transitions.lapse(sweep_caller(), granted.fence.task_id) is None
        expire(granted.fence.task_id)
        assert isinstance(transitions.lapse(sweep_caller(), granted.fence.task_id), Left)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET TimeZone = 'UTC'")


class Silent:
    """A server that cannot be reached."""

    def renew(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise Unreachable("nobody answers")


def test_b10_stroom_5772_a_client_that_cannot_renew_ends_the_work_before_its_lease_does(world: World) -> None:
    granted, told = world.claimed(), threading.Event()
    body = {
        "attemptId": str(granted.fence.attempt_id), "taskId": str(granted.fence.task_id), "number": 1, "title": "x",
        "fence": granted.fence.as_json(), "inputDigest": granted.input_digest, "input": {}, "round": 1,
        "leaseSecondsRemaining": 1.0,
    }  # fmt: skip
    with Working(Silent(), Grant.parse(body), lambda _: told.set()) as work:
        assert told.wait(10), "nobody was told to stop"
        assert work.is_stopped
        with pytest.raises(Stopped):
            work.check()
        work.finish()


def test_b12_oban_1141_a_claim_that_is_renewed_in_time_is_never_taken_however_old(world: World) -> None:
    granted = world.claimed(reclaim_policy=ReclaimPolicy.AUTO)
    task_id = granted.fence.task_id
    for _ in range(ROUNDS_OF_RENEWAL):
        assert isinstance(transitions.renew(world.caller(), granted.fence, 10), Renewed)
        assert transitions.lapse(sweep_caller(), task_id) is None
        Lease.objects.filter(task_id=task_id).update(expires_at=F("expires_at") - timedelta(seconds=9))
    assert sweeps.lapse_due() == 0
    assert task_row(task_id).state == State.CLAIMED


def test_b14_procrastinate_1408_a_sweep_that_stands_still_holds_up_nobody_for_long(open_world: World) -> None:
    due = [open_world.claimed(reclaim_policy=ReclaimPolicy.AUTO).fence.task_id for _ in range(3)]
    for task_id in due:
        expire(task_id)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '200ms'")
    with blocked_task(due[0]) as stalled:
        assert sweeps.lapse_due() == 2
        stalled.let_go()
    assert sweeps.lapse_due() == 1
    assert {task_row(task_id).state for task_id in due} == {State.OPEN}


def test_b14_procrastinate_1408_a_sweep_that_was_killed_leaves_no_lock(open_world: World) -> None:
    task_id = open_world.claimed(reclaim_policy=ReclaimPolicy.AUTO).fence.task_id
    expire(task_id)
    with blocked_task(task_id):
        pass
    assert sweeps.lapse_due() == 1


def test_b18_marathon_1039_a_scheduler_of_an_old_epoch_changes_nothing(sandbox: World) -> None:
    operator, old = sandbox.person(sandbox.operator), sandbox.epoch
    task_id = sandbox.task()
    assert isinstance(
        transitions.raise_epoch(operator, sandbox.pool.name, old, "a new scheduler"), EpochRaised
    )
    with no_change(task_id):
        for answer in (
            transitions.claim(sandbox.caller(), task_id, 1, old),
            transitions.claim_next(sandbox.caller(), sandbox.pool.name, old),
            transitions.claim_next(sandbox.caller(), sandbox.pool.name, old, 5),
        ):
            assert why(answer) is Why.OLD_EPOCH
    assert why(transitions.raise_epoch(operator, sandbox.pool.name, old, "again")) is Why.EPOCH_CONFLICT


def test_b19_open_ace_2862_sweeps_that_run_at_once_change_each_claim_once(open_world: World) -> None:
    due = [open_world.claimed(reclaim_policy=ReclaimPolicy.AUTO).fence.task_id for _ in range(12)]
    for task_id in due:
        expire(task_id)
    start = threading.Barrier(SWEEPERS)

    def sweep(_: int) -> int:
        try:
            start.wait()
            return sweeps.lapse_due()
        finally:
            connection.close()

    with ThreadPoolExecutor(SWEEPERS) as threads:
        assert sum(threads.map(sweep, range(SWEEPERS))) == len(due)
    for task_id in due:
        assert History.objects.filter(task_id=task_id, verb="lapse").count() == 1
        invariants.check(task_id)


def test_b20_pg_trickle_1070_after_a_restore_no_earlier_certificate_can_publish(sandbox: World) -> None:
    """What a restored database was before is an earlier epoch's from the moment that it is raised."""
    delivering, committing = sandbox.claimed(), sandbox.claimed(review_policy=ReviewPolicy.NONE)
    staged = sandbox.staged(delivering), sandbox.staged(committing)
    raised = transitions.raise_epoch(
        sandbox.person(sandbox.operator), sandbox.pool.name, sandbox.epoch, "restored from a backup"
    )
    assert isinstance(raised, EpochRaised)
    caller = sandbox.caller()
    answers = [
        transitions.renew(caller, delivering.fence, 60),
        transitions.deliver(caller, delivering.fence, delivering.input_digest, staged=staged[0]),
        transitions.commit(caller, committing.fence, committing.input_digest, staged=staged[1]),
        transitions.release(caller, committing.fence, "night"),
        transitions.fail(caller, delivering.fence, "boom", True),
    ]
    assert [why(answer) for answer in answers] == [Why.FENCED] * len(answers)
    assert raised.scheduler_epoch > raised.before
    for granted in (delivering, committing):
        assert isinstance(transitions.lapse(sweep_caller(), granted.fence.task_id), Left)
        assert _generation(granted.fence.task_id) > granted.fence.claim_generation


def _generation(task_id: UUID) -> int:
    task = task_row(task_id)
    assert not isinstance(task, Refused)
    return task.claim_generation
