"""`manage.py release_quiet`: end the claim of a runner that does not answer."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from claims import transitions
from claims.decide import Sighting
from claims.management.acting import add_person, answered, caller_for, task_id_of
from claims.models import Task


class Command(BaseCommand):
    help = "End a quiet claim as it is seen now; its runner is fenced from then on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("task", help="such as T-1042")
        parser.add_argument("--reason", required=True, help="kept in the history")
        parser.add_argument("--even-if-live", action="store_true", help="also when its lease still runs")
        add_person(parser)

    def handle(self, *args: Any, **given: Any) -> None:
        caller = caller_for(given["person"])
        task_id = task_id_of(given["task"])
        version, expires_at = Task.objects.values_list("state_version", "lease__expires_at").get(id=task_id)
        sighting = Sighting(version, expires_at, given["reason"], even_if_live=given["even_if_live"])
        left = answered(transitions.release_quiet(caller, task_id, sighting), caller, f"task {given['task']}")
        because = f" {left.reason}" if left.reason else ""
        self.stdout.write(f"{given['task']} is {left.state}, at state version {left.state_version}.{because}")
