"""Processes that share the tests of one run: who this one is, and what it has of its own.

A database of PostgreSQL is pytest-django's to name after the process; of Valkey it is named here, because
the settings under test read its number from the environment when they are imported.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from urllib.parse import urlsplit, urlunsplit

PROCESS = "PYTEST_XDIST_WORKER"
FIRST_OWN_DATABASE = 2
"""Numbers below it belong to a run in one process: cache and hints, and the broker."""
NUMBERS = 7
"""Valkey has sixteen databases unless told otherwise; the last ones are the broker tests' own."""


def with_own_database(environment: MutableMapping[str, str]) -> None:
    """Let FENCEPOST_REDIS_URL name the database of this process; in a run of one process nothing changes."""
    process = environment.get(PROCESS, "")
    if not process:
        return
    number = FIRST_OWN_DATABASE + int(process.removeprefix("gw")) % NUMBERS
    url = urlsplit(environment["FENCEPOST_REDIS_URL"])
    environment["FENCEPOST_REDIS_URL"] = urlunsplit(url._replace(path=f"/{number}"))
