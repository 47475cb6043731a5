"""`manage.py relay`: hints about changes to open pages, until it is told to stop."""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.management.base import BaseCommand

from claims.live.relay import relay


class Command(BaseCommand):
    """Runs one relay; any number may run."""

    help = "Read the history behind every running transaction and hint at it to open pages."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGTERM or SIGINT."""
        asyncio.run(relay())
