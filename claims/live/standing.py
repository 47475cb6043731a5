"""What the person of a session may hear, looked up together for all the pages that ask at the same moment.

Promises: each question is answered by a look that began after it was asked; pages of one session share
one. Two hundred open pages ask within a few milliseconds of a hint, and would keep the database busy each
on its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from importlib import import_module
from types import SimpleNamespace
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user

from claims.selectors.seen import pools_of

GATHER_SECONDS = 0.01
"""How long the first question waits for the others."""

Standing = dict[int, str] | None
"""The person's pools, name by id; None when the session has ended or the account is off."""


class _Desk:
    """The sessions of one event loop that are asked about, and the look that is about to answer them."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.look: asyncio.Task[dict[str, Standing]] | None = None

    def ask(self, session_key: str) -> asyncio.Task[dict[str, Standing]]:
        self.asked.add(session_key)
        self.look = self.look or asyncio.create_task(self._look())
        return self.look

    async def _look(self) -> dict[str, Standing]:
        await asyncio.sleep(GATHER_SECONDS)
        asked, self.asked, self.look = self.asked, set(), None
        return await database_sync_to_async(standings)(asked)


_desks: WeakKeyDictionary[asyncio.AbstractEventLoop, _Desk] = WeakKeyDictionary()


async def standing_of(session_key: str | None) -> Standing:
    """What the person of this session may hear now. Raises what the database raises."""
    if not session_key:
        return None
    desk = _desks.setdefault(asyncio.get_running_loop(), _Desk())
    found = await asyncio.shield(desk.ask(session_key))
    return found[session_key]


def standings(session_keys: Iterable[str]) -> dict[str, Standing]:
    """The answer for each session, by Django's own check of it; three queries each."""
    return {key: _standing(key) for key in session_keys}


def _standing(session_key: str) -> Standing:
    store = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    person = get_user(SimpleNamespace(session=store))  # type: ignore[arg-type]
    if not person.is_authenticated or person.pk is None:
        return None
    return {pool.id: pool.name for pool in pools_of(person.pk)}
