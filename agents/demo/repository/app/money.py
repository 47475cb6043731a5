"""Amounts as people read them."""

from __future__ import annotations


def format_amount(cents: int, currency: str) -> str:
    """An amount in the smallest unit of its currency, as text."""
    return f"{cents / 100} {currency}"


def total_of(amounts: list[int]) -> int:
    """The sum of amounts of one currency, in its smallest unit."""
    return sum(amounts)
