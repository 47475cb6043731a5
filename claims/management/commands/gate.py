"""`manage.py gate`: open or close a pool for new claims."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from claims import transitions
from claims.management.acting import add_person, answered, caller_for
from claims.vocabulary import Gate


class Command(BaseCommand):
    help = "Open or close a pool for new claims. What is claimed goes on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("gate", choices=[gate.value for gate in Gate])
        parser.add_argument("--pool", required=True)
        parser.add_argument("--reason", required=True, help="kept among the pool's events")
        add_person(parser)

    def handle(self, *args: Any, **given: Any) -> None:
        caller = caller_for(given["person"])
        outcome = transitions.gate(caller, given["pool"], Gate(given["gate"]), given["reason"])
        stands = answered(outcome, caller, f"pool {given['pool']}")
        self.stdout.write(f"The gate of {stands.pool} is {stands.gate}, at epoch {stands.scheduler_epoch}.")
