"""`manage.py prepare`: what `scripts/up` needs done before the programs start, in one process.

Migrations, static files when they changed, and the first people: the demo's, or one administrator.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Each part may be run again; what is there is left alone."""

    help = "Migrate, collect static files, and make the first people."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to do beside migrations, and where the first sign-ins are written."""
        parser.add_argument("--credentials", type=Path, required=True, metavar="FILE")
        parser.add_argument("--static", action="store_true", help="collect static files")
        parser.add_argument("--demo", action="store_true", help="make the demo, not one administrator")
        parser.add_argument("--no-agents", action="store_true", help="workers leave the demo's agents alone")

    def handle(self, *args: Any, **options: Any) -> None:
        """In order; the first failure ends it."""
        call_command("migrate", interactive=False, verbosity=0)
        if options["static"]:
            call_command("collectstatic", interactive=False, verbosity=0)
        credentials = options["credentials"]
        if options["demo"]:
            call_command("demo_seed", credentials=credentials, no_agents=options["no_agents"])
        else:
            call_command("first_admin", credentials=credentials)
