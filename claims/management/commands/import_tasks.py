"""`manage.py import_tasks`: tasks from YAML templates, in the name and with the rights of a person.

Promises: when any file has a flaw, every flaw is told with its place and no task is made; the tasks
of one pool are made all or none; the same files again make no second tasks for as long as
idempotency keys are kept.
"""

from __future__ import annotations

import hashlib
import re
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from claims import transitions
from claims.callers import Actor, Caller
from claims.outcomes import Created, Refused, Why
from claims.taskfile import PlacedFlaw, Template, TemplateInvalid, load_template
from claims.vocabulary import ActorKind, Source

SUFFIXES = {".yaml", ".yml"}
_NTH = re.compile(r"/tasks/(\d+)(?:/([\w/]+))?")


@dataclass(frozen=True, slots=True)
class Read:
    """One template that has no flaw, where it was read, and the pool it goes to."""

    path: Path
    text: str
    pool: str
    template: Template


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
        read = self._read(_files(given["path"]), given["pool"])
        for pool in dict.fromkeys(each.pool for each in read):
            self._create(person, pool, [each for each in read if each.pool == pool])

    def _read(self, paths: list[Path], pool: str) -> list[Read]:
        """Every template. Raises ``CommandError`` after all flaws of all files were told."""
        read, flawed = [], 0
        for path in paths:
            try:
                text = _text(path)
                template = load_template(text)
                read.append(Read(path, text, _pool(template, pool), template))
            except TemplateInvalid as invalid:
                flawed += 1
                for flaw in invalid.flaws:
                    self.stderr.write(f"{path}:{flaw.line}:{flaw.column}: {flaw.message}")
        if flawed:
            raise CommandError(
                f"No task was made: {flawed} of {len(paths)} files {'has' if flawed == 1 else 'have'} flaws."
            )
        return read

    def _create(self, person: User, pool: str, read: list[Read]) -> None:
        digest = hashlib.sha256("\0".join([pool, *(each.text for each in read)]).encode()).hexdigest()
        actor = Actor(ActorKind.PERSON, person.pk, person.username)
        caller = Caller(actor, Source.COMMAND, key=f"import-{digest}", request_digest=digest)
        made = transitions.create(caller, pool, [each.template.task for each in read])
        if isinstance(made, Refused) and made.why is Why.NOT_FOUND:
            raise CommandError(f"There is no pool {pool} in which {person.username} has a right.")
        if isinstance(made, Refused):
            raise CommandError(f"No task was made in the pool {pool}: {_sentence(made, read)}")
        for task, each in zip(made.tasks, read, strict=True):
            self.stdout.write(f"T-{task.number}  {each.template.task.title}  ({each.path})")
        self.stdout.write(_count(made, pool))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.suffix in SUFFIXES and each.is_file())
    if not found:
        raise CommandError(f"There is no YAML file in {path}.")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TemplateInvalid([PlacedFlaw(1, 1, "the file is not text in UTF-8")]) from error
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error


def _pool(template: Template, otherwise: str) -> str:
    if not (template.pool or otherwise):
        raise TemplateInvalid([PlacedFlaw(1, 1, "it names no pool; write one, or give --pool")])
    return template.pool or otherwise


def _sentence(refused: Refused, read: list[Read]) -> str:
    """The refusal, with files where it counts tasks."""

    def named(found: re.Match[str]) -> str:
        key = found[2].replace("/", ".") if found[2] else ""
        return f"{read[int(found[1])].path}: {key}".rstrip(": ")

    return _NTH.sub(named, refused.sentence)


def _count(made: Created, pool: str) -> str:
    count = len(made.tasks)
    return f"{count} {'task' if count == 1 else 'tasks'} in the pool {pool}."
