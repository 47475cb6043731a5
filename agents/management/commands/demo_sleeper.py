"""`manage.py demo_sleeper`: the demo's agent that stops answering, as a process of its own.

It is a plain client of the API; all this command does is give it the address and its token.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents.sowing import DEMO


class Command(BaseCommand):
    help = "Run the demo's sleeper with its token from the credentials file of demo_seed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--credentials", type=Path, metavar="FILE", help="default: secrets/demo.json in the data folder"
        )

    def handle(self, *args: Any, **given: Any) -> None:
        path = given["credentials"] or settings.FENCEPOST_VAR / "secrets" / "demo.json"
        try:
            token = json.loads(path.read_text())["tokens"]["sleeper"]
        except (OSError, ValueError, KeyError, TypeError):
            raise CommandError(f"{path} has no token of the sleeper; run demo_seed first.") from None
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": str(settings.BASE_DIR),
            "PYTHONUNBUFFERED": "1",
            "LANG": "C.UTF-8",
            "FENCEPOST_URL": settings.FENCEPOST_URL,
            "FENCEPOST_TOKEN": token,
            **{name: value for name, value in os.environ.items() if name == "FENCEPOST_PACE"},
        }
        script = str(DEMO / "workers" / "sleeper.py")
        os.execve(sys.executable, [sys.executable, "-B", script], environment)  # noqa: S606 - this process becomes it
