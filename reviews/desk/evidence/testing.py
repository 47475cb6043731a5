"""Test reports: what ran, and what changed since another round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claims.canonical import Item
from claims.vocabulary import EvidenceKind
from reviews.desk import reading
from reviews.desk.evidence.kinds import GONE, of_kind
from reviews.desk.viewers.reports import Case, Report, compared

CASES_SHOWN = 100
CHANGES = ("newly failing", "fixed", "newly skipped", "new", "gone")
"""What a test may have become since the other round, worst first."""


@dataclass(frozen=True, slots=True)
class Tests:
    """The test reports together. ``is_fact``: read from a run of a worker of this server."""

    report: Report
    is_fact: bool
    items: tuple[Item, ...]
    has_before: bool = False
    shown: tuple[Case, ...] = field(default=())
    more: int = 0
    show: str = ""

    @property
    def passed(self) -> int:
        return self.report.count("passed")

    @property
    def failed(self) -> int:
        return self.report.count("failed")

    @property
    def skipped(self) -> int:
        return self.report.count("skipped")

    @property
    def fixed(self) -> int:
        return self.report.changed("fixed")

    @property
    def fresh(self) -> int:
        return self.report.changed("new")

    @property
    def broken(self) -> int:
        return self.report.changed("newly failing")

    @property
    def gone(self) -> int:
        return self.report.changed("gone")

    @property
    def is_empty(self) -> bool:
        """Whether no test was executed: never a pass."""
        return self.report.executed == 0

    @property
    def filters(self) -> list[tuple[str, str, int]]:
        """The lists one may look at: slug, word, count; those without a test are left out."""
        notable = sum(_is_wanted(case, "") for case in self.report.cases)
        first = ("", "Changed", notable) if self.has_before else ("failed", "Failed", self.failed)
        changed = [
            (change.replace(" ", "-"), change.capitalize(), self.report.changed(change)) for change in CHANGES
        ]
        rest = [("failed", "Failed", self.failed)] if self.has_before else []
        rest += [("skipped", "Skipped", self.skipped), ("flaky", "Flaky", self.report.flaky)]
        offered = [first, *(changed if self.has_before else ()), *rest]
        return [*(one for one in offered if one[2]), ("all", "All", len(self.report.cases))]


def tests_of(
    items: Sequence[Item], facts: Mapping[str, Any], before: Sequence[Item] | None, show: str
) -> Tests | None:
    """The test reports, compared with those of another round; None where the delivery has none."""
    mine = of_kind(items, EvidenceKind.TEST_REPORT)
    if not mine:
        return None
    earlier = of_kind(before, EvidenceKind.TEST_REPORT) if before is not None else []
    report = joined(mine)
    cases = compared(report.cases, joined(earlier).cases if earlier else None)
    report = Report(cases, report.flaw)
    if not any(_is_wanted(case, show) for case in cases):
        show = "all"
    shown = [case for case in cases if _is_wanted(case, show)]
    return Tests(
        report,
        is_fact=isinstance(facts.get("tests"), dict),
        items=tuple(mine),
        has_before=bool(earlier),
        shown=tuple(shown[:CASES_SHOWN]),
        more=max(0, len(shown) - CASES_SHOWN),
        show=show,
    )


def _is_wanted(case: Case, show: str) -> bool:
    if show == "all":
        return True
    if show in ("failed", "skipped"):
        return case.result == show
    if show == "flaky":
        return case.is_flaky
    if show.replace("-", " ") in CHANGES:
        return case.change == show.replace("-", " ")
    return bool(case.change) or case.result == "failed"


def joined(items: Sequence[Item]) -> Report:
    """All cases of some reports together."""
    cases: list[Case] = []
    flaws: list[str] = []
    for item in items:
        try:
            report = reading.report_of(item.sha256)
        except reading.Missing:
            flaws.append(GONE)
            continue
        cases += report.cases
        if report.flaw:
            flaws.append(report.flaw)
    return Report(tuple(cases), " ".join(flaws))
