"""A unified diff as files, hunks and numbered lines. Pure; never fails on a malformed diff.

Counts and line numbers follow the hunk headers, so that a line that looks like a header inside a
hunk is content. What cannot be read is kept as a plain line, never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

FILES_LIMIT = 500
"""Files of a diff that are listed; the rest is counted and said."""

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)", re.DOTALL)
_OCTAL = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\", b"r": b"\r"}


@dataclass(slots=True)
class PatchedFile:
    """One file of a diff; ``lines`` are its raw lines, headers included."""

    index: int
    path: str = ""
    old_path: str = ""
    kind: str = ""
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    has_header: bool = False
    size: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def changed(self) -> int:
        """Changed lines."""
        return self.added + self.removed


@dataclass(frozen=True, slots=True)
class Patch:
    """The files of a diff, at most ``FILES_LIMIT``; ``count`` is how many it has. ``is_cut``: the text was."""

    files: tuple[PatchedFile, ...]
    count: int
    added: int
    removed: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a hunk: kind is ``add``, ``del`` or ``same``; numbers are None on the other side."""

    kind: str
    old: int | None
    new: int | None
    text: str
    has_no_end: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch of changes with its context; ``title`` is what git found to be around it.

    ``old`` and ``new`` are the lines at which it begins; ``gap`` lines stand between it and the hunk
    before, and ``can_show`` says whether the evidence holds them.
    """

    header: str
    title: str
    rows: tuple[Row, ...]
    old: int = 0
    new: int = 0
    gap: int = 0
    can_show: bool = False


def read_patch(text: str, *, is_cut: bool = False) -> Patch:
    """The files of a unified diff."""
    reader = _Reader()
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    for position, line in enumerate(lines):
        reader.take(line, lines[position + 1] if position + 1 < len(lines) else "")
    files = tuple(reader.kept)
    return Patch(files, reader.count, reader.added, reader.removed, is_cut)


class _Reader:
    """One pass over the lines, keeping the first ``FILES_LIMIT`` files and counting all."""

    def __init__(self) -> None:
        self.kept: list[PatchedFile] = []
        self.count = self.added = self.removed = 0
        self.file: PatchedFile | None = None
        self.old_left = self.new_left = 0

    def take(self, line: str, following: str) -> None:
        if line.startswith("diff --git "):
            self.old_left = self.new_left = 0  # no line of a hunk begins so, whatever its header counted
        if self.old_left > 0 or self.new_left > 0:
            self._content(line)
            return
        if line.startswith("diff --git ") or (
            line.startswith("--- ") and following.startswith("+++ ") and self._is_new()
        ):
            self._begin(line)
        if self.file is None:
            return
        self._keep(line)
        self._header(line)

    def _is_new(self) -> bool:
        """Whether a ``---`` line begins a file: it does where the one at hand has its lines already."""
        return self.file is None or self.file.has_header

    def _begin(self, line: str) -> None:
        self.file = PatchedFile(self.count)
        self.count += 1
        if len(self.kept) < FILES_LIMIT:
            self.kept.append(self.file)
        if line.startswith("diff --git "):
            self.file.path = self.file.old_path = _path_of_git(line)

    def _header(self, line: str) -> None:
        file = self.file
        if file is None:
            return
        found = _HUNK.match(line) if line.startswith("@@ ") else None
        if found:
            self.old_left, self.new_left = int(found[2] or 1), int(found[4] or 1)
        elif line.startswith("--- "):
            file.old_path = _path(line[4:], "a/") or file.old_path
        elif line.startswith("+++ "):
            file.path = _path(line[4:], "b/") or file.old_path
            file.has_header = True
        elif line.startswith("new file"):
            file.kind = "new file"
        elif line.startswith("deleted file"):
            file.kind = "deleted"
        elif line.startswith("old mode "):
            file.kind = "mode changed"
        elif line.startswith("rename from "):
            file.kind, file.old_path = "renamed", _unquoted(line[12:])
        elif line.startswith("rename to "):
            file.path = _unquoted(line[10:])
        elif line.startswith(("Binary files ", "GIT binary patch")):
            file.is_binary = True

    def _content(self, line: str) -> None:
        sign = line[:1]
        file = self.file
        if file is None:
            return
        if sign == "+":
            self.new_left -= 1
            file.added += 1
            self.added += 1
        elif sign == "-":
            self.old_left -= 1
            file.removed += 1
            self.removed += 1
        elif sign != "\\":
            self.old_left -= 1
            self.new_left -= 1
        self._keep(line)

    def _keep(self, line: str) -> None:
        if self.file is not None and self.count <= FILES_LIMIT:
            self.file.lines.append(line)
            self.file.size += len(line) + 1


def hunks_of(file: PatchedFile) -> list[Hunk]:
    """The hunks of one file, in its order."""
    found: list[Hunk] = []
    rows: list[Row] = []
    head: re.Match[str] | None = None
    old = new = old_left = new_left = 0
    for line in file.lines:
        if line.startswith("\\"):
            if rows:
                rows[-1] = replace(rows[-1], has_no_end=True)
            continue
        if old_left <= 0 and new_left <= 0:
            start = _HUNK.match(line) if line.startswith("@@ ") else None
            if start is None:
                continue
            found += _hunk(head, rows)
            head, rows = start, []
            old, new = int(start[1]), int(start[3])
            old_left, new_left = int(start[2] or 1), int(start[4] or 1)
            continue
        is_old, is_new = line[:1] != "+", line[:1] != "-"
        kind = "same" if is_old and is_new else "del" if is_old else "add"
        rows.append(Row(kind, old if is_old else None, new if is_new else None, line[1:]))
        old, old_left = old + is_old, old_left - is_old
        new, new_left = new + is_new, new_left - is_new
    return found + _hunk(head, rows)


def _hunk(head: re.Match[str] | None, rows: Sequence[Row]) -> list[Hunk]:
    """The hunk under a header; a side without lines is named by the line before it, as diff does."""
    if head is None:
        return []
    old_count, new_count = head[2] or "1", head[4] or "1"
    header = f"@@ −{head[1]},{old_count} +{head[3]},{new_count} @@"
    old, new = int(head[1]) + (int(old_count) == 0), int(head[3]) + (int(new_count) == 0)
    return [Hunk(header, head[5].strip(), tuple(rows), old, new)]


def _path(text: str, prefix: str) -> str:
    """A path of a ``---`` or ``+++`` line; nothing for /dev/null."""
    path = _unquoted(text.split("\t")[0].rstrip("\r"))
    return "" if path == "/dev/null" else path.removeprefix(prefix)


def _path_of_git(line: str) -> str:
    """The new path of a ``diff --git a/x b/x`` line, best known before ``+++`` is read."""
    rest = line[len("diff --git ") :].rstrip("\r")
    if rest.endswith('"'):
        return _unquoted(rest[rest.rfind(' "') + 1 :]).removeprefix("b/")
    half = (len(rest) - 1) // 2
    return (
        rest[half + 1 :].removeprefix("b/") if rest[2:half] == rest[half + 3 :] else rest.rsplit(" b/", 1)[-1]
    )


def _unquoted(text: str) -> str:
    """A path as git writes it when it has unusual bytes: in quotes, with octal escapes."""
    if not (len(text) > 1 and text.startswith('"') and text.endswith('"')):
        return text

    def byte(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPES.get(code, code)

    return _OCTAL.sub(byte, text[1:-1].encode()).decode("utf-8", "replace")
