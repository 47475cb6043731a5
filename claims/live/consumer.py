"""One open page at /ws: hears hints of the pools its person may see, and says nothing.

Promises: nothing of a pool reaches a socket whose person has no right in it; rights and session are
looked at again before anything is said 5 s or more after the last look; a page that sends anything is
closed; what is sent is bounded.
"""

from __future__ import annotations

import time
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.db import DatabaseError
from django.utils import timezone
from redis.exceptions import RedisError

from claims.live.hints import EVERYBODY
from claims.live.standing import Standing, standing_of
from claims.selectors import feed

SIGNED_OUT = 4401
TOLD_TOO_MUCH = 1008
TRY_LATER = 1013
RECHECK_SECONDS = 5.0


class LiveConsumer(AsyncJsonWebsocketConsumer):
    """The socket of one page. Close codes: 4401 signed out, 1008 the page spoke, 1013 no hints to be had now."""

    pools: dict[int, str]
    checked_at: float

    async def connect(self) -> None:
        """Accept, join the open pages, say how far each pool of the person is."""
        self.checked_at = time.monotonic()
        await self.accept()
        pools = await self._standing()
        if pools is None:
            await self.close(SIGNED_OUT)
            return
        self.pools = pools
        try:
            await self.channel_layer.group_add(EVERYBODY, self.channel_name)
        except (RedisError, OSError):
            await self.close(TRY_LATER)
            return
        await self._say(
            {"type": "hello", "sequences": await database_sync_to_async(feed.newest)(list(pools))}
        )

    async def disconnect(self, code: int) -> None:
        """Leave the open pages; a layer that is away has forgotten this one already."""
        try:
            await self.channel_layer.group_discard(EVERYBODY, self.channel_name)
        except (RedisError, OSError):
            return

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        """A page has nothing to say here."""
        await self.close(TOLD_TOO_MUCH)

    async def live_hints(self, message: dict[str, Any]) -> None:
        """What the relay read; the part of this person's pools goes to the page, and nothing where there is none."""
        if not await self._may_hear():
            return
        mine = self._of_this_person(message["sequences"])
        if mine:
            hints = [hint for hint in message["hints"] if hint["pool"] in mine]
            await self._say({"type": "hints", "sequences": mine, "hints": hints})

    async def live_beat(self, message: dict[str, Any]) -> None:
        """The relay's heartbeat, with the numbers of this person's pools only."""
        if await self._may_hear():
            await self._say({"type": "beat", "sequences": self._of_this_person(message["sequences"])})

    def _of_this_person(self, sequences: dict[str, int]) -> dict[str, int]:
        return {name: sequences[name] for name in self.pools.values() if name in sequences}

    async def _may_hear(self) -> bool:
        """Look at session and rights again where the last look is old; a socket that may hear nothing more is closed."""
        if time.monotonic() - self.checked_at < RECHECK_SECONDS:
            return True
        self.checked_at = time.monotonic()
        try:
            pools = await self._standing()
        except DatabaseError:
            await self.close(TRY_LATER)
            return False
        if pools is None:
            await self.close(SIGNED_OUT)
            return False
        self.pools = pools
        return True

    async def _standing(self) -> Standing:
        return await standing_of(getattr(self.scope.get("session"), "session_key", None))

    async def _say(self, body: dict[str, Any]) -> None:
        await self.send_json({**body, "at": timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")})
