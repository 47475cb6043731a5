"""One row for each acceptance criterion: text, what the server found, what the agent says, the verdict.

Pure: everything is passed in. A fact is never in one line with a claim (visual.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from claims.canonical import Item
from claims.models import Decision, Delivery
from claims.selectors.deliveries import same_evidence
from claims.vocabulary import EvidenceKind
from reviews.desk.drafts import WORDS_OF, Given, Typed
from reviews.desk.evidence import Command, Diff, Flag, Lens, Page, Tests
from reviews.shell.words import NBSP

SAID = {"met": "met", "not-met": "not met", "cannot-tell": "cannot tell"}
VERDICTS = (
    ("met", "met", "check", "Met"),
    ("not-met", "not", "x", "Not met"),
    ("cannot-tell", "cant", "q", "Cannot tell"),
)
"""Form word, data-v, icon and label of each verdict, in the order of the page."""
CODES = {word: code for word, code, _, _ in VERDICTS}


@dataclass(frozen=True, slots=True)
class Fact:
    """A piece of what the server found; ``href`` leads into the evidence, ``code`` colours a doubt."""

    text: str
    href: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One criterion as the page draws it."""

    number: int
    text: str
    proof: str
    facts: tuple[Fact, ...]
    claim: str
    given: Given
    before: str = ""
    before_note: str = ""
    can_keep: bool = False
    error: str = ""

    @property
    def code(self) -> str:
        """The verdict's data-v; empty while it is open."""
        return CODES.get(self.given.word, "")

    @property
    def quiet(self) -> str:
        """Whether the note has nothing to say yet, and under which verdict: open or met."""
        return {"": "open", "met": "met"}.get(self.given.word, "") if not self.given.note else ""

    @property
    def why(self) -> str:
        """What the note is for."""
        return {"not-met": "Why not met", "cannot-tell": "What is missing to tell"}.get(
            self.given.word, "Note"
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """The evidence of a round, read."""

    items: Sequence[Item]
    commands: Sequence[Command]
    pages: Sequence[Page]
    diff: Diff
    tests: Tests | None
    flags: Sequence[Flag] = ()
    lens: Lens = field(default_factory=Lens)
    base: Before | None = None
    more_shots: int = 0


@dataclass(frozen=True, slots=True)
class Before:
    """The round before: its decision and its manifest."""

    delivery: Delivery
    decision: Decision | None
    items: Sequence[Item]


def rows_of(
    acceptance: Sequence[Mapping[str, Any]],
    delivery: Delivery,
    seen: Seen,
    typed: Typed,
    before: Before | None,
    person_id: int,
    errors: Mapping[str, str],
) -> list[Row]:
    """Every criterion in its order."""
    return [
        Row(
            number=number,
            text=str(criterion.get("text", "")),
            proof=str(criterion.get("proof", "")),
            facts=tuple(facts_of(number, seen)),
            claim=str((delivery.claims or {}).get(str(number), "")),
            given=typed.given(number),
            error=errors.get(f"note-{number}", ""),
            **_before(number, seen, typed, before, person_id),
        )
        for number, criterion in enumerate(acceptance, 1)
    ]


def _before(number: int, seen: Seen, typed: Typed, before: Before | None, person_id: int) -> dict[str, Any]:
    """What was said of it a round ago, and whether the evidence is the same since."""
    given = (before.decision.verdicts or {}).get(str(number)) if before and before.decision else None
    if before is None or before.decision is None or not isinstance(given, dict):
        return {}
    word = WORDS_OF.get(str(given.get("verdict")), "")
    is_mine = before.decision.reviewer_id == person_id
    who = (
        "you"
        if is_mine
        else before.decision.reviewer.get_full_name() or before.decision.reviewer.get_username()
    )
    is_same = same_evidence(before.items, seen.items, number)
    changed = "" if is_same or word != "met" else " The evidence has changed since."
    return {
        "before": f"Round {before.delivery.round}: {SAID.get(word, 'not judged')}, by {who}.{changed}",
        "before_note": str(given.get("note", "")),
        "can_keep": is_same and is_mine and word == "met" and not typed.given(number).word,
    }


def facts_of(number: int, seen: Seen) -> list[Fact]:
    """What the server found in the evidence that names this criterion."""
    named = [item for item in seen.items if number in item.criteria]
    if not named:
        return [Fact("no evidence names this criterion; judge by all of it", code="QUIET")]
    ids = {id(item) for item in named}
    facts: list[Fact] = []
    facts += _of_tests(named, seen)
    facts += _of_shots([shot for page in seen.pages for shot in page.shots if id(shot.item) in ids])
    facts += [_of_command(command) for command in seen.commands if id(command.item) in ids]
    if any(item.kind == EvidenceKind.DIFF for item in named):
        facts += _of_diff(seen.diff)
    others = (EvidenceKind.FILE, EvidenceKind.LINK, EvidenceKind.BRANCH)
    facts += [Fact(item.name, "?tab=files#files") for item in named if item.kind in others]
    return facts


def _of_tests(named: Sequence[Item], seen: Seen) -> list[Fact]:
    if seen.tests is None or not any(item.kind == EvidenceKind.TEST_REPORT for item in named):
        return []
    report, href = seen.tests.report, "?tab=tests#tests"
    if not seen.tests.is_fact:
        return [Fact("test report not from a run of this server", href, "QUIET")]
    if report.executed == 0:
        return [Fact("no test executed", href, "DANGER")]
    failed = report.count("failed")
    if failed:
        return [Fact(f"{failed} of {report.executed} tests failed", href, "DANGER")]
    return [Fact(f"{report.count('passed')}{NBSP}tests passed", href)]


def _of_shots(shots: Sequence[Any]) -> list[Fact]:
    if not shots:
        return []
    wrong = sum(bool(shot.warning) for shot in shots)
    count = f"{len(shots)}{NBSP}screenshot{'' if len(shots) == 1 else 's'}"
    if wrong:
        return [Fact(f"{wrong} of {count} not as claimed", "?tab=shots#shots", "DANGER")]
    return [Fact(f"{count}, true width{'' if len(shots) == 1 else 's'}", "?tab=shots#shots")]


def _of_command(command: Command) -> Fact:
    href = f"?tab=commands#cmd-{command.number}"
    if not command.is_fact:
        return Fact(f"command {command.number} not run by this server", href, "QUIET")
    if command.is_failed:
        return Fact(f"command {command.number} ended with {command.exit_code}", href, "DANGER")
    return Fact(f"command {command.number} exit {command.exit_code}", href)


def _of_diff(diff: Diff) -> list[Fact]:
    href = "?tab=diff#diff"
    facts = [Fact(f"{diff.count} file{'' if diff.count == 1 else 's'} +{diff.added} −{diff.removed}", href)]
    if diff.excluded:
        facts.append(Fact(f"{diff.excluded} excluded", href, "DANGER"))
    if diff.outside:
        facts.append(Fact(f"{diff.outside} outside scope", href, "QUIET"))
    return facts


NUMBERS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def in_words(count: int) -> str:
    """A small number as a word."""
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a reviewer is, in figures and in words."""

    total: int
    met: int
    unmet: tuple[int, ...]
    unclear: tuple[int, ...]
    open: tuple[int, ...]

    @property
    def judged(self) -> int:
        return self.total - len(self.open)

    @property
    def is_met(self) -> bool:
        """Whether everything is Met, so that Accept is on."""
        return self.met == self.total

    @property
    def words(self) -> str:
        """``3 met, 1 not met``."""
        parts = [(self.met, "met"), (len(self.unmet), "not met"), (len(self.unclear), "cannot tell")]
        return ", ".join(f"{count} {word}" for count, word in parts if count) or "nothing judged yet"

    @property
    def why_not(self) -> str:
        """Why Accept is off; empty when it is on."""
        if self.is_met:
            return ""
        parts = [_said(self.unmet, "not met"), _said(self.unclear, "unclear"), _said(self.open, "open")]
        whole = f"all {in_words(self.total)} met" if self.total > 1 else "the criterion met"
        return f"Accept needs {whole}: {', '.join(part for part in parts if part)}."


def progress_of(rows: Sequence[Row]) -> Progress:
    """The progress over all criteria."""
    by = {
        word: tuple(row.number for row in rows if row.given.word == word)
        for word in ("met", "not-met", "cannot-tell", "")
    }
    return Progress(len(rows), len(by["met"]), by["not-met"], by["cannot-tell"], by[""])


def _said(numbers: Sequence[int], word: str) -> str:
    if not numbers:
        return ""
    names = [str(number) for number in numbers]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{joined} {'is' if len(names) == 1 else 'are'} {word}"
