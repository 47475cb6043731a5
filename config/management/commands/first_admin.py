"""`manage.py first_admin`: makes the first administrator of an empty Fencepost, and nobody else, ever."""

import json
import os
import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

NAME = "admin"


class Command(BaseCommand):
    """Prints the generated password once, or writes it to a file that only its owner may read."""

    help = "Make the first administrator, when there is none, with a generated password that is shown once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One option: where the password goes instead of the terminal."""
        parser.add_argument("--credentials", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Nothing happens where an administrator is."""
        password = secrets.token_urlsafe(15)
        with transaction.atomic():
            if User.objects.filter(is_superuser=True).exists():
                return
            User.objects.create_superuser(NAME, password=password)
            if options["credentials"] is not None:
                _write(options["credentials"], password)
                return
        self.stdout.write(f"{NAME} / {password}\nThis password is shown once.")


def _write(path: Path, password: str) -> None:
    """A new file for its owner alone. Raises ``CommandError``, so that nobody is made whose password is lost."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"users": {"admin": {"name": NAME, "password": password}}, "tokens": {}}, file)
    except OSError as error:
        raise CommandError(f"{path} cannot be made: {error.strerror}. No administrator was made.") from error
