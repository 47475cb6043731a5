"""A PostgreSQL of a test's own, that can be told to wait for a standby that does not exist."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.core.management import call_command
from django.db import connection, connections

from config.up.servers import DATABASE, ROLE, Postgres, kept_secret

READY_SECONDS = 90.0
PAUSE_SECONDS = 0.05
WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid()"


@dataclass
class Lone:
    """The running, migrated server. ``at`` is a connection of the test's own, which commits nothing."""

    postgres: Postgres
    at: psycopg.Connection[Any]

    def wait_for_standby(self, name: str) -> None:
        """From now on a commit waits until the standby of this name has it; the empty name ends that."""
        with (self.postgres.folder / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"synchronous_standby_names = '{name}'\n")
        pid_file = self.postgres.folder / "postmaster.pid"
        os.kill(int(pid_file.read_text().split("\n", 1)[0]), signal.SIGHUP)
        until(lambda: self._one("SHOW synchronous_standby_names") == name, "the setting is read")

    def end_wait(self, how: str) -> None:
        """Cancel the one commit that waits, or terminate its backend, by ``pg_<how>_backend``."""
        pid = until(lambda: self._one(WAITING), "a commit waits for its standby")
        self._one(f"SELECT pg_{how}_backend({int(pid)})")
        until(lambda: self._one(WAITING) is None, "it waits no more")

    @contextmanager
    def django_there(self) -> Iterator[None]:
        """Django's connections of this process go to this server meanwhile."""
        settings, there = connection.settings_dict, {"HOST": "127.0.0.1", "PORT": str(self.postgres.port)}
        there |= {"NAME": DATABASE, "USER": ROLE, "PASSWORD": self.postgres.password}
        before = {name: settings[name] for name in there}
        connections.close_all()
        settings.update(there)
        try:
            yield
        finally:
            connections.close_all()
            settings.update(before)

    def _one(self, statement: str) -> Any:
        row = self.at.execute(statement).fetchone()  # type: ignore[call-overload]
        return row[0] if row else None


def until(look: Callable[[], Any], what: str) -> Any:
    """What ``look`` finds, as soon as it is something. Fails after a while."""
    end = time.monotonic() + READY_SECONDS
    while not (found := look()):
        assert time.monotonic() < end, f"not within {READY_SECONDS:.0f} s: {what}"
        select.select([], [], [], PAUSE_SECONDS)
    return found


@contextmanager
def lone_postgres(folder: Path) -> Iterator[Lone]:
    """A migrated server of its own, until the end of the block."""
    postgres = Postgres(folder / "postgres", kept_secret(folder / "password"), for_tests=True)
    postgres.initialise()
    postgres.make_database()
    # It is never killed, so nothing has to reach the disk; a busy disk would keep it from reading its settings.
    argv = [*postgres._shim(), *postgres.program().argv, "-c", "fsync=off"]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(postgres.is_ready, "the server is ready")
        with psycopg.connect(postgres.url, autocommit=True) as at:
            lone = Lone(postgres, at)
            with lone.django_there():
                call_command("migrate", verbosity=0)
            yield lone
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
