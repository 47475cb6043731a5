"""A JUnit report as counts and cases, read without entities, network or unbounded memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from reviews.shell.words import NBSP

CASES_LIMIT = 5_000
BYTES_LIMIT = 2 * 1024 * 1024
_RUN_AGAIN = ("flakyFailure", "flakyError", "rerunFailure", "rerunError")
"""Elements with which test runners note an earlier run of the same test that failed."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test. ``result`` is passed, failed, skipped, or gone where only the other round has it.

    ``change`` says what became of it since; ``is_flaky``: it passed only when it was run again.
    """

    name: str
    group: str
    result: str
    seconds: float | None
    message: str = ""
    change: str = ""
    is_flaky: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.group, self.name

    @property
    def label(self) -> str:
        """The word of the table: what changed, else the result."""
        if self.change == "new" and self.result == "failed":
            return "new, failed"
        return self.change or ("flaky" if self.is_flaky else self.result)

    @property
    def time(self) -> str:
        """How long it took, in words."""
        seconds = self.seconds or 0.0
        return f"{seconds * 1_000:.0f}{NBSP}ms" if seconds < 1 else f"{seconds:.1f}{NBSP}s"


@dataclass(frozen=True, slots=True)
class Report:
    """All cases of the reports of a delivery. ``flaw`` says why nothing or not all could be read."""

    cases: tuple[Case, ...]
    flaw: str = ""

    def count(self, result: str) -> int:
        """How many cases ended so."""
        return sum(case.result == result for case in self.cases)

    def changed(self, change: str) -> int:
        """How many cases changed so since the round before."""
        return sum(case.change == change for case in self.cases)

    @property
    def executed(self) -> int:
        """Cases that ran: a skipped one did not."""
        return sum(case.result in ("passed", "failed") for case in self.cases)

    @property
    def flaky(self) -> int:
        """Cases that passed only when they were run again."""
        return sum(case.is_flaky for case in self.cases)


def read_report(content: bytes, *, is_cut: bool = False) -> Report:
    """The cases of one JUnit XML file."""
    if is_cut:
        return Report((), f"The report is larger than {BYTES_LIMIT // 1024 // 1024} MB and was not read.")
    try:
        root = fromstring(content, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, RecursionError) as error:
        return Report((), f"The report is not JUnit XML that can be read safely: {type(error).__name__}.")
    found: list[Case] = []
    for case in root.iter("testcase"):
        if len(found) == CASES_LIMIT:
            return Report(tuple(found), f"Only the first {CASES_LIMIT:,} tests are shown.")
        found.append(_case(case))
    return Report(tuple(found))


def _case(node: Element) -> Case:
    result, message, is_flaky = "passed", "", False
    for child in node:
        is_flaky = is_flaky or child.tag in _RUN_AGAIN
        if child.tag in ("failure", "error"):
            result, message = "failed", child.get("message") or (child.text or "")
        elif child.tag == "skipped" and result == "passed":
            result, message = "skipped", child.get("message") or ""
    return Case(
        (node.get("name") or "without a name")[:300],
        (node.get("classname") or "")[:300],
        result,
        _seconds(node.get("time")),
        message.strip()[:500],
        is_flaky=is_flaky and result == "passed",
    )


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def compared(now: Sequence[Case], before: Sequence[Case] | None) -> tuple[Case, ...]:
    """The cases with what changed since another round, those that are gone last."""
    if before is None:
        return tuple(now)
    known: Mapping[tuple[str, str], str] = {case.key: case.result for case in before}
    here = {case.key for case in now}
    cases = [replace(case, change=_change(known.get(case.key), case.result)) for case in now]
    gone = [
        replace(case, result="gone", change="gone", is_flaky=False) for case in before if case.key not in here
    ]
    return (*cases, *gone)


def _change(before: str | None, now: str) -> str:
    if before is None:
        return "new"
    if before == "failed" and now == "passed":
        return "fixed"
    if before != "failed" and now == "failed":
        return "newly failing"
    if before != "skipped" and now == "skipped":
        return "newly skipped"
    return ""
