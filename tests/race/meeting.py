"""Contenders that truly meet: they are let go only when each is seen waiting in the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from django.db import connection

from claims.kernel.reading import POOL_LOCK

T = TypeVar("T")

PATIENCE_SECONDS = 60


class Meeting:
    """A blocker's transaction, and the contenders that wait behind it."""

    def __init__(self, blocker: psycopg.Connection[Any]) -> None:
        self._blocker = blocker
        self._pids: dict[int, int] = {}
        self._lock = threading.Lock()

    def execute(self, statement: str, values: Sequence[object] = ()) -> None:
        """One more statement of the blocker, while the contenders wait."""
        self._blocker.execute(statement, values)  # type: ignore[call-overload]

    def arrive(self) -> None:
        """A contender tells which backend is his, and that he is patient."""
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '60s'")
            cursor.execute("SELECT pg_backend_pid()")
            pid = cursor.fetchone()[0]
        with self._lock:
            self._pids[threading.get_ident()] = pid

    def wait_for(self, contenders: int) -> None:
        """Until so many backends wait for a lock. Fails after a minute: then they did not meet."""
        until = time.monotonic() + PATIENCE_SECONDS
        with connection.cursor() as cursor:
            while time.monotonic() < until:
                with self._lock:
                    pids = list(self._pids.values())
                cursor.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s) AND wait_event_type = 'Lock'",
                    [pids],
                )
                if cursor.fetchone()[0] >= contenders:
                    return
        raise AssertionError(f"only some of {contenders} contenders met")

    def let_go(self) -> None:
        """The blocker commits; everybody goes at once."""
        self._blocker.commit()


@contextmanager
def blocked(statement: str, values: Sequence[object]) -> Iterator[Meeting]:
    """A transaction that holds what ``statement`` locks until ``let_go``."""
    settings = connection.get_connection_params()
    settings.pop("cursor_factory", None)
    settings.pop("context", None)
    names = ("host", "port", "user", "password", "dbname")
    with psycopg.connect(**{name: settings[name] for name in names if name in settings}) as blocker:
        blocker.execute(statement, values)  # type: ignore[call-overload]
        yield Meeting(blocker)


@contextmanager
def blocked_task(task_id: UUID) -> Iterator[Meeting]:
    """Contenders that name this task wait for its row."""
    with blocked("SELECT 1 FROM claims_task WHERE id = %s FOR UPDATE", [task_id]) as meeting:
        yield meeting


@contextmanager
def blocked_pool(pool_id: int) -> Iterator[Meeting]:
    """Every verb of the pool waits before its first row."""
    with blocked("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [POOL_LOCK, pool_id]) as meeting:
        yield meeting


def race(
    meeting: Meeting,
    contenders: Sequence[Callable[[], T]],
    before_letting_go: Callable[[], None] | None = None,
) -> list[T]:
    """What each contender was answered, in their order, after all of them have met."""

    def run(contender: Callable[[], T]) -> T:
        try:
            meeting.arrive()
            return contender()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(contenders)) as threads:
        running = [threads.submit(run, contender) for contender in contenders]
        try:
            meeting.wait_for(len(contenders))
            if before_letting_go:
                before_letting_go()
        finally:
            meeting.let_go()
        return [each.result() for each in running]


def in_turn(meeting: Meeting, contenders: Sequence[Callable[[], T]]) -> list[T]:
    """Like ``race``, but each begins only once the one before it is seen waiting."""

    def run(contender: Callable[[], T]) -> T:
        try:
            meeting.arrive()
            return contender()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(contenders)) as threads:
        running: list[Future[T]] = []
        try:
            for contender in contenders:
                running.append(threads.submit(run, contender))
                meeting.wait_for(len(running))
        finally:
            meeting.let_go()
        return [each.result() for each in running]
