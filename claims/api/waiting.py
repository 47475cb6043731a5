"""Long polls: bounded in time and in number, and holding no transaction while they wait.

Promises: at most ``FENCEPOST_API_WAITERS`` calls of this process wait at once, fewer than it has
threads; one more is answered at once, as if it had not asked to wait. Between two looks nothing
of the database is held but the connection.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import BoundedSemaphore
from typing import TypeVar

from django.conf import settings

LOOK_EVERY_SECONDS = 1.0

T = TypeVar("T")
_places = BoundedSemaphore(settings.FENCEPOST_API_WAITERS)


def wait_for(
    look: Callable[[], T], is_news: Callable[[T], bool], seconds: int, stay: Callable[[], None]
) -> T:
    """What ``look`` answers once that is news, or after ``seconds``; the first look is at once.

    ``stay`` raises, before each later look, when the caller may not look any more.
    """
    seen = look()
    if seconds <= 0 or is_news(seen) or not _places.acquire(blocking=False):
        return seen
    try:
        end = time.monotonic() + seconds
        while not is_news(seen):
            left = end - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(LOOK_EVERY_SECONDS, left))
            stay()
            seen = look()
        return seen
    finally:
        _places.release()
