"""How often a token may call: a count in the cache for each ten seconds, renewals apart.

Promises: one busy or broken agent cannot take the server from the others, and its other calls
cannot starve its renewals. It is a brake, not a guard: the count is kept in this process and
joined with the other processes' every ``SHARE_EVERY`` calls; while the cache is away only this
process's own calls are counted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

WINDOW_SECONDS = 10
SHARE_EVERY = 50
_MOST_COUNTS = 10_000


@dataclass(slots=True)
class _Count:
    """Calls of one token in one window: known from all processes, and not yet shared."""

    window: int
    known: int = 0
    own: int = 0


_counts: dict[tuple[int, str], _Count] = {}
_lock = Lock()


def is_too_often(token_id: int, bucket: str) -> bool:
    """Count one call; whether it is one too many in this window."""
    window = int(time.time()) // WINDOW_SECONDS
    with _lock:
        if len(_counts) > _MOST_COUNTS:
            _counts.clear()
        count = _counts.get((token_id, bucket))
        if count is None or count.window != window:
            count = _counts[token_id, bucket] = _Count(window)
        count.own += 1
        is_due = count.own >= SHARE_EVERY
        share, count.own = (count.own, 0) if is_due else (0, count.own)
        count.known += share
    if is_due:
        count.known = max(count.known, _share(f"calls:{token_id}:{bucket}:{window}", share))
    return count.known + count.own > settings.FENCEPOST_API_CALLS_IN_TEN_SECONDS


def _share(key: str, calls: int) -> int:
    """Add this process's calls to everybody's; what everybody made, 0 while the cache is away."""
    try:
        cache.add(key, 0, timeout=2 * WINDOW_SECONDS)
        return int(cache.incr(key, calls))
    except (RedisError, OSError, ValueError):
        return 0
