"""What runs beside the web: queues, sweeps, the database. Each figure or the sentence that it is not known."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone
from redis import Redis
from redis.exceptions import RedisError

from claims import sweeps
from claims.selectors import operations
from reviews.shell.words import NBSP, span

QUEUES = ("attempts", "upkeep")
PATIENCE_SECONDS = 0.3
SWEEP_SECONDS = 60
"""Beat asks for a sweep every few seconds; one that is this old is worth a look."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row: ``is_doubtful`` draws it as something to look at."""

    name: str
    value: str
    is_doubtful: bool = False


def lines() -> list[Line]:
    """Every figure of "Queues and workers". One query, one round trip to the broker."""
    found = operations.database()
    return [
        *_queues(),
        _sweep(),
        Line("Outbox, oldest row no reader may see yet", _short(found.outbox_lag), found.outbox_lag > 5),
        Line("Oldest transaction", _short(found.oldest_transaction), found.oldest_transaction > 30),
    ]


def _sweep() -> Line:
    """When the clock's work was last done whole; beat and a worker are alive then."""
    at = sweeps.last_good()
    if at is None:
        return Line("Last good sweep", "none known: is beat running, and a worker?", is_doubtful=True)
    seconds = (timezone.now() - at).total_seconds()
    return Line("Last good sweep", f"{span(seconds)} ago", seconds > SWEEP_SECONDS)


def _queues() -> list[Line]:
    if urlsplit(settings.FENCEPOST_BROKER_URL).scheme not in ("redis", "rediss"):
        return [Line("Celery queues", "not counted: the broker is not Redis")]
    try:
        broker = Redis.from_url(
            settings.FENCEPOST_BROKER_URL,
            socket_timeout=PATIENCE_SECONDS,
            socket_connect_timeout=PATIENCE_SECONDS,
        )
        with broker, broker.pipeline(transaction=False) as pipe:
            for queue in QUEUES:
                pipe.llen(queue)
            counts = pipe.execute()
    except (RedisError, OSError):
        return [
            Line("Celery queues", "the broker does not answer; no work is lost by that", is_doubtful=True)
        ]
    return [
        Line(f"Celery, queue {queue}", f"{count:,} waiting", count > 1_000)
        for queue, count in zip(QUEUES, counts, strict=True)
    ]


def _short(seconds: float) -> str:
    return f"{seconds * 1_000:.0f}{NBSP}ms" if seconds < 1 else span(seconds)
