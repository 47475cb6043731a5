"""One open page at /ws: hears hints of the pools its person may see, and says nothing.

Promises: nothing of a pool reaches a socket whose person has no right in it; rights and session are
looked at again before anything is said 5 s or more after the last look; a page that sends anything is closed; what is sent is bounded.
"""

from __future__ import annotations

import asyncio
import time
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.db import DatabaseError
from django.utils import timezone
from redis.exceptions import RedisError

from claims.live.hints import EVERYBODY, group_of
from claims.selectors import feed
from claims.selectors.seen import pools_of

SIGNED_OUT = 4401
TOLD_TOO_MUCH = 1008
TRY_LATER = 1013
RECHECK_SECONDS = 5.0
GATHER_SECONDS = 0.02
"""How long a hint waits for those of other pools that the relay sent in the same round."""


class LiveConsumer(AsyncJsonWebsocketConsumer):
    """The socket of one page. Close codes: 4401 signed out, 1008 the page spoke, 1013 no hints to be had now."""

    pools: dict[int, str]
    checked_at: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: list[dict[str, Any]] = []
        self.telling: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Accept, join the groups of the person's pools, say how far each pool is."""
        self.pools, self.checked_at = {}, time.monotonic()
        await self.accept()
        pools = await self._standing()
        if pools is None:
            await self.close(SIGNED_OUT)
            return
        try:
            await self.channel_layer.group_add(EVERYBODY, self.channel_name)
            await self._join(pools)
        except (RedisError, OSError):
            await self.close(TRY_LATER)
            return
        await self._say(
            {"type": "hello", "sequences": await database_sync_to_async(feed.newest)(list(pools))}
        )

    async def disconnect(self, code: int) -> None:
        """Leave every group; a layer that is away has forgotten them already."""
        if self.telling is not None:
            self.telling.cancel()
        try:
            await self.channel_layer.group_discard(EVERYBODY, self.channel_name)
            await self._join({})
        except (RedisError, OSError):
            return

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        """A page has nothing to say here."""
        await self.close(TOLD_TOO_MUCH)

    async def live_hints(self, message: dict[str, Any]) -> None:
        """Hints of one pool, as the relay sends them; what comes together goes to the page in one frame."""
        self.waiting.append(message)
        if self.telling is None or self.telling.done():
            self.telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        waiting, self.waiting = self.waiting, []
        try:
            if not await self._may_hear():
                return
        except (RedisError, OSError, DatabaseError):
            await self.close(TRY_LATER)
            return
        names = set(self.pools.values())
        mine = [message for message in waiting if message["pool"] in names]
        if mine:
            sequences: dict[str, int] = {}
            for message in mine:
                sequences[message["pool"]] = max(message["sequence"], sequences.get(message["pool"], 0))
            hints = [hint for message in mine for hint in message["hints"]]
            await self._say({"type": "hints", "sequences": sequences, "hints": hints})

    async def live_beat(self, message: dict[str, Any]) -> None:
        """The relay's heartbeat, with the numbers of this person's pools only."""
        if not await self._may_hear():
            return
        mine = {
            name: message["sequences"][name] for name in self.pools.values() if name in message["sequences"]
        }
        await self._say({"type": "beat", "sequences": mine})

    async def _may_hear(self) -> bool:
        """Look at session and rights again where the last look is old; leave the groups of pools that were lost."""
        if time.monotonic() - self.checked_at < RECHECK_SECONDS:
            return True
        self.checked_at = time.monotonic()
        pools = await self._standing()
        if pools is None:
            await self.close(SIGNED_OUT)
            return False
        await self._join(pools)
        return True

    async def _join(self, pools: dict[int, str]) -> None:
        for pool_id in self.pools.keys() - pools.keys():
            await self.channel_layer.group_discard(group_of(pool_id), self.channel_name)
        for pool_id in pools.keys() - self.pools.keys():
            await self.channel_layer.group_add(group_of(pool_id), self.channel_name)
        self.pools = pools

    async def _standing(self) -> dict[int, str] | None:
        return await database_sync_to_async(_standing)(dict(self.scope))

    async def _say(self, body: dict[str, Any]) -> None:
        await self.send_json({**body, "at": timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")})


def _standing(scope: dict[str, Any]) -> dict[int, str] | None:
    """The pools of the person of this session by id; None when the session has ended or the account is off."""
    key = getattr(scope.get("session"), "session_key", None)
    if not key:
        return None
    store = import_module(settings.SESSION_ENGINE).SessionStore(key)
    person = get_user(SimpleNamespace(session=store))  # type: ignore[arg-type]
    if not person.is_authenticated or person.pk is None:
        return None
    return {pool.id: pool.name for pool in pools_of(person.pk)}
