"""How often somebody may guess a password in 15 minutes: five times for one name, twenty in all, from an address.

The count lives in the shared cache and, because that may be lost at any time, in this process too:
whichever is higher counts. While the cache is away a guesser has five tries for each process.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict

from django.core.cache import cache
from django.http import HttpRequest

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
    """Count a failed guess; answers how many remain."""
    for key, _ in _keys(request, name):
        _raise(key)
    return left(request, name)


def forget(request: HttpRequest, name: str) -> None:
    """The right password was given: the name starts anew, the address keeps its count."""
    key = _keys(request, name)[0][0]
    cache.delete(key)
    with _lock:
        _local.pop(key, None)


def _keys(request: HttpRequest, name: str) -> tuple[tuple[str, int], tuple[str, int]]:
    address = request.META.get("REMOTE_ADDR", "")
    who = hashlib.sha256(f"{name.casefold()}|{address}".encode()).hexdigest()[:32]
    return (f"tries:name:{who}", TRIES_A_NAME), (f"tries:address:{address}", TRIES_AN_ADDRESS)


def _seen(key: str) -> int:
    with _lock:
        count, until = _local.get(key, (0, 0.0))
    here = count if until > time.monotonic() else 0
    return max(here, int(cache.get(key, 0) or 0))


def _raise(key: str) -> None:
    count = _seen(key) + 1
    cache.set(key, count, WINDOW_SECONDS)
    with _lock:
        _local[key] = (count, time.monotonic() + WINDOW_SECONDS)
        _local.move_to_end(key)
        while len(_local) > _REMEMBERED:
            _local.popitem(last=False)
