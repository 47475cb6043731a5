"""Reads customers, invoices and plans from data/."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from app.money import total_of

DATA = Path(__file__).resolve().parent.parent / "data"


@dataclass(frozen=True)
class Line:
    """One line of an invoice."""

    text: str
    quantity: int
    cents: int


@dataclass(frozen=True)
class Invoice:
    """An invoice with its lines; amounts in the smallest unit of the currency."""

    number: str
    date: str
    status: str
    currency: str
    lines: tuple[Line, ...]

    @property
    def total_cents(self) -> int:
        return total_of([line.cents for line in self.lines])

    @property
    def status_text(self) -> str:
        return self.status.capitalize()


@dataclass(frozen=True)
class Customer:
    """A customer, with the plan and all invoices, the newest first."""

    slug: str
    name: str
    plan: str
    renews: str
    seats_used: int
    seats: int
    settings: dict[str, str]
    invoices: tuple[Invoice, ...] = field(default=())

    @property
    def invoice_count(self) -> int:
        return len(self.invoices)


@cache
def load(name: str) -> Any:
    """The content of one file of data/."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def invoice_from(row: dict[str, Any]) -> Invoice:
    """An invoice from its row in customers.json."""
    lines = tuple(Line(text, quantity, cents) for text, quantity, cents in row["lines"])
    return Invoice(row["number"], row["date"], row["status"], row["currency"], lines)


def get_cust(slug: str) -> Customer | None:
    """The customer of that name in addresses, or None."""
    for row in load("customers.json"):
        if row["slug"] == slug:
            invoices = sorted(
                map(invoice_from, row["invoices"]), key=lambda invoice: invoice.date, reverse=True
            )
            return Customer(**{**row, "invoices": tuple(invoices)})
    return None


def plans() -> list[dict[str, Any]]:
    """The plans on offer, the smallest first."""
    return list(load("plans.json"))


def plan_named(name: str) -> dict[str, Any]:
    """One plan by its name."""
    return next(plan for plan in plans() if plan["name"] == name)
