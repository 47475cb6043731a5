"""`manage.py demo_seed`: make what is missing of the demo."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from agents import sowing


class Command(BaseCommand):
    help = "Make the demo's people, pools, repository, agents and tasks. A second call changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--credentials", type=Path, metavar="FILE", help="where sign-ins and tokens are kept, mode 0600"
        )
        parser.add_argument("--no-agents", action="store_true", help="workers leave the demo's agents alone")

    def handle(self, *args: Any, **given: Any) -> None:
        sown = sowing.sow(given["credentials"], with_agents=not given["no_agents"])
        self.stdout.write(f"The demo has {len(sown.agents)} agents; {len(sown.new)} tasks are new.")
