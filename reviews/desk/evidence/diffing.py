"""The diff of a delivery, file by file: which files, in what standing, and the part that is drawn.

Promises: the list comes from the facts that were established at the delivery, and the bytes of
a file are read by their place in the diff, so that the size of the whole does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.safestring import SafeString

from claims.canonical import Item
from claims.vocabulary import EvidenceKind
from reviews.desk import reading
from reviews.desk.evidence.kinds import GONE, of_kind, whole
from reviews.desk.evidence.lens import Lens

OPEN_LINES, OPEN_BYTES = 160, 16 * 1024
"""What is drawn with the page, in changed lines and bytes of diff; later files load when they are reached."""
FILE_LINES, FILE_BYTES = 1_500, 150 * 1024
"""A file over one of these waits behind "Load this file" (pages.md)."""
FILES_ON_PAGE = 30
LARGEST_FILE = 6 * 1024 * 1024
"""Bytes of one file's diff that are read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the diff: its place among all of them, and where its bytes stand in which diff."""

    index: int
    path: str
    old_path: str
    kind: str
    added: int
    removed: int
    is_binary: bool
    standing: str
    source: int
    start: int
    size: int

    @property
    def changed(self) -> int:
        """Changed lines."""
        return self.added + self.removed

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_large(self) -> bool:
        return self.changed > FILE_LINES or self.size > FILE_BYTES


@dataclass(frozen=True, slots=True)
class DiffFile:
    """One file as the page shows it; ``html`` is empty while it waits to be opened."""

    file: Entry
    is_viewed: bool
    html: SafeString | str = ""
    waits: str = ""
    loads_itself: bool = False
    notes: tuple[str, ...] = ()
    rows: int = 0
    first: int = 0
    has_more: int = 0
    view: str = "unified"

    @property
    def standing(self) -> str:
        return self.file.standing


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one folder, or those that need eyes first."""

    name: str
    code: str
    files: tuple[DiffFile, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """The whole diff, excluded and outside files first; ``files`` are those of the page in view."""

    items: tuple[Item, ...] = ()
    files: tuple[DiffFile, ...] = ()
    count: int = 0
    added: int = 0
    removed: int = 0
    excluded: int = 0
    outside: int = 0
    viewed: int = 0
    thin: str = ""
    found: int = 0
    page: int = 1
    pages: int = 1

    @property
    def item(self) -> Item | None:
        """The first diff; None where the delivery carries none."""
        return self.items[0] if self.items else None

    @property
    def paths(self) -> set[str]:
        """The paths of the files in view."""
        return {one.file.path for one in self.files}

    @property
    def first(self) -> int:
        return (self.page - 1) * FILES_ON_PAGE + 1

    @property
    def last(self) -> int:
        return self.first + len(self.files) - 1

    @property
    def next_count(self) -> int:
        """How many files the next page has."""
        return min(FILES_ON_PAGE, self.found - self.page * FILES_ON_PAGE)

    @property
    def groups(self) -> list[Group]:
        """The files of the page as a tree: excluded, outside, then folder by folder."""
        folders: dict[tuple[str, str], list[DiffFile]] = {}
        heads = {"excluded": ("Excluded by the task", "DANGER"), "outside": ("Outside the scope", "QUIET")}
        for one in self.files:
            head = heads.get(one.standing, (one.file.folder or "top folder", ""))
            folders.setdefault(head, []).append(one)
        return [Group(name, code, tuple(files)) for (name, code), files in folders.items()]


def diff_of(
    items: Sequence[Item],
    facts: Mapping[str, Any],
    viewed: Iterable[str],
    lens: Lens | None = None,
    *,
    opened: int | None = None,
    address: str = "",
) -> Diff:
    """The diff as the lens shows it: one page of files, the first of them drawn.

    ``opened`` is the index of a file that is drawn in any case; ``address`` is the delivery's.
    """
    lens = lens or Lens()
    mine = tuple(diffs_of(items))
    if not mine:
        return Diff()
    try:
        entries = entries_of(mine, facts)
    except reading.Missing:
        return Diff(mine, thin=GONE)
    seen = frozenset(viewed)
    wanted = [entry for entry in entries if lens.path.lower() in entry.path.lower()]
    pages = max(1, -(-len(wanted) // FILES_ON_PAGE))
    page = min(lens.page, pages)
    if opened is not None:
        page = 1 + next((at for at, entry in enumerate(wanted) if entry.index == opened), 0) // FILES_ON_PAGE
    there = wanted[(page - 1) * FILES_ON_PAGE : page * FILES_ON_PAGE]
    totals = facts.get("diff") or {}
    count = whole(totals.get("files")) or len(entries)
    return Diff(
        mine,
        tuple(_drawn_with_page(items, there, seen, lens, opened, address)),
        count,
        whole(totals.get("added")) or sum(entry.added for entry in entries),
        whole(totals.get("removed")) or sum(entry.removed for entry in entries),
        sum(entry.standing == "excluded" for entry in entries),
        sum(entry.standing == "outside" for entry in entries),
        sum(entry.path in seen for entry in entries) if seen else 0,
        thin_words(mine, count, len(entries)),
        len(wanted),
        page,
        pages,
    )


def diffs_of(items: Sequence[Item]) -> list[Item]:
    """The diffs of a delivery, in the manifest's order."""
    return of_kind(items, EvidenceKind.DIFF)


def thin_words(items: Sequence[Item], count: int, listed: int) -> str:
    """What the list does not hold; empty where it holds everything."""
    if any(item.size > reading.DIFF_LIMIT for item in items):
        limit = reading.DIFF_LIMIT // 1024 // 1024
        return f"The diff is larger than {limit} MB; what comes after that is not here. Download it to read it all."
    if count > listed:
        return f"The diff touches {count:,} files; {listed:,} are listed, excluded and outside ones first. Download it to read it all."
    return ""


def entries_of(items: Sequence[Item], facts: Mapping[str, Any]) -> list[Entry]:
    """Every listed file: from the facts, or from the bytes of a delivery that has none.

    Raises ``reading.Missing``.
    """
    listed = facts.get("files") or []
    if listed and all(isinstance(fact.get("at"), list) for fact in listed):
        return [_of_fact(index, fact) for index, fact in enumerate(listed)]
    standings = {fact.get("path"): str(fact.get("standing")) for fact in listed}
    found: list[Entry] = []
    for source, item in enumerate(items):
        for change in reading.changes_of(item.sha256):
            was = change.names[0] if len(change.names) > 1 else change.path
            standing = standings.get(change.path, "")
            found.append(
                Entry(len(found), change.path, was, change.kind, change.added, change.removed,
                      change.is_binary, standing, source, change.start, change.size)
            )  # fmt: skip
    order = {"excluded": 0, "outside": 1}
    found.sort(key=lambda entry: order.get(entry.standing, 2))
    return [replace(entry, index=index) for index, entry in enumerate(found)]


def _of_fact(index: int, fact: Mapping[str, Any]) -> Entry:
    source, start, size = fact["at"]
    path = str(fact.get("path"))
    added, removed = whole(fact.get("added")) or 0, whole(fact.get("removed")) or 0
    was, kind = str(fact.get("was") or path), str(fact.get("kind") or "")
    is_binary = fact.get("binary") is True
    return Entry(
        index, path, was, kind, added, removed, is_binary, str(fact.get("standing")), source, start, size
    )


def _drawn_with_page(
    items: Sequence[Item],
    entries: Sequence[Entry],
    seen: frozenset[str],
    lens: Lens,
    opened: int | None,
    address: str,
) -> Iterable[DiffFile]:
    lines, size = OPEN_LINES, OPEN_BYTES
    plain = replace(lens, is_whole=False, row=0)
    for entry in entries:
        if entry.index == opened:
            yield drawn(items, entry, lens, is_viewed=entry.path in seen, address=address)
            continue
        waiting = DiffFile(entry, entry.path in seen, view=lens.view)
        fits = entry.changed <= lines and entry.size <= size
        if entry.is_binary or waiting.is_viewed or entry.is_large or not fits:
            why = f"{entry.changed:,} changed lines, {entry.size // 1024:,} KB." if entry.is_large else ""
            loads_itself = not (entry.is_binary or waiting.is_viewed or entry.is_large)
            yield replace(waiting, waits=why or _binary(entry), loads_itself=loads_itself)
            continue
        one = drawn(items, entry, plain, is_viewed=waiting.is_viewed, address=address)
        lines, size = lines - entry.changed, size - entry.size
        yield one


def _binary(entry: Entry) -> str:
    return "A binary file: its bytes are not drawn." if entry.is_binary else ""


def drawn(items: Sequence[Item], entry: Entry, lens: Lens, *, is_viewed: bool, address: str = "") -> DiffFile:
    """One file as the lens shows it, at most ``reading.ROWS_DRAWN`` rows of it."""
    one = DiffFile(entry, is_viewed, view=lens.view)
    if entry.is_binary:
        return replace(one, waits=_binary(entry))
    if entry.size > LARGEST_FILE:
        return replace(one, waits="Too large to draw. Download the diff to read it.")
    diffs = diffs_of(items)
    if entry.source >= len(diffs):
        return replace(one, waits=GONE)
    show_all = f"{address}/diff/{entry.index}?{lens.query(whole=1, tab='diff')}#f{entry.index}"
    asked = reading.AskedFile(
        diffs[entry.source].sha256, entry.start, entry.size, entry.index, entry.path,
        _whole_file(items, entry.path), lens.view, lens.without_spacing, lens.is_whole, lens.row,
        "" if lens.is_whole else show_all,
    )  # fmt: skip
    try:
        found = reading.drawn_file(asked)
    except reading.Missing:
        return replace(one, waits=GONE)
    more = lens.row + found.shown if lens.row + found.shown < found.rows else 0
    if not found.rows:
        waits = (
            "Only white space changed."
            if lens.without_spacing and entry.changed
            else "No line of it changed."
        )
        return replace(one, waits=waits, notes=found.notes)
    return replace(one, html=found.html, notes=found.notes, rows=found.rows, first=lens.row, has_more=more)


def _whole_file(items: Sequence[Item], path: str) -> str:
    """The digest of the evidence that holds the whole file; empty where the delivery has none."""
    for item in of_kind(items, EvidenceKind.FILE):
        if path in (item.meta.get("path"), item.name) and item.size <= reading.WHOLE_FILE_LIMIT:
            return item.sha256
    return ""
