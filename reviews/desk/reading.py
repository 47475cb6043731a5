"""Evidence read by digest and remembered: bytes under a digest never change.

Promises: at most the limits below are read of one file; missing bytes are said, not guessed. The
memory is bounded by the number of files; it holds nothing of any person.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from django.utils.safestring import SafeString

from claims import evidence
from reviews.desk.viewers import ansi, code, patch, pictures, reports, texts

DIFF_LIMIT = 8 * 1024 * 1024
OUTPUT_LIMIT = 1024 * 1024
PICTURE_LIMIT = 24 * 1024 * 1024


class Missing(LookupError):
    """The evidence storage has no such bytes, or does not answer."""


def content_of(sha256: str, limit_bytes: int) -> tuple[bytes, bool]:
    """At most ``limit_bytes`` of the bytes, and whether there are more.

    Raises ``Missing``.
    """
    try:
        return evidence.read_bytes(sha256, limit_bytes)
    except OSError as error:
        raise Missing(sha256) from error


@lru_cache(maxsize=24)
def patch_of(sha256: str) -> patch.Patch:
    """The diff under a digest."""
    content, is_cut = content_of(sha256, DIFF_LIMIT)
    return patch.read_patch(texts.decoded(content), is_cut=is_cut)


@lru_cache(maxsize=256)
def drawn_file(sha256: str, index: int) -> SafeString:
    """The table rows of one file of a diff."""
    file = patch_of(sha256).files[index]
    return code.drawn(patch.hunks_of(file), file.path, index)


@lru_cache(maxsize=256)
def output_of(sha256: str) -> tuple[Sequence[SafeString], bool]:
    """The lines of a command's output, and whether there is more than ``OUTPUT_LIMIT``."""
    content, is_cut = content_of(sha256, OUTPUT_LIMIT)
    return tuple(ansi.lines_of(texts.decoded(content))), is_cut


@lru_cache(maxsize=256)
def report_of(sha256: str) -> reports.Report:
    """The test report under a digest."""
    content, is_cut = content_of(sha256, reports.BYTES_LIMIT)
    return reports.read_report(content, is_cut=is_cut)


@lru_cache(maxsize=1_024)
def size_of(sha256: str) -> pictures.Size:
    """The true size of a picture.

    Raises ``Missing`` or ``pictures.NotAPicture``.
    """
    return pictures.measured(_whole(sha256))


def picture_of(sha256: str) -> bytes:
    """The picture drawn anew as a PNG.

    Raises ``Missing`` or ``pictures.NotAPicture``.
    """
    return pictures.redrawn(_whole(sha256))


def _whole(sha256: str) -> bytes:
    content, is_cut = content_of(sha256, PICTURE_LIMIT)
    if is_cut:
        raise pictures.NotAPicture(f"The picture is larger than {PICTURE_LIMIT // 1024 // 1024} MB.")
    return content
