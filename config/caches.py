"""A cache on Redis that forgets rather than fails: losing Redis costs speed and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import structlog
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)


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

    def delete_many(self, keys: Any, version: int | None = None) -> None:
        _or(None, super().delete_many, keys, version=version)
