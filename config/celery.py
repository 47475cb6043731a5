"""The Celery app. Queues: `attempts` runs agents, `upkeep` does what the clock asks for.

A message carries ids and a fence, never work: losing the broker loses nothing, because dispatch is
derived again from PostgreSQL. There is no ETA or countdown anywhere; Redis redelivers those twice.
"""

import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("fencepost")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


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
