"""A cache on Redis that forgets rather than fails: losing Redis costs speed and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import structlog
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

MOST_MEMBERS = 100
"""Members of a set that are answered; more are not counted."""


def _or(forgotten: Any, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `call` answers, or `forgotten` when Redis cannot be reached."""
    try:
        return call(*args, **kwargs)
    except (RedisError, OSError) as error:
        log.warning("cache_unreachable", error=type(error).__name__)
        return forgotten


class ForgivingRedisCache(RedisCache):
    """Reads miss and writes do nothing while Redis is away. Never use it to exclude anyone."""

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        return _or(default, super().get, key, default=default, version=version)

    def set(self, key: str, value: Any, *args: Any, **kwargs: Any) -> None:
        _or(None, super().set, key, value, *args, **kwargs)

    def add(self, key: str, value: Any, *args: Any, **kwargs: Any) -> bool:
        return bool(_or(False, super().add, key, value, *args, **kwargs))

    def touch(self, key: str, *args: Any, **kwargs: Any) -> bool:
        return bool(_or(False, super().touch, key, *args, **kwargs))

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(_or(False, super().delete, key, version=version))

    def has_key(self, key: str, version: int | None = None) -> bool:
        return bool(_or(False, super().has_key, key, version=version))

    def get_many(self, keys: Any, version: int | None = None) -> dict[Any, Any]:
        return dict(_or({}, super().get_many, keys, version=version))

    def set_many(self, data: Any, *args: Any, **kwargs: Any) -> list[Any]:
        return list(_or(list(data), super().set_many, data, *args, **kwargs) or [])

    def seen_lately(self, key: str, member: str, now_seconds: float, lasts_seconds: int) -> list[str]:
        """Note that ``member`` is there now; everybody who was within ``lasts_seconds``, the newest first.

        One round trip. A sorted set with an entry for each member: those who come at the same moment
        do not overwrite each other, as they would where one value is read, added to and written back.
        Nobody at all while Redis is away, ``member`` included.
        """
        return list(_or([], self._seen_lately, key, member, now_seconds, lasts_seconds))

    def _seen_lately(self, key: str, member: str, now_seconds: float, lasts_seconds: int) -> list[str]:
        name = self.make_and_validate_key(key)
        with self._cache.get_client(name, write=True).pipeline() as together:
            together.zadd(name, {member: now_seconds})
            together.zremrangebyscore(name, "-inf", now_seconds - lasts_seconds)
            together.zrange(name, 0, MOST_MEMBERS - 1, desc=True)
            together.expire(name, lasts_seconds)
            found = together.execute()[2]
        return [each.decode() for each in found]

    def delete_many(self, keys: Any, version: int | None = None) -> None:
        _or(None, super().delete_many, keys, version=version)
