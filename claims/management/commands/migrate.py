"""`manage.py migrate`, without the time limits that keep one hung verb from stalling a pool.

A migration works between its statements and may think for longer than a verb ever does.
"""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import connections


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with connections[options["database"]].cursor() as cursor:
            cursor.execute("SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0")
        try:
            super().handle(*args, **options)
        finally:
            connections[options["database"]].close()
