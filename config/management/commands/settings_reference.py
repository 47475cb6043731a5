"""`manage.py settings_reference`: prints docs/reference/settings.md as the code has it."""

from typing import Any

from django.core.management.base import BaseCommand

from config.reference import settings_page


class Command(BaseCommand):
    """Prints the page; redirect it to the file."""

    help = "Print the reference of settings, as docs/reference/settings.md should be."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Nothing is read but the code."""
        self.stdout.write(settings_page(), ending="")
