"""Files that become tasks, by page and by command, with a report of what became of each.

Promises: a file is created, unchanged (the same text became a task of that pool before) or refused, with
the place of every flaw; when any file has a flaw no task is made; the tasks of one pool are made all or none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from django.utils import timezone

from claims import transitions
from claims.callers import Caller
from claims.inputs import NewTask
from claims.outcomes import Refused, Why
from claims.taskfile import MOST_BYTES, PlacedFlaw, Template, TemplateInvalid, load_template
from reviews.models import ImportedTemplate

SUFFIXES = (".yaml", ".yml")
_NTH = re.compile(r"/tasks/(\d+)(?:/([\w/]+))?")


class Fate(StrEnum):
    """What became of a file."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file by its name, and its bytes."""

    name: str
    data: bytes


@dataclass(slots=True)
class Line:
    """One file of the report. ``flaws`` have a place, ``why`` is a sentence about the file as a whole."""

    name: str
    fate: Fate
    pool: str = ""
    number: int | None = None
    title: str = ""
    flaws: list[PlacedFlaw] = field(default_factory=list)
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    line: Line
    template: Template
    digest: str


def imported(caller: Caller, files: Sequence[Incoming], otherwise: str) -> list[Line]:
    """The report, in the order of the files; ``otherwise`` is the pool of templates that name none."""
    lines: list[Line] = []
    read: list[_Read] = []
    for file in files:
        one = _read(file, otherwise)
        lines.append(one.line if isinstance(one, _Read) else one)
        read += [one] if isinstance(one, _Read) else []
    _unchanged(read)
    fresh = [one for one in read if one.line.fate is Fate.CREATED]
    flawed = [line for line in lines if line.flaws]
    if flawed:
        _hold_back(fresh, f"Held back, because {flawed[0].name} has flaws.")
        return lines
    for pool in dict.fromkeys(one.line.pool for one in fresh):
        _create(caller, pool, [one for one in fresh if one.line.pool == pool], read)
    return lines


def _read(file: Incoming, otherwise: str) -> _Read | Line:
    """The template of a file, thought of as created until something speaks against it; or what is wrong."""
    line = Line(file.name, Fate.CREATED)
    try:
        template = load_template(_text(file.data))
        line.pool, line.title = template.pool or otherwise, template.task.title
        if not line.pool:
            raise TemplateInvalid(
                [PlacedFlaw(1, 1, "it names no pool; write one, or choose one for such files")]
            )
    except TemplateInvalid as invalid:
        line.fate, line.flaws = Fate.REFUSED, list(invalid.flaws)
        return line
    digest = hashlib.sha256(line.pool.encode() + b"\0" + file.data).hexdigest()
    return _Read(line, template, digest)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "replace" if len(data) > MOST_BYTES else "strict")
    except UnicodeDecodeError as error:
        raise TemplateInvalid([PlacedFlaw(1, 1, "the file is not text in UTF-8")]) from error


def _unchanged(read: Sequence[_Read]) -> None:
    """Mark what became a task before. One query."""
    rows = ImportedTemplate.objects.filter(digest__in=[one.digest for one in read])
    known = {row.digest: row.number for row in rows}
    for one in read:
        if one.digest in known:
            one.line.fate, one.line.number = Fate.UNCHANGED, known[one.digest]


def _create(caller: Caller, pool: str, fresh: Sequence[_Read], read: Sequence[_Read]) -> None:
    before = {
        one.template.task.node_id: f"T-{one.line.number}"
        for one in read
        if one.line.pool == pool and one.line.fate is Fate.UNCHANGED and one.template.task.node_id
    }
    one_a_text = {one.digest: one for one in reversed(fresh)}
    firsts = [one for one in fresh if one_a_text[one.digest] is one]
    digest = hashlib.sha256("\0".join([pool, *(one.digest for one in firsts)]).encode()).hexdigest()
    keyed = replace(caller, key=f"import-{digest}", request_digest=digest)
    made = transitions.create(keyed, pool, [_task(one.template.task, before) for one in firsts])
    if isinstance(made, Refused):
        _refuse(made, caller, pool, firsts, fresh)
        return
    numbers = {one.digest: task.number for one, task in zip(firsts, made.tasks, strict=True)}
    for one in fresh:
        one.line.number = numbers[one.digest]
        one.line.fate = Fate.CREATED if one_a_text[one.digest] is one else Fate.UNCHANGED
    now = timezone.now()
    ImportedTemplate.objects.bulk_create(
        [
            ImportedTemplate(pool_name=pool, digest=each, number=number, imported_at=now)
            for each, number in numbers.items()
        ],
        ignore_conflicts=True,
    )


def _task(task: NewTask, before: Mapping[str, str]) -> NewTask:
    """The task; what it waits for that was imported earlier is named by its number."""
    return replace(task, depends_on=tuple(before.get(name, name) for name in task.depends_on))


def _refuse(
    refused: Refused, caller: Caller, pool: str, sent: Sequence[_Read], fresh: Sequence[_Read]
) -> None:
    """Tell the file that the refusal counts, and hold the others of the pool back with it."""
    found = _NTH.search(refused.sentence)
    if found is None:
        _hold_back(fresh, _whole(refused, caller, pool))
        return
    culprit = sent[int(found[1])].line
    key = found[2].replace("/", ".") if found[2] else ""
    _hold_back(fresh, f"Held back, because {culprit.name} was refused.")
    culprit.why = _NTH.sub(key, refused.sentence).lstrip(": ")


def _whole(refused: Refused, caller: Caller, pool: str) -> str:
    if refused.why is Why.NOT_FOUND:
        return f"There is no pool {pool} in which {caller.actor.name} has a right."
    return refused.sentence


def _hold_back(read: Sequence[_Read], why: str) -> None:
    for one in read:
        one.line.fate, one.line.why = Fate.REFUSED, why
