"""Logs: one JSON object a line on standard error, the request's id on each, tokens masked.

A token of Fencepost starts with `fp_`. Whatever holds one, message, field or traceback, is written
with `fp_***` in its place.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any

import structlog

TOKEN = re.compile(r"fp_[A-Za-z0-9_\-]{6,}")
MASK = "fp_***"
QUIET = (
    # A tick every two seconds would drown what the jobs themselves say.
    "celery.beat",
    "celery.app.trace",
    "celery.worker.strategy",
    "django_structlog.celery.receivers",
    "httpx",
    "httpcore",
    "PIL",
)
_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def masked(value: Any) -> Any:
    """The same value with every token in it replaced, in strings, keys, lists and mappings."""
    if isinstance(value, str):
        return TOKEN.sub(MASK, value)
    if isinstance(value, bytes):
        return masked(value.decode("utf-8", "replace"))
    if isinstance(value, dict):
        return {masked(key): masked(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [masked(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return masked(str(value))


def mask_tokens(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The structlog processor that runs last before rendering."""
    return {key: masked(value) for key, value in event.items()}


def logging_of(level: str) -> dict[str, Any]:
    """Django's LOGGING, and structlog set up to go through it. `level` is a name such as INFO."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": _SHARED,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            mask_tokens,
            structlog.processors.JSONRenderer(default=str),
        ],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # The request's own line says what was answered, with its id; this logger comes after it.
            "django.request": {"level": "ERROR"},
            **{name: {"level": "WARNING"} for name in QUIET},
        },
    }
