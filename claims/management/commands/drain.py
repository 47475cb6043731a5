"""`manage.py drain`: close a pool's gate, and say what still keeps it from being drained."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from claims import transitions
from claims.management.acting import add_person, answered, caller_for, pool_id_of
from claims.selectors import drain
from claims.selectors.drain import DrainStatus
from claims.vocabulary import Gate

BETWEEN_SECONDS = 2.0


class Command(BaseCommand):
    help = "Close a pool's gate and say what is in the way, by name. Exit 0: drained. Exit 1: not yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", required=True)
        parser.add_argument(
            "--reason", default="The pool is being drained.", help="kept among the pool's events"
        )
        parser.add_argument(
            "--wait", type=int, default=0, metavar="SECONDS", help="look again until it is drained"
        )
        add_person(parser)

    def handle(self, *args: Any, **given: Any) -> None:
        caller = caller_for(given["person"])
        outcome = transitions.gate(caller, given["pool"], Gate.DRAINING, given["reason"])
        answered(outcome, caller, f"pool {given['pool']}")
        pool_id, until = pool_id_of(given["pool"]), time.monotonic() + given["wait"]
        status = self._told(drain.status(pool_id), None)
        while not status.is_drained and time.monotonic() < until:
            time.sleep(min(BETWEEN_SECONDS, max(0.0, until - time.monotonic())))
            status = self._told(drain.status(pool_id), status)
        if not status.is_drained:
            for blocker in (*status.claims.blockers, *status.effects.blockers, *status.deliveries.blockers):
                self.stdout.write(f"  {blocker}")
            raise CommandError("Not drained yet.")

    def _told(self, status: DrainStatus, before: DrainStatus | None) -> DrainStatus:
        """Print the status where its line is another one than before."""
        if before is None or status.sentence != before.sentence:
            self.stdout.write(status.sentence)
        return status
