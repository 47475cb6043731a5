"""Commands and logs: who ran them, how they ended, and the part of their output that is looked at.

Promises: of an output of any size at most the bytes of ``reviews.desk.reading`` are read; the
page draws its first and last lines, and leads to the rest line by line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from claims.canonical import Item
from claims.vocabulary import EvidenceKind
from reviews.desk import reading
from reviews.desk.evidence.kinds import GONE, moment, named, of_kind, whole
from reviews.desk.evidence.lens import Lens
from reviews.shell.words import NBSP, bounded, span

LINES_SHOWN = 300
"""Lines of one output that are drawn when a part of it is asked for."""
OPEN_LINES = 40
"""An output of fewer lines is open from the beginning."""
COMMANDS_OPEN = 20
"""Commands whose output is drawn with the page; later ones wait to be opened."""
COMMANDS_LISTED = 200


@dataclass(frozen=True, slots=True)
class OutputLine:
    """One line of a command's output; ``skipped`` lines before it are not drawn. Number 0: nobody counted."""

    number: int
    html: SafeString
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """The lines that are drawn, and what leads to the others."""

    lines: tuple[OutputLine, ...] = ()
    count: int | None = None
    earlier: int = 0
    later: int = 0
    is_folded: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """One command in the order of the manifest. ``is_fact``: a worker of this server ran it."""

    number: int
    item: Item
    text: str
    is_fact: bool
    exit_code: int | None
    duration_ms: int | None
    started_at: Any
    folder: str
    part: Part = Part()
    thin: str = ""
    since: str = ""
    waits: bool = False

    @property
    def is_failed(self) -> bool:
        return self.exit_code not in (None, 0)

    @property
    def is_open(self) -> bool:
        """Whether its output is opened with the page: it failed, is short, or was asked for."""
        return self.is_failed or 0 < len(self.part.lines) < OPEN_LINES

    @property
    def exit_words(self) -> str:
        return f"exit {self.exit_code}"

    @property
    def duration_words(self) -> str:
        """How long it took; empty when nobody says."""
        if self.duration_ms is None:
            return ""
        is_short = self.duration_ms < 60_000
        return f"{self.duration_ms / 1_000:.1f}{NBSP}s" if is_short else span(self.duration_ms / 1_000)


def commands_of(
    items: Sequence[Item],
    facts: Mapping[str, Any],
    before: Sequence[Item] | None = None,
    *,
    asked: int | None = None,
    lens: Lens | None = None,
    only: bool = False,
) -> list[Command]:
    """Every command and log; ``asked`` is the number of one that the lens looks into, ``only`` that one."""
    known = {fact.get("name"): fact for fact in facts.get("commands") or []}
    found = of_kind(items, EvidenceKind.COMMAND, EvidenceKind.LOG)[:COMMANDS_LISTED]
    return [
        _command(
            number, item, known.get(item.name) or {}, before, (lens or Lens()) if number == asked else None
        )
        for number, item in enumerate(found, 1)
        if not only or number == asked
    ]


def _command(
    number: int, item: Item, fact: Mapping[str, Any], before: Sequence[Item] | None, lens: Lens | None
) -> Command:
    is_fact = fact.get("ranBy") == "worker"
    meta = item.meta
    head = {
        "number": number,
        "item": item,
        "text": str(meta.get("command") or fact.get("command") or item.name)[:2_000],
        "is_fact": is_fact,
        "exit_code": whole(fact.get("exitCode") if is_fact else meta.get("exitCode")),
        "duration_ms": whole(fact.get("durationMs") if is_fact else meta.get("durationMs")),
        "started_at": moment(meta.get("startedAt")),
        "folder": str(meta.get("cwd") or "")[:300],
        "since": _since(item, before),
    }
    if number > COMMANDS_OPEN and lens is None:
        return Command(**head, waits=True)
    try:
        part = _part(item, fact, lens)
    except reading.Missing:
        return Command(**head, thin=GONE)
    return Command(**head, part=part, thin=_thin(item, fact, part))


def _since(item: Item, before: Sequence[Item] | None) -> str:
    """What became of the same command's output since the other round: new, same or changed."""
    if before is None:
        return ""
    earlier = named(before, item)
    if earlier is None:
        return "new"
    return "same" if earlier.sha256 == item.sha256 else "changed"


def _thin(item: Item, fact: Mapping[str, Any], part: Part) -> str:
    if not item.size:
        return "The command wrote nothing."
    if fact.get("isCut") and item.size <= reading.OUTPUT_LIMIT:
        return "Output is cut: it was longer than what was kept. Download the file for all that was kept."
    return part.note


def _part(item: Item, fact: Mapping[str, Any], lens: Lens | None) -> Part:
    counted = whole(fact.get("lines")) if not fact.get("isCut") else None
    if lens is None or not (lens.line or lens.find):
        return folded(item, counted)
    if lens.find:
        return found(item, lens.find)
    return stretch(item, counted, lens.line)


def folded(item: Item, counted: int | None) -> Part:
    """The first and the last lines, the middle folded.

    Raises ``reading.Missing``.
    """
    output = reading.ends_of(item.sha256, item.size)
    head = tuple(OutputLine(number, html) for number, html in enumerate(output.head, 1))
    if not output.tail:
        return Part(head, len(head))
    count = output.count or counted
    first = (count or 0) - len(output.tail) + 1
    skipped = (first - len(head) - 1) if count else -1
    tail = [
        OutputLine(first + at if count else 0, html, skipped if at == 0 else 0)
        for at, html in enumerate(output.tail)
    ]
    note = "" if count else _large(item)
    return Part((*head, *tail), count, later=len(head) + 1, is_folded=True, note=note)


def _large(item: Item) -> str:
    size = f"{item.size / 1024 / 1024:,.0f}{NBSP}MB"
    return (
        f"This output has {size}: its first and last lines are shown here. Download the file to read it all."
    )


def stretch(item: Item, counted: int | None, line: int) -> Part:
    """The lines from ``line`` on.

    Raises ``reading.Missing``.
    """
    texts, is_end = reading.lines_from(item.sha256, line, LINES_SHOWN)
    lines = tuple(OutputLine(line + at, html) for at, html in enumerate(texts))
    last = line + len(lines) - 1
    note = ""
    if not lines:
        note = f"There is no line {line:,} in the first {reading.SCAN_LIMIT // 1024 // 1024}{NBSP}MB of this output."
    count = last if is_end and lines else counted
    earlier = max(1, line - LINES_SHOWN) if line > 1 else 0
    return Part(lines, count, earlier=earlier, later=0 if is_end else last + 1, note=note)


def found(item: Item, text: str) -> Part:
    """The lines that hold ``text``, whatever its case.

    Raises ``reading.Missing``.
    """
    hits, is_whole = reading.lines_with(item.sha256, text)
    lines, at = [], 0
    for number, html in hits[: reading.HITS_LIMIT]:
        lines.append(OutputLine(number, html, number - at - 1))
        at = number
    where = "" if is_whole else f" in the first {reading.FIND_LIMIT // 1024 // 1024}{NBSP}MB"
    more = "more than " if len(hits) > reading.HITS_LIMIT else ""
    count = bounded(min(len(hits), reading.HITS_LIMIT))
    hold = "line holds" if len(hits) == 1 else "lines hold"
    note = f"{more}{count} {hold} “{text}”{where}."
    return Part(tuple(lines), None, earlier=1, note=note[0].upper() + note[1:])
