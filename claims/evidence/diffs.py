"""What a unified diff touches, read with bounds.

Promises: any bytes whatever give an answer, never an exception; time and memory are linear in
``limit`` bytes. A rename is judged by both of its names. It does not say whether the diff applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from claims.evidence.globs import matches_any
from claims.inputs import ScopeOfFiles

INSIDE, OUTSIDE, EXCLUDED = "inside", "outside", "excluded"
_WORST = {INSIDE: 0, OUTSIDE: 1, EXCLUDED: 2}
_HUNK = re.compile(rb"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{3}|["\\abfnrtv])')
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_OF_A_HUNK = (b" ", b"+", b"-", b"\\", b"", b"\r")
"""How a line inside a hunk begins; an empty one is context whose blank was lost on its way."""
LONGEST_PATH = 500
_KINDS = ((b"new file mode ", "new file"), (b"deleted file mode ", "deleted"), (b"old mode ", "mode changed"))
"""Lines of a header that say what happened to the file."""
HIDDEN = re.compile(
    rb"\xd8\x9c|\xe2\x80[\x8b\x8e\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4\xa6-\xaf]|\xf3\xa0[\x80\x81][\x80-\xbf]"
)
"""Characters in UTF-8 that turn or hide text: bidirectional controls, zero-width ones, tags."""


@dataclass(slots=True)
class FileChange:
    """One file of a diff. ``names`` holds the old and the new name where they differ.

    ``start`` and ``size`` say in bytes where the file stands in the diff, so that a page reads
    this one alone; ``source`` is the place of its diff among those of a delivery.
    """

    names: list[str] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    kind: str = ""
    start: int = 0
    size: int = 0
    source: int = 0

    @property
    def path(self) -> str:
        """The name it has after the change."""
        return self.names[-1] if self.names else "(no name)"


def changes_of(content: bytes) -> list[FileChange]:
    """Every file that a unified diff touches, in its order; lines that are no diff are passed over."""
    return list(_Reader().read(content))


class _Reader:
    """One pass over the lines; hunk headers say how many lines are content, so that no line of a
    file is taken for a header."""

    def __init__(self) -> None:
        self.current: FileChange | None = None
        self.old_left = self.new_left = 0
        self.is_git = False
        self.before: tuple[bytes, bytes] = (b"", b"")
        self.at = 0

    def read(self, content: bytes) -> Iterator[FileChange]:
        for line in content.split(b"\n"):
            if self.old_left > 0 or self.new_left > 0:
                if line[:1] in _OF_A_HUNK:
                    self._content(line)
                    self.before = (self.before[1], line)
                    self.at += len(line) + 1
                    continue
                yield from self._cut_short()
            if self._begins(line):
                yield from self._begin(self.at)
            self._header(line)
            self.at += len(line) + 1
        yield from self._end(len(content))

    def _begin(self, start: int) -> Iterator[FileChange]:
        yield from self._end(start)
        self.current = FileChange(start=start)

    def _end(self, at: int) -> Iterator[FileChange]:
        if self.current is not None:
            self.current.size = at - self.current.start
            yield self.current

    def _cut_short(self) -> Iterator[FileChange]:
        """The hunk has fewer lines than its header counted: names of a next file were taken for its lines."""
        self.old_left = self.new_left = 0
        old, new = self.before
        if old.startswith(b"--- ") and new.startswith(b"+++ "):
            yield from self._begin(self.at - len(old) - len(new) - 2)
            self._header(old)
            self._header(new)

    def _begins(self, line: bytes) -> bool:
        if line.startswith(b"diff --git "):
            self.is_git = True
            return True
        if not line.startswith(b"--- ") or self.current is None:
            return line.startswith(b"--- ")
        return not self.is_git or bool(self.current.added or self.current.removed)

    def _header(self, line: bytes) -> None:
        change = self.current
        if change is None:
            return
        hunk = _HUNK.match(line)
        if hunk:
            self.old_left = int(hunk[1]) if hunk[1] is not None else 1
            self.new_left = int(hunk[2]) if hunk[2] is not None else 1
        elif line.startswith(b"diff --git "):
            change.names = _names_of_git_line(line)
        elif line.startswith((b"--- ", b"+++ ")):
            self._name(change, _unquoted(line[4:]), has_prefix=True)
        elif line.startswith((b"rename from ", b"copy from ")):
            change.kind = "renamed" if line.startswith(b"rename") else "copied"
            self._name(change, _unquoted(line.split(b" from ", 1)[1]), has_prefix=False)
        elif line.startswith((b"rename to ", b"copy to ")):
            self._name(change, _unquoted(line.split(b" to ", 1)[1]), has_prefix=False)
        elif line.startswith((b"Binary files ", b"GIT binary patch")):
            change.is_binary = True
        else:
            change.kind = next((kind for start, kind in _KINDS if line.startswith(start)), change.kind)

    def _name(self, change: FileChange, name: str, *, has_prefix: bool) -> None:
        if name == "/dev/null":
            return
        bare = name[2:] if has_prefix and name[:2] in ("a/", "b/") else name
        if bare in change.names:
            change.names.remove(bare)
        change.names.append(bare[:LONGEST_PATH])

    def _content(self, line: bytes) -> None:
        change = self.current
        mark = line[:1]
        if change is None:
            return
        if mark == b"+":
            change.added += 1
            self.new_left -= 1
        elif mark == b"-":
            change.removed += 1
            self.old_left -= 1
        elif mark != b"\\":
            self.old_left -= 1
            self.new_left -= 1


def _names_of_git_line(line: bytes) -> list[str]:
    """The names in ``diff --git a/old b/new``: exact for one name, a guess for two with spaces.

    The lines after it (``---``, ``+++``, ``rename``) correct a guess; a changed mode alone and
    an empty file have only this line, and then both names are the same.
    """
    rest = line.removeprefix(b"diff --git ").rstrip(b"\r")
    half = len(rest) // 2
    if rest[half : half + 1] == b" " and rest[:half].replace(b"a/", b"b/", 1) == rest[half + 1 :]:
        return [_unquoted(rest[half + 1 :]).removeprefix("b/")[:LONGEST_PATH]]
    return []


def _unquoted(name: bytes) -> str:
    """A name as git writes it: C-quoted where it has unusual bytes, a tab before a timestamp."""
    name = name.rstrip(b"\r")
    if name.startswith(b'"'):
        name = _ESCAPE.sub(_one_byte, name.strip().strip(b'"'))
    else:
        name = name.partition(b"\t")[0]
    return name.decode("utf-8", "replace").replace("\0", "\ufffd")


def _one_byte(found: re.Match[bytes]) -> bytes:
    code = found[1]
    if len(code) == 3:
        return bytes([int(code, 8) & 0xFF])
    return _LETTERS.get(code, code)


def standing(scope: ScopeOfFiles, path: str) -> str:
    """Where a path stands: excluded wins; a scope that names no file leaves everything inside.

    A path that climbs out of the repository is outside of every scope.
    """
    if path.startswith("/") or ".." in path.split("/"):
        return OUTSIDE
    if matches_any(scope.excluded, path):
        return EXCLUDED
    if not scope.files or matches_any(scope.files, path):
        return INSIDE
    return OUTSIDE


def standing_of(scope: ScopeOfFiles, change: FileChange) -> str:
    """The worst standing of all names of a change: moving an excluded file away touches it."""
    found = [standing(scope, name) for name in change.names] or [OUTSIDE]
    return max(found, key=_WORST.__getitem__)
