"""Renewals beside the work: when they say that it must stop."""

from __future__ import annotations

import threading

from django.db import connection, connections, transaction

from agents import runs
from agents.renewing import Renewer
from claims import transitions
from claims.callers import Actor, Caller
from claims.models import Lease
from claims.selectors.running import work_order
from claims.vocabulary import ActorKind, Source
from tests.agents.conftest import Workers


def renewer_of(workers: Workers, ttl_seconds: int) -> Renewer:
    """A renewer of the one attempt there is, not started."""
    (attempt_id,) = workers.sent()
    run, order = runs.begin(attempt_id), work_order(attempt_id)
    assert run is not None
    assert order is not None
    caller = Caller(Actor(ActorKind.AGENT, order.agent_id, order.agent_name), Source.WORKER)
    return Renewer(caller, order.fence, ttl_seconds, run)


def ended(renewer: Renewer) -> bool:
    """Whether the renewer ends by itself, as it does when the work must stop."""
    renewer._thread.join(20)
    return not renewer._thread.is_alive()


def test_a_renewal_moves_the_lease_and_nothing_else(workers: Workers) -> None:
    task = workers.task()
    renewer = renewer_of(workers, ttl_seconds=30)
    before = Lease.objects.get(task_id=task)
    renewer._once()
    after = Lease.objects.get(task_id=task)
    assert after.expires_at > before.expires_at
    assert (after.renewals, renewer.lost) == (1, "")


def test_a_lost_fence_stops_the_work(workers: Workers) -> None:
    task = workers.task()
    renewer = renewer_of(workers, ttl_seconds=1)
    operator = workers.world.person(workers.world.operator)
    transitions.release_quiet(operator, task, workers.world.sighting(task, even_if_live=True))
    renewer.start()
    assert ended(renewer)
    assert renewer.is_fenced


def test_a_run_that_was_taken_over_stops_the_work(workers: Workers) -> None:
    workers.task()
    renewer = renewer_of(workers, ttl_seconds=1)
    runs.let_go(renewer.run, "lost")
    assert runs.begin(renewer.fence.attempt_id) is not None
    renewer.start()
    assert ended(renewer)
    assert renewer.is_taken_over


def test_no_answer_until_the_lease_runs_out_stops_the_work(workers: Workers) -> None:
    task = workers.task()
    renewer = renewer_of(workers, ttl_seconds=1)
    is_held, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM claims_task WHERE id = %s FOR UPDATE", [task])
            is_held.set()
            may_go.wait(30)
        connections.close_all()

    beside = threading.Thread(target=hold)
    beside.start()
    assert is_held.wait(10)
    renewer.start()
    try:
        assert ended(renewer)
        assert "no renewal was answered" in renewer.lost
        assert not renewer.is_fenced
    finally:
        may_go.set()
        beside.join()
