"""Evidence read by digest and remembered: bytes under a digest never change.

Promises: at most the limits below are read of one file; missing bytes are said, not guessed. The
memory is bounded by the number of files; it holds nothing of any person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.utils.safestring import SafeString

from claims import evidence
from claims.evidence.diffs import FileChange
from claims.evidence.diffs import changes_of as changes_in
from claims.evidence.facts import MOST_FILES
from reviews.desk.viewers import ansi, code, context, patch, pictures, reports, spacing, texts

DIFF_LIMIT = 16 * 1024 * 1024
"""Bytes of a diff whose files are listed: what the facts of a delivery read too."""
MOVED_LIMIT = 8 * 1024 * 1024
OUTPUT_LIMIT = 1024 * 1024
"""Bytes of an output that are read to count its lines."""
TAIL_BYTES = 64 * 1024
FOLD_OVER, FOLD_KEEPS = 120, 40
"""Lines of output shown whole; of more, the first and last ``FOLD_KEEPS``."""
SCAN_LIMIT = 64 * 1024 * 1024
"""Bytes of an output in which a line is looked up by its number."""
FIND_LIMIT = 4 * 1024 * 1024
HITS_LIMIT = 200
PICTURE_LIMIT = 24 * 1024 * 1024
HEAD_BYTES = 256 * 1024
WHOLE_FILE_LIMIT = 512 * 1024
ROWS_DRAWN = 400
CHUNK = 256 * 1024


class Missing(LookupError):
    """The evidence storage has no such bytes, or does not answer."""


def content_of(sha256: str, limit_bytes: int, start: int = 0) -> tuple[bytes, bool]:
    """At most ``limit_bytes`` of the bytes from ``start`` on, and whether there are more.

    Raises ``Missing``.
    """
    try:
        if not start:
            return evidence.read_bytes(sha256, limit_bytes)
        with evidence.open_bytes(sha256) as stream:
            stream.seek(start)
            head = stream.read(limit_bytes + 1)
    except OSError as error:
        raise Missing(sha256) from error
    return head[:limit_bytes], len(head) > limit_bytes


@lru_cache(maxsize=4)
def patch_of(sha256: str) -> patch.Patch:
    """The diff under a digest, as far as ``MOVED_LIMIT`` goes."""
    content, is_cut = content_of(sha256, MOVED_LIMIT)
    return patch.read_patch(texts.decoded(content), is_cut=is_cut)


@lru_cache(maxsize=16)
def changes_of(sha256: str) -> tuple[FileChange, ...]:
    """The files of a diff, at most ``MOST_FILES``, read from its bytes."""
    content, _ = content_of(sha256, DIFF_LIMIT)
    return tuple(changes_in(content)[:MOST_FILES])


@dataclass(frozen=True, slots=True)
class AskedFile:
    """One file of a diff as it is to be drawn: where its bytes are, and how it is looked at."""

    sha256: str
    start: int
    size: int
    index: int
    path: str
    whole_sha256: str = ""
    view: str = code.UNIFIED
    without_spacing: bool = False
    is_whole: bool = False
    row: int = 0
    address: str = ""
    """Where this file is drawn with all its lines."""


@dataclass(frozen=True, slots=True)
class DrawnFile:
    """Its table rows: ``shown`` of ``rows``, and what is to be said about them."""

    html: SafeString
    rows: int
    shown: int
    notes: tuple[str, ...] = ()


def hunks_at(sha256: str, start: int, size: int) -> list[patch.Hunk]:
    """The hunks of the file whose diff stands there.

    Raises ``Missing``.
    """
    content, _ = content_of(sha256, size, start)
    files = patch.read_patch(texts.decoded(content)).files
    return patch.hunks_of(files[0]) if files else []


@lru_cache(maxsize=96)
def drawn_file(asked: AskedFile) -> DrawnFile:
    """At most ``ROWS_DRAWN`` table rows of one file, from the row that is asked for.

    Raises ``Missing``.
    """
    hunks = hunks_at(asked.sha256, asked.start, asked.size)
    notes: list[str] = []
    if asked.without_spacing:
        hunks, hidden = spacing.without_spacing(hunks)
        if hidden:
            notes.append(
                f"{hidden:,} changed line{'' if hidden == 1 else 's'} of white space alone not shown as changed."
            )
    whole = _lines_of(asked.whole_sha256)
    if whole is not None and not context.agrees(hunks, whole):
        whole = None
        notes.append("The delivery carries a file of this name, but its lines are not the diff's: not used.")
    placed = context.placed(hunks, whole, show_all=asked.is_whole)
    there, rows = code.portion(placed, asked.row, ROWS_DRAWN)
    shown = sum(len(hunk.rows) for hunk in there)
    html = code.drawn(there, asked.path, asked.index, view=asked.view, show_all=asked.address)
    return DrawnFile(html, rows, shown, tuple(notes))


def _lines_of(sha256: str) -> list[str] | None:
    if not sha256:
        return None
    content, is_cut = content_of(sha256, WHOLE_FILE_LIMIT)
    if is_cut or texts.is_binary(content):
        return None
    lines = texts.decoded(content).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


@dataclass(frozen=True, slots=True)
class Ends:
    """The first and last lines of an output; ``count`` is None where its lines were not counted."""

    head: Sequence[SafeString]
    tail: Sequence[SafeString]
    count: int | None


@lru_cache(maxsize=256)
def ends_of(sha256: str, size: int) -> Ends:
    """The ends of an output of ``size`` bytes; all of it as the head where it is short.

    Raises ``Missing``.
    """
    content, is_cut = content_of(sha256, OUTPUT_LIMIT)
    count = content.count(b"\n") + (not content.endswith(b"\n")) if content else 0
    if not is_cut and count <= FOLD_OVER:
        return Ends(tuple(ansi.lines_of(texts.decoded(content))), (), count)
    head = b"\n".join(content.split(b"\n", FOLD_KEEPS)[:FOLD_KEEPS])
    end = content[-TAIL_BYTES:]
    if is_cut:
        end, _ = content_of(sha256, TAIL_BYTES, max(OUTPUT_LIMIT, size - TAIL_BYTES))
    tail = b"\n".join(end.removesuffix(b"\n").rsplit(b"\n", FOLD_KEEPS)[-FOLD_KEEPS:])
    return Ends(
        tuple(ansi.lines_of(texts.decoded(head))),
        tuple(ansi.lines_of(texts.decoded(tail))),
        None if is_cut else count,
    )


def lines_from(sha256: str, line: int, limit: int) -> tuple[list[SafeString], bool]:
    """``limit`` lines from number ``line`` on, and whether the output ends with them.

    Raises ``Missing``.
    """
    try:
        with evidence.open_bytes(sha256) as stream:
            before, read = 0, 0
            chunk = stream.read(CHUNK)
            while chunk and read < SCAN_LIMIT and before + chunk.count(b"\n") < line - 1:
                before, read = before + chunk.count(b"\n"), read + len(chunk)
                chunk = stream.read(CHUNK)
            if read >= SCAN_LIMIT:
                return [], False
            chunk += stream.read(OUTPUT_LIMIT - CHUNK)
            is_end = not stream.read(1)
    except OSError as error:
        raise Missing(sha256) from error
    parts = chunk.split(b"\n", line - 1 - before + limit)
    kept = parts[line - 1 - before :][:limit]
    is_end = is_end and len(parts) <= line - 1 - before + limit
    if is_end and kept and kept[-1] == b"":
        kept.pop()
    return ansi.lines_of(texts.decoded(b"\n".join(kept)) + "\n") if kept else [], is_end


def lines_with(sha256: str, text: str) -> tuple[list[tuple[int, SafeString]], bool]:
    """Lines that hold ``text`` in any case, one more than ``HITS_LIMIT`` at most; and whether all was searched.

    Raises ``Missing``.
    """
    content, is_cut = content_of(sha256, FIND_LIMIT)
    wanted = text.lower()
    hits: list[tuple[int, SafeString]] = []
    for number, line in enumerate(texts.decoded(content).split("\n"), 1):
        if wanted in ansi.plain(line).lower():
            hits += [(number, html) for html in ansi.lines_of(line)[:1]]
            if len(hits) > HITS_LIMIT:
                break
    return hits, not is_cut


@lru_cache(maxsize=256)
def report_of(sha256: str) -> reports.Report:
    """The test report under a digest."""
    content, is_cut = content_of(sha256, reports.BYTES_LIMIT)
    return reports.read_report(content, is_cut=is_cut)


@lru_cache(maxsize=1_024)
def size_of(sha256: str) -> pictures.Size:
    """The true size of a picture, from its first bytes.

    Raises ``Missing`` or ``pictures.NotAPicture``.
    """
    content, _ = content_of(sha256, HEAD_BYTES)
    return pictures.measured(content)


def picture_of(sha256: str) -> bytes:
    """The picture drawn anew as a PNG.

    Raises ``Missing`` or ``pictures.NotAPicture``.
    """
    content, is_cut = content_of(sha256, PICTURE_LIMIT)
    if is_cut:
        raise pictures.NotAPicture(f"The picture is larger than {PICTURE_LIMIT // 1024 // 1024} MB.")
    return pictures.redrawn(content)
