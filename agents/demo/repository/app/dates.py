"""Dates as people read them."""

from __future__ import annotations

from datetime import date


def format_date(iso: str) -> str:
    """An ISO date (2026-03-05) as text."""
    day = date.fromisoformat(iso)
    return f"{day:%m/%d/%Y}"
