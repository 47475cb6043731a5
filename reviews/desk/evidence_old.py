"""What a delivery shows: tests, screenshots, diff, commands and files, each bounded and each said by whom.

Promises: a number stands as a fact only where the server established it (``Delivery.facts``); all
else is drawn as the agent's word. Evidence that cannot be read is a sentence, not an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.safestring import SafeString

from claims.canonical import Item
from claims.vocabulary import EvidenceKind
from reviews.desk import reading
from reviews.desk.viewers.patch import PatchedFile
from reviews.desk.viewers.pictures import NotAPicture
from reviews.desk.viewers.reports import Case, Report, compared
from reviews.shell.words import NBSP, span

FOLD_OVER = 120
"""Lines of output shown whole; of more, the first and last ``FOLD_KEEPS``."""
FOLD_KEEPS = 40
OPEN_LINES = 400
"""Changed lines of a diff that are drawn with the page; files beyond wait to be opened."""
FILE_LINES = 1_500
FILE_BYTES = 150 * 1024
"""A file over one of these waits behind "Load this file" (pages.md)."""
CASES_SHOWN = 200
GONE = "The evidence storage does not have these bytes, or does not answer. Verdicts can still be given."


@dataclass(frozen=True, slots=True)
class OutputLine:
    """One line of a command's output; ``skipped`` lines before it are folded."""

    number: int
    html: SafeString
    skipped: int = 0


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
    lines: tuple[OutputLine, ...] = ()
    line_count: int = 0
    thin: str = ""

    @property
    def is_failed(self) -> bool:
        return self.exit_code not in (None, 0)

    @property
    def exit_words(self) -> str:
        return f"exit {self.exit_code}"

    @property
    def duration_words(self) -> str:
        """How long it took; empty when nobody says."""
        if self.duration_ms is None:
            return ""
        return (
            f"{self.duration_ms / 1_000:.1f}{NBSP}s"
            if self.duration_ms < 60_000
            else span(self.duration_ms / 1_000)
        )


@dataclass(frozen=True, slots=True)
class Shot:
    """One screenshot; ``warning`` is what is amiss with it."""

    item: Item
    claimed: int | None
    width: int | None
    height: int | None
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The screenshots of one page side by side, narrow first."""

    name: str
    address: str
    shots: tuple[Shot, ...]


@dataclass(frozen=True, slots=True)
class DiffFile:
    """One file of the diff; ``html`` is empty while it waits to be opened."""

    file: PatchedFile
    standing: str
    is_viewed: bool
    html: SafeString | str = ""
    waits: str = ""

    @property
    def rank(self) -> int:
        return {"excluded": 0, "outside": 1}.get(self.standing, 2)


@dataclass(frozen=True, slots=True)
class Diff:
    """The whole diff, excluded and outside files first."""

    item: Item | None = None
    files: tuple[DiffFile, ...] = ()
    count: int = 0
    added: int = 0
    removed: int = 0
    thin: str = ""

    def standing(self, word: str) -> int:
        """How many files stand so."""
        return sum(one.standing == word for one in self.files)

    @property
    def excluded(self) -> int:
        return self.standing("excluded")

    @property
    def outside(self) -> int:
        return self.standing("outside")

    @property
    def viewed(self) -> int:
        return sum(one.is_viewed for one in self.files)


@dataclass(frozen=True, slots=True)
class Tests:
    """The test reports together. ``is_fact``: read from a run of a worker of this server."""

    report: Report
    is_fact: bool
    items: tuple[Item, ...]
    has_before: bool = False
    shown: tuple[Case, ...] = field(default=())
    more: int = 0
    show: str = ""

    @property
    def passed(self) -> int:
        return self.report.count("passed")

    @property
    def failed(self) -> int:
        return self.report.count("failed")

    @property
    def skipped(self) -> int:
        return self.report.count("skipped")

    @property
    def fixed(self) -> int:
        return self.report.changed("fixed")

    @property
    def fresh(self) -> int:
        return self.report.changed("new")

    @property
    def filters(self) -> list[tuple[str, str, int]]:
        """The lists one may look at: slug, word, count."""
        notable = sum(_is_wanted(case, "") for case in self.report.cases)
        all_lists = [("failed", "Failed", self.failed), ("skipped", "Skipped", self.skipped)]
        first = ("", "Changed" if self.has_before else "Failed", notable)
        rest = all_lists if self.has_before else all_lists[1:]
        return [*(one for one in (first, *rest) if one[2]), ("all", "All", len(self.report.cases))]


def of_kind(items: Iterable[Item], *kinds: EvidenceKind) -> list[Item]:
    """The items of some kinds, in the manifest's order."""
    return [item for item in items if item.kind in kinds]


def commands_of(
    items: Sequence[Item], facts: Mapping[str, Any], *, whole: int | None = None
) -> list[Command]:
    """Every command and log; ``whole`` is the number of one whose output is not folded."""
    known = {fact.get("name"): fact for fact in facts.get("commands") or []}
    found = of_kind(items, EvidenceKind.COMMAND, EvidenceKind.LOG)
    return [
        _command(number, item, known.get(item.name) or {}, fold=number != whole)
        for number, item in enumerate(found, 1)
    ]


def _command(number: int, item: Item, fact: Mapping[str, Any], *, fold: bool) -> Command:
    is_fact = fact.get("ranBy") == "worker"
    meta = item.meta
    head = {
        "number": number,
        "item": item,
        "text": str(meta.get("command") or fact.get("command") or item.name)[:2_000],
        "is_fact": is_fact,
        "exit_code": _whole(fact.get("exitCode") if is_fact else meta.get("exitCode")),
        "duration_ms": _whole(fact.get("durationMs") if is_fact else meta.get("durationMs")),
        "started_at": _moment(meta.get("startedAt")),
        "folder": str(meta.get("cwd") or "")[:300],
    }
    try:
        lines, is_cut = reading.output_of(item.sha256)
    except reading.Missing:
        return Command(**head, thin=GONE)
    thin = ""
    if not lines:
        thin = "The command wrote nothing."
    elif is_cut or fact.get("isCut"):
        thin = "Output is cut: the page shows its beginning only. Download the file for all that was kept."
    return Command(**head, lines=tuple(_folded(lines, fold=fold)), line_count=len(lines), thin=thin)


def _folded(lines: Sequence[SafeString], *, fold: bool) -> Iterable[OutputLine]:
    limit = FOLD_OVER if fold else 5_000
    skipped = max(0, len(lines) - 2 * FOLD_KEEPS) if len(lines) > limit and fold else 0
    for number, html in enumerate(lines[:5_000] if not fold else lines, 1):
        if skipped and FOLD_KEEPS < number <= FOLD_KEEPS + skipped:
            continue
        yield OutputLine(number, html, skipped if number == FOLD_KEEPS + skipped + 1 else 0)


def pages_of(items: Sequence[Item], facts: Mapping[str, Any]) -> list[Page]:
    """The screenshots by page."""
    known = {fact.get("name"): fact for fact in facts.get("screenshots") or []}
    grouped: dict[tuple[str, str], list[Shot]] = {}
    for item in of_kind(items, EvidenceKind.SCREENSHOT):
        shot = _shot(item, known.get(item.name) or {})
        name = item.name.removesuffix(f"-{shot.claimed}") if shot.claimed else item.name
        grouped.setdefault((name, str(item.meta.get("page") or "")), []).append(shot)
    return [
        Page(name, address, tuple(sorted(shots, key=lambda shot: shot.claimed or shot.width or 0)))
        for (name, address), shots in grouped.items()
    ]


def _shot(item: Item, fact: Mapping[str, Any]) -> Shot:
    claimed = _whole(fact.get("declaredWidth")) or _whole(item.meta.get("width"))
    try:
        size = reading.size_of(item.sha256)
    except reading.Missing:
        return Shot(item, claimed, None, None, GONE)
    except NotAPicture as error:
        return Shot(item, claimed, None, None, str(error))
    warning = ""
    if claimed is not None and claimed != size.width:
        warning = f"It is {size.width} px wide, not the {claimed} px that it claims."
    return Shot(item, claimed, size.width, size.height, warning)


def diff_of(
    items: Sequence[Item], facts: Mapping[str, Any], viewed: Iterable[str], opened: int | None = None
) -> Diff:
    """The diff, files drawn up to ``OPEN_LINES`` together; ``opened`` is the index of one drawn in any case."""
    item = next(iter(of_kind(items, EvidenceKind.DIFF)), None)
    if item is None:
        return Diff()
    try:
        patch = reading.patch_of(item.sha256)
    except reading.Missing:
        return Diff(item, thin=GONE)
    standings = {fact.get("path"): str(fact.get("standing")) for fact in facts.get("files") or []}
    seen, left = frozenset(viewed), OPEN_LINES
    waiting = sorted(
        (DiffFile(file, standings.get(file.path, ""), file.path in seen) for file in patch.files),
        key=lambda one: (one.rank, one.file.index),
    )
    files = []
    for one in waiting:
        drawn = _drawn(item, one, left, is_asked=one.file.index == opened)
        left -= one.file.changed if drawn.html else 0
        files.append(drawn)
    return Diff(
        item,
        tuple(files),
        patch.count,
        patch.added,
        patch.removed,
        _diff_thin(patch.count, len(files), patch.is_cut),
    )


def _drawn(item: Item, one: DiffFile, left: int, *, is_asked: bool) -> DiffFile:
    file = one.file
    if file.is_binary:
        return DiffFile(file, one.standing, one.is_viewed, waits="A binary file: its bytes are not drawn.")
    is_large = file.changed > FILE_LINES or file.size > FILE_BYTES
    if not is_asked and (is_large or one.is_viewed or file.changed > left):
        why = f"{file.changed:,} changed lines, {file.size // 1024:,} KB." if is_large else ""
        return DiffFile(file, one.standing, one.is_viewed, waits=why)
    if file.size > 40 * FILE_BYTES:
        return DiffFile(
            file, one.standing, one.is_viewed, waits="Too large to draw. Download the diff to read it."
        )
    return DiffFile(file, one.standing, one.is_viewed, reading.drawn_file(item.sha256, file.index))


def _diff_thin(count: int, shown: int, is_cut: bool) -> str:
    if is_cut:
        return f"The diff is larger than {reading.DIFF_LIMIT // 1024 // 1024} MB; what comes after that is not here. Download it to read it all."
    if count > shown:
        return f"The diff touches {count:,} files; {shown:,} are listed here. Download it to read it all."
    return ""


def tests_of(
    items: Sequence[Item], facts: Mapping[str, Any], before: Sequence[Item] | None, show: str
) -> Tests | None:
    """The test reports, compared with those of the round before; None where the delivery has none."""
    mine = of_kind(items, EvidenceKind.TEST_REPORT)
    if not mine:
        return None
    earlier = of_kind(before, EvidenceKind.TEST_REPORT) if before is not None else []
    report = _joined(mine)
    cases = compared(report.cases, _joined(earlier).cases if earlier else None)
    report = Report(cases, report.flaw)
    if not show and not any(_is_wanted(case, "") for case in cases):
        show = "all"
    shown = [case for case in cases if _is_wanted(case, show)]
    return Tests(
        report,
        is_fact=isinstance(facts.get("tests"), dict),
        items=tuple(mine),
        has_before=bool(earlier),
        shown=tuple(shown[:CASES_SHOWN]),
        more=max(0, len(shown) - CASES_SHOWN),
        show=show,
    )


def _is_wanted(case: Case, show: str) -> bool:
    if show == "all":
        return True
    return (
        case.result == show if show in ("failed", "skipped") else bool(case.change) or case.result == "failed"
    )


def _joined(items: Sequence[Item]) -> Report:
    cases: list[Case] = []
    flaws: list[str] = []
    for item in items:
        try:
            report = reading.report_of(item.sha256)
        except reading.Missing:
            flaws.append(GONE)
            continue
        cases += report.cases
        if report.flaw:
            flaws.append(report.flaw)
    return Report(tuple(cases), " ".join(flaws))


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _moment(value: object) -> Any:
    try:
        return parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None
