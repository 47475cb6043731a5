"""Runs go on while PostgreSQL goes away and comes back."""

from __future__ import annotations

import os
import threading

from django.db import connection, connections

from agents import running
from agents.models import AttemptRun
from tests.agents.conftest import EDIT, Workers


def cut_every_other_connection() -> None:
    """What a restart of the server does to its clients."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connections.close_all()


def test_a_run_whose_connections_are_cut_in_the_middle_still_delivers(workers: Workers) -> None:
    task = workers.task()
    begun, goes_on = workers.folder / "begun", workers.folder / "goes-on"
    os.mkfifo(begun)
    os.mkfifo(goes_on)
    workers.does(
        f"pathlib.Path({str(begun)!r}).write_text('now'); pathlib.Path({str(goes_on)!r}).read_text()\n"
        + EDIT
        + "deliver()"
    )
    (attempt_id,) = workers.sent()

    def cut() -> None:
        begun.read_bytes()  # a pipe: waits until the command opens its other end
        cut_every_other_connection()
        goes_on.write_bytes(b"now")

    beside = threading.Thread(target=cut)
    beside.start()
    outcome = running.run(attempt_id)
    beside.join()
    assert outcome == "delivered round 1"
    assert AttemptRun.objects.get().starts == 1
    assert workers.state(task) == "DELIVERED"
