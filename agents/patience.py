"""Asking again while the database is away: a restart of PostgreSQL is no reason to lose an hour's work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connection

from claims.outcomes import Refused, Why

T = TypeVar("T")

PATIENCE_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 3.0
_ASK_AGAIN = frozenset({Why.BUSY, Why.OUTCOME_UNKNOWN, Why.IN_PROGRESS})


def insist(ask: Callable[[], T]) -> T:
    """Ask again while the database is away or the answer is not known, a minute at most.

    Only for what may be done twice: every verb with a fence, and writes that set the same again.
    Raises what the last try raised.
    """
    until, pause = time.monotonic() + PATIENCE_SECONDS, 0.25
    while True:
        try:
            answer = ask()
            if not (isinstance(answer, Refused) and answer.why in _ASK_AGAIN) or time.monotonic() > until:
                return answer
        except (DatabaseError, InterfaceError):
            connection.close()
            if time.monotonic() > until:
                raise
        time.sleep(pause)
        pause = min(LONGEST_PAUSE_SECONDS, pause * 2)
