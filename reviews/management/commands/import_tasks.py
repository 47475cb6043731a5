"""`manage.py import_tasks`: tasks from YAML templates, in the name and with the rights of a person.

Promises: what `reviews.writing.importing` promises; every file is reported as created, unchanged or
refused, and the exit status is 0 only when none was refused.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from claims.callers import Actor, Caller
from claims.vocabulary import ActorKind, Source
from reviews.writing.importing import SUFFIXES, Fate, Incoming, Line, imported


class Command(BaseCommand):
    help = "Make tasks from a YAML template, or from every one in a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="FILE_OR_FOLDER")
        parser.add_argument("--as", dest="person", required=True, metavar="PERSON", help="who writes them")
        parser.add_argument("--pool", default="", help="for templates that name no pool")

    def handle(self, *args: Any, **given: Any) -> None:
        person = User.objects.filter(username=given["person"], is_active=True).first()
        if person is None:
            raise CommandError(f"There is no person {given['person']}.")
        files = [Incoming(str(path), _bytes(path)) for path in _files(given["path"])]
        caller = Caller(Actor(ActorKind.PERSON, person.pk, person.username), Source.COMMAND)
        lines = imported(caller, files, given["pool"])
        for line in lines:
            self._tell(line)
        self._end(lines)

    def _tell(self, line: Line) -> None:
        for flaw in line.flaws:
            self.stderr.write(f"{line.name}:{flaw.line}:{flaw.column}: {flaw.message}")
        if line.why:
            self.stderr.write(f"{line.name}: {line.why}")
        number = f"T-{line.number}" if line.number is not None else "-"
        self.stdout.write(f"{line.fate:<9}  {number}  {line.title}  ({line.name})")

    def _end(self, lines: list[Line]) -> None:
        count = Counter(line.fate for line in lines)
        told = ", ".join(f"{count[fate]} {fate}" for fate in Fate)
        self.stdout.write(f"{told}.")
        if count[Fate.REFUSED]:
            raise CommandError(f"{'Not every' if count[Fate.CREATED] else 'No'} task was made: {told}.")


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.suffix in SUFFIXES and each.is_file())
    if not found:
        raise CommandError(f"There is no YAML file in {path}.")
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
