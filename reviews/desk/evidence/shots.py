"""Screenshots page by page: narrow beside wide, each beside the one of another round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claims.canonical import Item
from claims.vocabulary import EvidenceKind
from reviews.desk import reading
from reviews.desk.evidence.kinds import GONE, named, of_kind, whole
from reviews.desk.viewers.pictures import NotAPicture, Size

PAIRED = (390, 1280)
"""The widths at which each page is photographed, in CSS pixels."""
SHOTS_LISTED = 60
DAMAGED = "The picture is damaged or too large: its pixels cannot be drawn. Download it to see what it is."


@dataclass(frozen=True, slots=True)
class Shot:
    """One screenshot; ``warning`` is what is amiss with it, ``before`` the one of the other round."""

    item: Item
    claimed: int | None
    width: int | None
    height: int | None
    warning: str = ""
    before: Item | None = None
    before_size: Size | None = None

    @property
    def is_same(self) -> bool:
        """Whether the other round has the very same bytes."""
        return self.before is not None and self.before.sha256 == self.item.sha256

    @property
    def nominal(self) -> int | None:
        """The width it is filed under."""
        return self.claimed or self.width


@dataclass(frozen=True, slots=True)
class Page:
    """The screenshots of one page side by side, narrow first; ``lacks`` are widths it was not taken at."""

    name: str
    address: str
    shots: tuple[Shot, ...]
    lacks: tuple[int, ...] = ()


def pages_of(
    items: Sequence[Item], facts: Mapping[str, Any], before: Sequence[Item] | None = None
) -> list[Page]:
    """The screenshots by page, at most ``SHOTS_LISTED`` of them."""
    known = {fact.get("name"): fact for fact in facts.get("screenshots") or []}
    grouped: dict[tuple[str, str], list[Shot]] = {}
    for item in of_kind(items, EvidenceKind.SCREENSHOT)[:SHOTS_LISTED]:
        shot = _shot(item, known.get(item.name) or {}, named(before, item))
        name = item.name.removesuffix(f"-{shot.claimed}") if shot.claimed else item.name
        grouped.setdefault((name, str(item.meta.get("page") or "")[:500]), []).append(shot)
    return [_page(name, address, shots) for (name, address), shots in grouped.items()]


def beyond(items: Sequence[Item]) -> int:
    """How many screenshots are not drawn."""
    return max(0, len(of_kind(items, EvidenceKind.SCREENSHOT)) - SHOTS_LISTED)


def _page(name: str, address: str, shots: Sequence[Shot]) -> Page:
    widths = {shot.nominal for shot in shots}
    lacks = tuple(width for width in PAIRED if width not in widths) if widths & set(PAIRED) else ()
    return Page(name, address, tuple(sorted(shots, key=lambda shot: shot.nominal or 0)), lacks)


def _shot(item: Item, fact: Mapping[str, Any], before: Item | None) -> Shot:
    claimed = whole(fact.get("declaredWidth")) or whole(item.meta.get("width"))
    try:
        size = reading.size_of(item.sha256)
    except reading.Missing:
        return Shot(item, claimed, None, None, GONE)
    except NotAPicture as error:
        return Shot(item, claimed, None, None, str(error))
    if fact.get("isDamaged"):
        return Shot(item, claimed, None, None, DAMAGED)
    warning = ""
    if claimed is not None and claimed != size.width:
        warning = f"It is {size.width} px wide, not the {claimed} px that it claims."
    earlier = _earlier(before)
    return Shot(item, claimed, size.width, size.height, warning, before if earlier else None, earlier)


def _earlier(before: Item | None) -> Size | None:
    """The size of the other round's picture, where it can be drawn."""
    if before is None:
        return None
    try:
        return reading.size_of(before.sha256)
    except (reading.Missing, NotAPicture):
        return None
