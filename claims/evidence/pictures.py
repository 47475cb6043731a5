"""The real size of a picture, from its header alone, and whether its pixels can be drawn.

Promises: pixels are decoded only up to ``MOST_DECODED``, so a picture of 50,000 x 50,000 costs
nothing; any bytes give an answer.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from dataclasses import dataclass

from PIL import Image, UnidentifiedImageError

MOST_PIXELS = 40_000_000
MOST_DECODED = 20_000_000
"""Pixels of a picture that are decoded to see whether it is whole."""
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
UNREADABLE = (
    UnidentifiedImageError,
    OSError,
    ValueError,
    SyntaxError,
    struct.error,
    zlib.error,
    IndexError,
    KeyError,
    TypeError,
    EOFError,
    MemoryError,
)
"""What Pillow raises on bytes that are no whole picture."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Width and height in pixels. ``is_too_large``: nobody should decode it for display."""

    format: str
    width: int
    height: int

    @property
    def is_too_large(self) -> bool:
        return self.width * self.height > MOST_PIXELS


def picture_of(head: bytes) -> Picture | None:
    """The picture that begins with these bytes; None when it is none of ``FORMATS``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(head), formats=FORMATS) as opened:
                return Picture(opened.format or "", *opened.size)
    except Image.DecompressionBombError:
        return _png_header(head)
    except UNREADABLE:
        return None


def is_damaged(content: bytes, picture: Picture) -> bool:
    """Whether the pixels cannot be decoded to the end. One that is too large to try is not called damaged."""
    if picture.width * picture.height > MOST_DECODED:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
                opened.load()
    except UNREADABLE:
        return True
    return False


def _png_header(head: bytes) -> Picture | None:
    """A PNG that Pillow refuses for its size still says how large it is."""
    if head[:8] != b"\x89PNG\r\n\x1a\n" or len(head) < 24:
        return None
    width, height = struct.unpack(">II", head[16:24])
    return Picture("PNG", width, height)
