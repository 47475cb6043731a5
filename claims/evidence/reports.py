"""Counts of a JUnit test report, read with bounds.

Promises: entities are never expanded (defusedxml), any bytes give an answer. Sums what the test
suites hold, case by case; the totals that a report writes about itself are not believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring
from junitparser import Error, Failure, JUnitXml, JUnitXmlError, Skipped, TestSuite

LONGEST_NAME = 200
MOST_FAILED_NAMES = 50


@dataclass(slots=True)
class Counts:
    """How many tests a report holds. ``executed`` leaves out those that were skipped."""

    executed: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failed_names: tuple[str, ...] = ()

    def plus(self, other: Counts) -> Counts:
        """The sum over two reports."""
        return Counts(
            self.executed + other.executed,
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            (self.failed_names + other.failed_names)[:MOST_FAILED_NAMES],
        )

    def as_json(self) -> dict[str, object]:
        """Under the names of a delivery's facts."""
        return {
            "executed": self.executed,
            "passed": self.passed,
            "failed": self.failed,
            "skipped": self.skipped,
            "failedNames": list(self.failed_names),
        }


def counts_of(content: bytes) -> Counts | None:
    """The counts of a JUnit report; None when the bytes are not one."""
    try:
        read: Any = JUnitXml.fromroot(fromstring(content))  # type: ignore[arg-type]  # the stubs know lxml alone
        suites = [read] if isinstance(read, TestSuite) else list(read)
        counts = Counts()
        for suite in suites:
            counts = counts.plus(_of_suite(suite))
    except (
        ParseError,
        DefusedXmlException,
        JUnitXmlError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        RecursionError,
    ):
        return None
    return counts


def _of_suite(suite: TestSuite) -> Counts:
    counts, names = Counts(), []
    for case in suite:
        results = case.result if isinstance(case.result, list) else [case.result]
        if any(isinstance(result, Failure | Error) for result in results):
            counts.failed += 1
            names.append(str(case.name or "(no name)")[:LONGEST_NAME])
        elif any(isinstance(result, Skipped) for result in results):
            counts.skipped += 1
            continue
        else:
            counts.passed += 1
        counts.executed += 1
    counts.failed_names = tuple(names[:MOST_FAILED_NAMES])
    for inner in suite.testsuites():  # type: ignore[no-untyped-call]
        counts = counts.plus(_of_suite(inner))
    return counts
