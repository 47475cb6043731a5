"""The real size of a picture, from its header alone.

Promises: pixels are never decoded, so a picture of 50,000 x 50,000 costs nothing; any bytes give
an answer.
"""

from __future__ import annotations

import io
import struct
import warnings
from dataclasses import dataclass

from PIL import Image, UnidentifiedImageError

MOST_PIXELS = 40_000_000
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


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
    except (
        UnidentifiedImageError,
        OSError,
        ValueError,
        SyntaxError,
        struct.error,
        IndexError,
        KeyError,
        TypeError,
        EOFError,
        MemoryError,
    ):
        return None


def _png_header(head: bytes) -> Picture | None:
    """A PNG that Pillow refuses for its size still says how large it is."""
    if head[:8] != b"\x89PNG\r\n\x1a\n" or len(head) < 24:
        return None
    width, height = struct.unpack(">II", head[16:24])
    return Picture("PNG", width, height)
