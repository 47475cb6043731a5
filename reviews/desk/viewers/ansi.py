"""Terminal output as lines of coloured, escaped text. Pure.

Colours (SGR) become the classes ag, ar, ay, ab, aw and ad; every other control sequence, window
titles and links (OSC) included, is dropped. CRLF is a line end; a lone CR overwrites its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from reviews.desk.viewers.texts import cut, visible

_OSC = re.compile(
    r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[\x90\x98\x9d-\x9f][^\x07\x9c\x1b]*(?:\x07|\x9c|\x1b\\)?"
)
_C1 = re.compile(r"[\x80-\x9f]")
_CSI = re.compile(r"\x1b\[([0-9;:]*)([ -/]*[@-~])")
_OTHER = re.compile(r"\x1b(?:[ -/]+[0-~]|[0-Z\\^_a-~])?")

_COLOURS = {
    30: "ad", 31: "ar", 32: "ag", 33: "ay", 34: "ab", 35: "ab", 36: "ab", 37: "",
    90: "ad", 91: "ar", 92: "ag", 93: "ay", 94: "ab", 95: "ab", 96: "ab", 97: "aw",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Style:
    """What a run of text looks like."""

    colour: str = ""
    bold: bool = False
    dim: bool = False

    @property
    def css(self) -> str:
        """Class names, empty for plain text."""
        return " ".join(
            name for name in (self.colour, "aw" if self.bold else "", "ad" if self.dim else "") if name
        )


def _overwritten(line: str) -> str:
    """What a terminal would show of a line that a lone CR goes back in."""
    shown = line.rstrip("\r")
    return shown[shown.rfind("\r") + 1 :]


def _keep_colours(text: str) -> str:
    text = _OSC.sub("", text.replace("\r\n", "\n"))
    text = _CSI.sub(lambda found: found.group() if found.group(2) == "m" else "", text)
    lines = text.split("\n")
    return "\n".join(_overwritten(line) for line in lines) if "\r" in text else text


def plain(line: str) -> str:
    """A line without control sequences, as one searches in it."""
    if "\x1b" not in line and not _C1.search(line):
        return line
    return _OTHER.sub("", _CSI.sub("", _OSC.sub("", line)))


def lines_of(text: str) -> list[SafeString]:
    """Each line of the output, escaped and coloured; the last empty one is left out."""
    lines = _keep_colours(text).split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    style, drawn = Style(), []
    for line in lines:
        html, style = _line(line, style)
        drawn.append(html)
    return drawn


def _line(line: str, style: Style) -> tuple[SafeString, Style]:
    shown, rest = cut(line)
    pieces: list[SafeString] = []
    at = 0
    for found in _CSI.finditer(shown):
        pieces.append(_piece(shown[at : found.start()], style))
        style = _changed(style, found.group(1))
        at = found.end()
    pieces.append(_piece(shown[at:], style))
    if rest:
        pieces.append(format_html('<span class="ad"> … {} more characters</span>', f"{rest:,}"))
    return format_html_join("", "{}", ((piece,) for piece in pieces)), style


def _piece(text: str, style: Style) -> SafeString:
    html = visible(_OTHER.sub("", text))
    return format_html('<span class="{}">{}</span>', style.css, html) if style.css and html else html


def _changed(style: Style, parameters: str) -> Style:
    codes = iter(
        [int(part) if part.isdigit() and len(part) < 5 else 0 for part in re.split("[;:]", parameters)] or [0]
    )
    for code in codes:
        style = _one(style, code, codes)
    return style


def _one(style: Style, code: int, rest: Iterable[int]) -> Style:
    if code == 0:
        return Style()
    if code in (1, 2, 22):
        return Style(style.colour, bold=code == 1, dim=code == 2)
    if code in (38, 48):
        _skip_extended(rest)
        return style
    if code == 39:
        return Style("", style.bold, style.dim)
    if code in _COLOURS:
        return Style(_COLOURS[code], style.bold, style.dim)
    return style


def _skip_extended(rest: Iterable[int]) -> None:
    """A 256-colour or true colour is read over: the page has its own few colours."""
    values = iter(rest)
    for _ in range({5: 1, 2: 3}.get(next(values, 0), 0)):
        next(values, 0)
