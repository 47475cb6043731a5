"""How often somebody may guess a password in 15 minutes: five times for one name, twenty in all, from an address.

The count lives in the shared cache and, because that may be lost at any time, in this process too:
whichever is higher counts. While the cache is away a guesser has five tries for each process.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError

WINDOW_SECONDS = 15 * 60
TRIES_A_NAME = 5
TRIES_AN_ADDRESS = 20
_REMEMBERED = 10_000

_lock = threading.Lock()
_local: OrderedDict[str, tuple[int, float]] = OrderedDict()


def left(request: HttpRequest, name: str) -> int:
    """How many guesses remain; 0 or less means none."""
    return min(limit - _seen(key) for key, limit in _keys(request, name))


def count_one(request: HttpRequest, name: str) -> int:
    """Count a guess before its password is looked at, so that guesses made at once all count.

    How many remain after it; below 0 for one that is too many.
    """
    return min(limit - _raise(key) for key, limit in _keys(request, name))


def forget(request: HttpRequest, name: str) -> None:
    """The right password was given: the name starts anew, the address keeps its count."""
    key = _keys(request, name)[0][0]
    cache.delete(key)
    with _lock:
        _local.pop(key, None)


def give_back(request: HttpRequest, name: str) -> None:
    """What ``count_one`` counted was no wrong guess: the address has it back."""
    key = _keys(request, name)[1][0]
    with _lock:
        count, until = _local.get(key, (0, 0.0))
        _local[key] = (max(0, count - 1), until)
    _shared(key, -1)


def _keys(request: HttpRequest, name: str) -> tuple[tuple[str, int], tuple[str, int]]:
    address = address_of(request)
    who = hashlib.sha256(f"{name.casefold()}|{address}".encode()).hexdigest()[:32]
    return (f"tries:name:{who}", TRIES_A_NAME), (f"tries:address:{address}", TRIES_AN_ADDRESS)


def address_of(request: HttpRequest) -> str:
    """Who asks: behind a trusted proxy the address that this proxy added, else that of the connection."""
    if settings.FENCEPOST_TRUSTED_PROXY:
        added = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
        if added:
            return added[:64]
    return str(request.META.get("REMOTE_ADDR", ""))


def _seen(key: str) -> int:
    with _lock:
        count, until = _local.get(key, (0, 0.0))
    here = count if until > time.monotonic() else 0
    return max(here, int(cache.get(key, 0) or 0))


def _raise(key: str) -> int:
    """One more, and how many that makes."""
    now = time.monotonic()
    with _lock:
        count, until = _local.get(key, (0, 0.0))
        here = 1 + (count if until > now else 0)
        _local[key] = (here, now + WINDOW_SECONDS)
        _local.move_to_end(key)
        while len(_local) > _REMEMBERED:
            _local.popitem(last=False)
    return max(here, _shared(key, 1))


def _shared(key: str, change: int) -> int:
    """The count of all processes after a change in one step; 0 while the cache is away."""
    try:
        cache.add(key, 0, WINDOW_SECONDS)
        count = cache.incr(key, change)
        cache.touch(key, WINDOW_SECONDS)
    except (RedisError, OSError, ValueError):
        return 0
    return int(count)
