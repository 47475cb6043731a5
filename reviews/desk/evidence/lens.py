"""How a person looks at the evidence: what the address asks for, read within bounds.

Promises: any query string gives a lens; what it says is in every link of the evidence, so that an
address shown to another person shows the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from reviews.desk.viewers.code import UNIFIED, VIEWS

MODES = ("side", "single", "before", "swipe", "blink", "overlay")
"""How screenshots are shown: both widths, one, beside the round before, one over the other, in turns, at once."""
ZOOMS = ("fit", "100", "200")
"""How large: as wide as there is room, or that many per cent of their own pixels."""
WIDTHS = ("390", "1280")
MOST = 10_000_000
"""The largest line, row or page that an address may ask for."""


@dataclass(frozen=True, slots=True)
class Lens:
    """What is asked for; the defaults are what a plain address shows."""

    view: str = UNIFIED
    without_spacing: bool = False
    mode: str = "side"
    width: str = WIDTHS[0]
    zoom: str = ZOOMS[0]
    tests: str = ""
    base: int = 0
    path: str = ""
    page: int = 1
    is_whole: bool = False
    row: int = 0
    line: int = 0
    find: str = ""

    def query(self, **changes: object) -> str:
        """The query string that asks for the same, but for ``changes``; empty ones are left out."""
        kept = {
            "view": self.view if self.view != UNIFIED else "",
            "w": "1" if self.without_spacing else "",
            "mode": self.mode if self.mode != "side" else "",
            "width": self.width if self.width != WIDTHS[0] else "",
            "zoom": self.zoom if self.zoom != ZOOMS[0] else "",
            "base": str(self.base or ""),
            "path": self.path,
            **{name: str(value or "") for name, value in changes.items()},
        }
        return urlencode({name: value for name, value in kept.items() if value})


def lens_of(asked: Mapping[str, str], preferred_view: str = "") -> Lens:
    """The lens of a query string; ``preferred_view`` stands where it names none."""
    view = asked.get("view", "") or preferred_view
    mode, width, zoom = asked.get("mode", ""), asked.get("width", ""), asked.get("zoom", "")
    return Lens(
        view=view if view in VIEWS else UNIFIED,
        without_spacing=asked.get("w") == "1",
        mode=mode if mode in MODES else "side",
        width=width if width in WIDTHS else WIDTHS[0],
        zoom=zoom if zoom in ZOOMS else ZOOMS[0],
        tests=asked.get("tests", "")[:20],
        base=_number(asked.get("base", "")),
        path=asked.get("path", "").replace("\0", "")[:200],
        page=max(1, _number(asked.get("page", ""))),
        is_whole=asked.get("whole") == "1",
        row=_number(asked.get("row", "")),
        line=_number(asked.get("line", "")),
        find=asked.get("find", "").replace("\0", "")[:200],
    )


def _number(text: str) -> int:
    return min(int(text), MOST) if text.isascii() and text.isdigit() and len(text) < 12 else 0
