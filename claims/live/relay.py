"""The relay: reads history and hints at it to open pages.

Promises: nothing is skipped while it runs, also over a restart of PostgreSQL, because history is read
behind every running transaction; nothing is late because some other transaction runs for long, also
one of another database of the server, because committed rows are told early and then not again. A
hint that Redis loses shows in the next heartbeat, whose numbers tell a page that it missed something.
It holds no state that a restart needs, and any number may run: a hint heard twice costs one fetch.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from typing import Any

import structlog
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from redis.exceptions import RedisError

from claims.live.hints import EVERYBODY, coalesced
from claims.selectors import feed

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 0.2
"""Between two reads: a change is on open pages in under a second."""
BUSY_SECONDS = 1.0
"""Between two reads while changes go on and on: hints are gathered rather than sent one by one."""
BUSY_ROUNDS = 3
BEAT_SECONDS = 20.0
RETRY_SECONDS = 1.0
MOST_TOLD_EARLY = 200_000
"""Ids remembered while a transaction runs for very long; beyond it a hint is told twice."""


class Relay:
    """One relay process. ``stop`` ends it after the round at hand."""

    def __init__(self) -> None:
        self.cursor: feed.Cursor | None = None
        self.told_early: set[int] = set()
        self.told_up_to = 0
        self.next_beat = 0.0
        self.stopping = asyncio.Event()
        self.is_redis_away = False
        self.busy_rounds = 0

    def stop(self) -> None:
        """End after this round."""
        self.stopping.set()

    async def run(self) -> None:
        """Rounds until ``stop``; a lost server only makes it wait."""
        while not self.stopping.is_set():
            pause = await self.round()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), pause)

    async def round(self) -> float:
        """Read once, tell once; answers how many seconds to wait before the next."""
        try:
            rows = await database_sync_to_async(self._read)()
            sequences = await database_sync_to_async(feed.newest)() if self._is_beat_due() else None
        except (DatabaseError, InterfaceError) as error:
            log.warning("relay_database_away", error=type(error).__name__)
            await database_sync_to_async(_forget_connection)()
            return RETRY_SECONDS
        message = coalesced(rows)
        if message is not None:
            await self._send(message)
        if sequences is not None:
            await self._send({"type": "live.beat", "sequences": sequences})
        self.busy_rounds = self.busy_rounds + 1 if rows else 0
        return BUSY_SECONDS if self.busy_rounds > BUSY_ROUNDS else PAUSE_SECONDS

    def _read(self) -> list[feed.Told]:
        """Rows not told yet: those that are certain, then those that are only committed."""
        if self.cursor is None:
            self.cursor = feed.start()
            self.told_up_to = self.cursor.highest_id
        certain, self.cursor = feed.read(self.cursor)
        early = feed.peek(self.told_up_to)
        rows = [row for row in certain if row.id not in self.told_early]
        known = {row.id for row in rows}
        rows += [row for row in early if row.id not in known]
        self.told_early -= {row.id for row in certain}
        if len(self.told_early) < MOST_TOLD_EARLY:
            self.told_early |= {row.id for row in early} - {row.id for row in certain}
        self.told_up_to = max((self.told_up_to, *(row.id for row in early)))
        return rows

    def _is_beat_due(self) -> bool:
        now = time.monotonic()
        if now < self.next_beat:
            return False
        self.next_beat = now + BEAT_SECONDS
        return True

    async def _send(self, message: dict[str, Any]) -> None:
        layer = get_channel_layer()
        if layer is None:
            return
        try:
            await layer.group_send(EVERYBODY, message)
        except (RedisError, OSError) as error:
            if not self.is_redis_away:
                log.warning("relay_redis_away", error=type(error).__name__)
            self.is_redis_away = True
            return
        if self.is_redis_away:
            log.info("relay_redis_back")
        self.is_redis_away = False


def _forget_connection() -> None:
    """The next read opens a new connection."""
    close_old_connections()
    connection.close()


async def relay() -> None:
    """Run one relay until the process is asked to end."""
    process = Relay()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, process.stop)
    log.info("relay_started")
    await process.run()
    log.info("relay_stopped")
