"""What the server establishes about a delivery's evidence, apart from anything the agent says.

Promises: any bytes whatever give facts and flags, never an exception; what is read is bounded
(``READ_BYTES`` an item, ``READ_BYTES_IN_ALL`` together), and what was cut off says so. An exit
code, a duration and test counts are facts only where a worker of this server ran the command
(``ran_here``) and says so of that item; from anywhere else they are the agent's claim.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from claims.canonical import Item
from claims.evidence import diffs, pictures, reports
from claims.evidence.storage import read_bytes
from claims.inputs import Input
from claims.vocabulary import EvidenceKind

READ_BYTES = 16 * 1024 * 1024
READ_BYTES_IN_ALL = 64 * 1024 * 1024
PICTURE_BYTES = 24 * 1024 * 1024
PICTURE_HEAD_BYTES = 256 * 1024
MOST_PIXELS_IN_ALL = 80_000_000
"""Pixels of one delivery that are decoded to see whether its pictures are whole, about a second's work."""
REPORT_BYTES = 8 * 1024 * 1024
MOST_FILES = 2_000
MOST_LISTED = 200
MOST_COMPARISONS = 200_000
"""Names compared with globs for one delivery, about two seconds' work."""

LONGEST_TEXT = 500
RAN_BY_WORKER = "worker"


def establish(specification: Input, items: Sequence[Item], *, ran_here: bool = False) -> dict[str, object]:
    """The facts found in the bytes of ``items``, as a JSON value.

    Keys: ``files``, ``diff``, ``scope``, ``commands``, ``tests``, ``screenshots``, ``flags``; a
    kind of evidence that is not there has no key. ``flags`` are ``{code, text}``.
    """
    return _Facts(specification, ran_here).of(items)


class _Facts:
    """Facts being gathered over one manifest."""

    def __init__(self, specification: Input, ran_here: bool) -> None:
        self.specification, self.ran_here = specification, ran_here
        self.left = READ_BYTES_IN_ALL
        self.changes: list[diffs.FileChange] = []
        self.pixels_left = MOST_PIXELS_IN_ALL
        self.diffs = 0
        self.hidden: list[str] = []
        self.commands: list[dict[str, object]] = []
        self.counts: reports.Counts | None = None
        self.screenshots: list[dict[str, object]] = []
        self.flags: list[dict[str, str]] = []

    def of(self, items: Sequence[Item]) -> dict[str, object]:
        readers = {
            EvidenceKind.DIFF: self._diff,
            EvidenceKind.COMMAND: self._command,
            EvidenceKind.TEST_REPORT: self._report,
            EvidenceKind.SCREENSHOT: self._screenshot,
        }
        for item in items:
            reader = readers.get(EvidenceKind(item.kind)) if item.kind in set(EvidenceKind) else None
            if reader is not None:
                reader(item)
        facts: dict[str, object] = self._of_diff() if self.diffs else {}
        if self.commands:
            facts["commands"] = self.commands[:MOST_LISTED]
        if self.counts is not None:
            facts["tests"] = self.counts.as_json()
            self._flag_tests(self.counts)
        if self.screenshots:
            facts["screenshots"] = self.screenshots[:MOST_LISTED]
        facts["flags"] = self.flags[:MOST_LISTED]
        return facts

    def flag(self, code: str, text: str) -> None:
        self.flags.append({"code": code, "text": text[:LONGEST_TEXT]})

    def _read(self, item: Item, limit_bytes: int) -> tuple[bytes, bool]:
        """The item's bytes within all bounds, and whether they are cut; flags what is amiss."""
        limit = min(limit_bytes, self.left)
        try:
            content, is_cut = read_bytes(item.sha256, limit)
        except (OSError, ValueError):
            self.flag("absent", f"The bytes of {item.name} are not kept.")
            return b"", False
        self.left -= len(content)
        if not is_cut and len(content) != item.size:
            self.flag(
                "size", f"{item.name} has {len(content)} bytes, not the {item.size} that its manifest says."
            )
        return content, is_cut

    def _diff(self, item: Item) -> None:
        content, is_cut = self._read(item, READ_BYTES)
        found = diffs.changes_of(content)
        for change in found:
            change.source = self.diffs
        self.changes += found
        self.diffs += 1
        self._find_hidden(content, found)
        if is_cut:
            self.flag(
                "truncated",
                f"{item.name} is larger than the server reads; what follows after {len(content)} bytes was not judged.",
            )

    def _find_hidden(self, content: bytes, changes: Sequence[diffs.FileChange]) -> None:
        """Name the files in whose part of the diff some character turns or hides the text."""
        places = [found.start() for found in islice(diffs.HIDDEN.finditer(content), MOST_LISTED)]
        for change in changes if places else ():
            at = bisect_left(places, change.start)
            if at < len(places) and places[at] < change.start + change.size:
                self.hidden.append(change.path)

    def _of_diff(self) -> dict[str, object]:
        judged = self._judged()
        order = {diffs.EXCLUDED: 0, diffs.OUTSIDE: 1, diffs.INSIDE: 2}
        judged.sort(key=lambda pair: order[pair[0]])
        by_standing = {word: [change.path for where, change in judged if where == word] for word in order}
        for word in (diffs.EXCLUDED, diffs.OUTSIDE):
            if by_standing[word]:
                self.flag(
                    word,
                    f"{_files(len(by_standing[word]))} {_SAYS[word]}: {', '.join(by_standing[word][:5])}",
                )
        if len(judged) > MOST_FILES:
            self.flag(
                "truncated",
                f"The diff touches {len(judged)} files; {MOST_FILES} are listed, excluded and outside ones first.",
            )
        if self.hidden:
            self.flag(
                "hidden-characters",
                f"{_files(len(self.hidden))} with characters that turn or hide text: {', '.join(self.hidden[:5])}",
            )
        if not judged:
            self.flag("empty-diff", "The diff changes nothing.")
        return {
            "files": [_file_json(where, change) for where, change in judged[:MOST_FILES]],
            "diff": {
                "added": sum(change.added for change in self.changes),
                "removed": sum(change.removed for change in self.changes),
                "files": len(judged),
                "binary": sum(change.is_binary for change in self.changes),
            },
            "scope": {word: by_standing[word][:MOST_LISTED] for word in (diffs.OUTSIDE, diffs.EXCLUDED)},
        }

    def _judged(self) -> list[tuple[str, diffs.FileChange]]:
        """Where each file stands. One that could not be judged counts as the worst it could be."""
        scope = self.specification.scope
        most = MOST_COMPARISONS // max(1, len(scope.files) + len(scope.excluded))
        judged = [(diffs.standing_of(scope, change), change) for change in self.changes[:most]]
        rest = self.changes[most:]
        if rest:
            worst = diffs.EXCLUDED if scope.excluded else diffs.OUTSIDE
            self.flag("truncated", f"{_files(len(rest))} could not be judged and count as {worst}.")
            judged += [(worst, change) for change in rest]
        return judged

    def _is_fact(self, item: Item) -> bool:
        return self.ran_here and item.meta.get("ranBy") == RAN_BY_WORKER

    def _command(self, item: Item) -> None:
        content, is_cut = self._read(item, READ_BYTES)
        is_fact = self._is_fact(item)
        exit_code = _whole(item.meta.get("exitCode")) if is_fact else None
        fact: dict[str, object] = {
            "name": item.name,
            "command": _text(item.meta.get("command")),
            "ranBy": RAN_BY_WORKER if is_fact else "agent",
            "exitCode": exit_code,
            "durationMs": _whole(item.meta.get("durationMs")) if is_fact else None,
            "size": item.size,
            "lines": content.count(b"\n") + (1 if content and not content.endswith(b"\n") else 0),
            "isCut": is_cut or (is_fact and item.meta.get("isCut") is True),
        }
        self.commands.append(fact)
        claimed = None if is_fact else _whole(item.meta.get("exitCode"))
        if exit_code not in (None, 0):
            self.flag("failed-command", f"{item.name} ended with {exit_code}.")
        if claimed not in (None, 0):
            self.flag("failed-command", f"{item.name} ended with {claimed}, by the agent's account.")
        if fact["isCut"]:
            self.flag("truncated", f"The output of {item.name} is cut off.")

    def _report(self, item: Item) -> None:
        content, is_cut = self._read(item, REPORT_BYTES)
        counts = None if is_cut else reports.counts_of(content)
        if counts is None:
            self.flag("unreadable", f"{item.name} is no test report that the server can read.")
        elif self._is_fact(item):
            self.counts = self.counts.plus(counts) if self.counts else counts
        else:
            self._flag_claimed(item, counts)

    def _flag_claimed(self, item: Item, counts: reports.Counts) -> None:
        """A report that nobody here made is no fact; what speaks against it is said all the same."""
        if counts.executed == 0:
            self.flag("no-tests", f"No test was executed, by the agent's own report {item.name}.")
        if counts.failed:
            self.flag(
                "claimed-failures",
                f"{counts.failed} of {counts.executed} tests failed, by the agent's own report {item.name}.",
            )

    def _flag_tests(self, counts: reports.Counts) -> None:
        if counts.executed == 0:
            self.flag("no-tests", "No test was executed.")
        if counts.failed:
            self.flag("failed-tests", f"{counts.failed} of {counts.executed} tests failed.")

    def _screenshot(self, item: Item) -> None:
        content, is_cut = self._read(item, PICTURE_BYTES)
        picture = pictures.picture_of(content[:PICTURE_HEAD_BYTES])
        declared = self._declared_width(item)
        fact: dict[str, object] = {
            "name": item.name,
            "page": _text(item.meta.get("page")),
            "declaredWidth": declared,
        }
        if picture is None:
            self.flag("unreadable", f"{item.name} is no picture that the server can read.")
            self.screenshots.append({**fact, "width": None, "height": None, "format": None, "matches": False})
            return
        matches = declared is None or declared == picture.width
        fact |= {
            "width": picture.width,
            "height": picture.height,
            "format": picture.format,
            "matches": matches,
        }
        if is_cut or self._is_damaged(content, picture):
            fact["isDamaged"] = True
            self.flag("damaged", f"{item.name} is damaged or too large: its pixels cannot be drawn.")
        self.screenshots.append(fact)
        if not matches:
            narrower = picture.width < (declared or 0)
            than = "narrower than" if narrower else "wider than"
            self.flag(
                "width", f"{item.name} is {picture.width} px wide, {than} the {declared} px that it says."
            )
        if picture.is_too_large:
            self.flag(
                "too-large", f"{item.name} has {picture.width} x {picture.height} pixels; it is not shown."
            )

    def _is_damaged(self, content: bytes, picture: pictures.Picture) -> bool:
        """Whether it cannot be decoded; of many large pictures only the first are tried."""
        self.pixels_left -= picture.width * picture.height
        return self.pixels_left > 0 and pictures.is_damaged(content, picture)

    def _declared_width(self, item: Item) -> int | None:
        """The width the task asked for under this name; else what the item itself says."""
        for requirement in self.specification.evidence:
            if (
                requirement.kind == EvidenceKind.SCREENSHOT
                and requirement.name
                and item.name in requirement.item_names()
            ):
                tail = item.name.removeprefix(f"{requirement.name}-")
                return int(tail) if requirement.widths and tail.isdigit() else _whole(item.meta.get("width"))
        return _whole(item.meta.get("width"))


_SAYS = {diffs.EXCLUDED: "excluded by the task", diffs.OUTSIDE: "outside the task's scope"}


def _files(number: int) -> str:
    return f"{number} file{'' if number == 1 else 's'}"


def _file_json(where: str, change: diffs.FileChange) -> dict[str, object]:
    body: dict[str, object] = {
        "path": change.path,
        "added": change.added,
        "removed": change.removed,
        "standing": where,
        "at": [change.source, change.start, change.size],
    }
    if change.kind:
        body["kind"] = change.kind
    if len(change.names) > 1:
        body["was"] = change.names[0]
    if change.is_binary:
        body["binary"] = True
    return body


def _whole(value: object) -> int | None:
    """A whole number that JSON carries exactly; anything else is nothing."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**53:
        return None
    return value


def _text(value: Any) -> str:
    """A short text for display; a structure becomes its JSON."""
    if value is None:
        return ""
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, default=str)
        if isinstance(value, Mapping | list)
        else str(value)
    )
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:LONGEST_TEXT]
