"""Rounds of floor, product, floor; medians and spread; the table at the end.

A round whose two floors differ by more than a tenth is thrown away: the machine was not the same
machine at its two ends. A figure whose run was not correct is void.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

MOST_DIFFERENCE = 0.10


@dataclass(frozen=True)
class Slice:
    """One measured stretch: `rate` per second, and what was wrong with it."""

    rate: float
    flaws: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Goal:
    """A bound on a figure; `at_most` for costs. `unit` is empty for a ratio."""

    first_step: float
    goal: float
    at_most: bool = False
    unit: str = ""

    def reached(self, measured: float) -> str:
        """Which of the two bounds the figure keeps."""
        if self._keeps(measured, self.goal):
            return "goal"
        return "first step" if self._keeps(measured, self.first_step) else "no"

    def _keeps(self, measured: float, bound: float) -> bool:
        return measured <= bound if self.at_most else measured >= bound


@dataclass
class Figure:
    """One line of the table."""

    name: str
    goal: Goal
    measured: str
    floor: str
    ratio: float | None
    spread: str = ""
    flaws: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def cells(self) -> list[str]:
        """The line as words."""
        unit = f" {self.goal.unit}" if self.goal.unit else ""
        ratio = "–" if self.ratio is None else f"{self.ratio:.2f}{unit}"
        reached = self.goal.reached(self.ratio) if self.ratio is not None else "nothing kept"
        sign = "≤" if self.goal.at_most else "≥"
        return [
            self.name,
            self.measured,
            self.floor,
            f"{ratio} {self.spread}".strip(),
            f"{sign} {self.goal.first_step:g}",
            f"{sign} {self.goal.goal:g}",
            "VOID" if self.flaws else reached,
        ]


def compare(
    name: str,
    goal: Goal,
    rounds: int,
    floor: Callable[[], Slice],
    product: Callable[[], Slice],
    say: Callable[[str], None],
) -> Figure:
    """Measure `product` between two floors, `rounds` times; the ratio is of the product to both floors' mean."""
    kept: list[tuple[float, float, float]] = []
    flaws: list[str] = []
    for number in range(1, rounds + 1):
        before, made, after = floor(), product(), floor()
        flaws += [flaw for part in (before, made, after) for flaw in part.flaws]
        mean = (before.rate + after.rate) / 2
        difference = abs(before.rate - after.rate) / min(before.rate, after.rate)
        is_kept = difference <= MOST_DIFFERENCE
        say(
            f"  {name}, round {number}: floor {before.rate:,.0f}, product {made.rate:,.0f}, floor {after.rate:,.0f}"
            f" per s; ratio {made.rate / mean:.2f}{'; ' + made.note if made.note else ''}"
            f"{'' if is_kept else f'; thrown away, the floors differ by {difference:.0%}'}"
        )
        if is_kept:
            kept.append((made.rate, mean, made.rate / mean))
    if not kept:
        return Figure(name, goal, "–", "–", None, flaws=flaws, remarks=["Every round was thrown away."])
    rates, floors, ratios = zip(*kept, strict=True)
    figure = Figure(
        name, goal, f"{median(rates):,.0f}/s", f"{median(floors):,.0f}/s", median(ratios), flaws=flaws
    )
    figure.spread = f"({min(ratios):.2f}–{max(ratios):.2f}, {len(kept)} of {rounds} rounds)"
    return figure


HEAD = ["figure", "measured", "floor", "ratio", "first step", "goal", "reached"]


def table(figures: Sequence[Figure]) -> str:
    """All figures as a Markdown table, and below it what makes any of them void."""
    rows = [HEAD, *(figure.cells() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for figure in figures:
        lines += [f"{figure.name}: {remark}" for remark in figure.remarks]
        lines += [f"{figure.name} is void: {flaw}" for flaw in sorted(set(figure.flaws))]
    return "\n".join(lines)
