"""What the server establishes about a delivery's evidence."""

from __future__ import annotations

from collections.abc import Sequence

from claims.canonical import Item
from claims.inputs import Input


def establish(specification: Input, items: Sequence[Item]) -> dict[str, object]:
    """The facts found in the bytes of ``items``."""
    return {}
