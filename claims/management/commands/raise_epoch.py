"""`manage.py raise_epoch`: nothing that was granted before is accepted after it returns."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from claims import transitions
from claims.management.acting import add_person, answered, caller_for


class Command(BaseCommand):
    help = "Raise a pool's scheduler epoch: every claim and delivery of an earlier one is fenced."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", required=True)
        parser.add_argument(
            "--expected", required=True, type=int, metavar="EPOCH", help="the epoch you see now"
        )
        parser.add_argument("--reason", required=True, help="kept among the pool's events")
        add_person(parser)

    def handle(self, *args: Any, **given: Any) -> None:
        caller = caller_for(given["person"])
        outcome = transitions.raise_epoch(caller, given["pool"], given["expected"], given["reason"])
        raised = answered(outcome, caller, f"pool {given['pool']}")
        self.stdout.write(f"{raised.pool} is at epoch {raised.scheduler_epoch}; it was {raised.before}.")
