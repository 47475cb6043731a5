"""Cuts a list into pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def page_count(total: int, size: int) -> int:
    """How many pages a list of that many items has; at least one."""
    return total // size + 1


def nearest_page(page: int, pages: int) -> int:
    """The page itself, or the nearest one that exists."""
    return min(max(page, 1), pages)


def items_on(items: Sequence[Item], page: int, size: int) -> Sequence[Item]:
    """The items of one page; pages count from 1."""
    return items[(page - 1) * size : page * size]
