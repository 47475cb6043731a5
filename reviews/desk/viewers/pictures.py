"""Screenshots: measured and drawn anew by the server, so that only pixels of an upload reach a page."""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image

from claims.evidence.pictures import UNREADABLE

PIXELS_LIMIT = 40_000_000
FORMATS = ("PNG", "JPEG", "WEBP")


class NotAPicture(ValueError):
    """The bytes are no picture that the server draws; the message says why."""


@dataclass(frozen=True, slots=True)
class Size:
    """In pixels, as the bytes say and not as anybody claims."""

    width: int
    height: int


def measured(content: bytes) -> Size:
    """The size of a picture, from its header alone.

    Raises ``NotAPicture``.
    """
    with _opened(content) as picture:
        return Size(*picture.size)


def redrawn(content: bytes) -> bytes:
    """The picture as a PNG of its pixels: no metadata, no trailing bytes, one frame.

    Raises ``NotAPicture``.
    """
    with _opened(content) as picture:
        try:
            pixels = picture.convert(
                "RGBA" if "A" in picture.getbands() or "transparency" in picture.info else "RGB"
            )
        except UNREADABLE as error:
            raise NotAPicture("The picture is damaged.") from error
    out = io.BytesIO()
    pixels.save(out, "PNG", compress_level=3)
    return out.getvalue()


def _opened(content: bytes) -> Image.Image:
    try:
        picture = Image.open(io.BytesIO(content), formats=FORMATS)
    except (*UNREADABLE, Image.DecompressionBombError) as error:
        raise NotAPicture("The bytes are not a PNG, JPEG or WebP picture.") from error
    width, height = picture.size
    if width * height > PIXELS_LIMIT:
        picture.close()
        raise NotAPicture(
            f"The picture has {width:,} × {height:,} pixels; the server draws up to {PIXELS_LIMIT:,}."
        )
    return picture
