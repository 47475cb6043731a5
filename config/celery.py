"""The Celery app. Queues: `attempts` runs agents, `upkeep` does what the clock asks for.

A message carries ids and a fence, never work: losing the broker loses nothing, because dispatch is
derived again from PostgreSQL. There is no ETA or countdown anywhere; Redis redelivers those twice.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("fencepost")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

SCHEDULED = ("claims.tasks", "agents.tasks", "reviews.tasks")
"""Modules whose `SCHEDULE` (name -> Celery beat entry) is what beat sends."""


@app.on_after_finalize.connect
def _gather_schedule(sender: Celery, **_: Any) -> None:
    """Join the `SCHEDULE` of each module that has one; a name used twice is an error."""
    joined: dict[str, Any] = {}
    for name in SCHEDULED:
        if find_spec(name) is None:
            continue
        for entry, what in getattr(import_module(name), "SCHEDULE", {}).items():
            if entry in joined:
                raise ValueError(f"Two schedules use the name {entry!r}.")
            joined[entry] = what
    sender.conf.beat_schedule = joined


@setup_logging.connect
def _log_as_django_does(**_: Any) -> None:
    """Keep Django's LOGGING: with a receiver on this signal Celery configures nothing itself."""


@worker_ready.connect
@beat_init.connect
def _note_ready(**_: Any) -> None:
    """Tell the supervisor, when there is one, that this process takes work."""
    note = os.environ.get("FENCEPOST_READY_NOTE")
    if note:
        Path(note).write_text(f"{os.getpid()}\n")
