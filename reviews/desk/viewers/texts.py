"""Text of strangers on a page: bounded, escaped, with nothing hidden in it. Pure."""

from __future__ import annotations

import re
import unicodedata

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

LINE_LIMIT = 2_000
"""Characters of a line that are shown."""

_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Controls, bidirectional marks, zero-width and filler characters, variation selectors and tags."""


def has_hidden(text: str) -> bool:
    """Whether some character would change how the text is read without being seen."""
    return _HIDDEN.search(text) is not None


def visible(text: str) -> SafeString:
    """The text escaped, each hidden character drawn as its code point."""
    if _HIDDEN.search(text) is None:
        return escape(text)
    pieces, at = [], 0
    for found in _HIDDEN.finditer(text):
        pieces.append(escape(text[at : found.start()]))
        pieces.append(_named(found.group()))
        at = found.end()
    pieces.append(escape(text[at:]))
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def spelled(text: str) -> str:
    """The same as plain text, for places that take no markup: hidden characters as their code points."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


def _named(character: str) -> SafeString:
    name = unicodedata.name(character, "control character").lower()
    return format_html('<span class="inv" title="{}">U+{}</span>', name, f"{ord(character):04X}")


def cut(line: str) -> tuple[str, int]:
    """The start of a line, and how many characters are not shown."""
    return line[:LINE_LIMIT], max(0, len(line) - LINE_LIMIT)


def decoded(content: bytes) -> str:
    """UTF-8 text; what is none becomes the replacement character."""
    return content.decode("utf-8", "replace")


def is_binary(content: bytes) -> bool:
    """Whether the bytes are not text: a NUL in the first 8,000, as git decides."""
    return b"\0" in content[:8_000]
