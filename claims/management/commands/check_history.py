"""`manage.py check_history`: replays what is stored, and certifies it or names what does not hold."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from claims import checking
from claims.checking import COUNTED, Certificate
from claims.management.acting import task_id_of


class Command(BaseCommand):
    help = "Replay the stored history against the invariants; print a certificate, or the first violation."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", help="only this pool; all pools when absent")
        parser.add_argument("--task", metavar="T-1042", help="only this task, by its number or its id")

    def handle(self, *args: Any, **given: Any) -> None:
        task_id = _task_id(given["task"]) if given["task"] else None
        try:
            found = checking.check(given["pool"], task_id, self._tell if given["verbosity"] > 1 else None)
        except LookupError as error:
            raise CommandError(str(error)) from error
        if not isinstance(found, Certificate):
            raise CommandError(str(found))
        self.stdout.write(certified(found, given["task"], names_all=given["verbosity"] > 1))

    def _tell(self, tasks: int) -> None:
        self.stderr.write(f"{tasks} tasks hold.")


def certified(found: Certificate, task: str | None, *, names_all: bool) -> str:
    """The certificate in words; ``names_all``: with the name of each invariant."""
    of = task or (f"pool {found.pool}" if found.pool else "all pools")
    return "\n".join(
        (
            f"The history of {of} holds.",
            f"  read      {', '.join(f'{getattr(found, name)} {name}' for name in COUNTED)}",
            f"  checked   {len(found.invariants)} invariants of claim.v1",
            *(f"            {name}" for name in found.invariants if names_all),
            f"  head      {found.head}",
            f"  database  {found.at.isoformat(timespec='seconds')}",
        )
    )


def _task_id(written: str) -> UUID:
    try:
        return UUID(written)
    except ValueError:
        return task_id_of(written)
