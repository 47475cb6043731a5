"""What one row of the inbox says: needs first, then facts of the server, then flags. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from claims.models import Delivery
from reviews.shell.words import NBSP


@dataclass(frozen=True, slots=True)
class Flag:
    """One thing to know before opening: ``code`` colours it, ``sign`` names its icon."""

    code: str
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One delivery that waits. ``facts`` come from the server; ``claimed`` is the agent's own account."""

    delivery: Delivery
    needs: str
    claimed: str
    facts: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = field(default_factory=tuple)


def row_of(delivery: Delivery) -> Row:
    """The row of one delivery."""
    facts = delivery.facts or {}
    return Row(
        delivery=delivery,
        needs=delivery.needs or f"Decide round {delivery.round}: {delivery.task.title}",
        claimed=_claimed(delivery),
        facts=tuple(_facts(facts)),
        flags=tuple(_flags(facts)),
    )


def _claimed(delivery: Delivery) -> str:
    said = len(delivery.claims or {})
    if not said:
        return ""
    return f"{said} {'criterion' if said == 1 else 'criteria'} met by {delivery.agent.name}’s account"


def _facts(facts: dict[str, Any]) -> list[str]:
    lines = []
    diff = facts.get("diff")
    if isinstance(diff, dict):
        files = diff.get("files", 0)
        count = len(files) if isinstance(files, list) else files
        lines.append(
            f"+{diff.get('added', 0)} −{diff.get('removed', 0)} in {count}{NBSP}file{'' if count == 1 else 's'}"
        )
    tests = facts.get("tests")
    if isinstance(tests, dict):
        lines.append(_tests(tests))
    shots = facts.get("screenshots")
    if isinstance(shots, list | int):
        number = len(shots) if isinstance(shots, list) else shots
        lines.append(f"{number}{NBSP}screenshot{'' if number == 1 else 's'}")
    return lines


def _tests(tests: dict[str, Any]) -> str:
    if not tests.get("executed"):
        return "no test executed"
    others = [f"{tests[name]} {name}" for name in ("failed", "skipped") if tests.get(name)]
    return ", ".join([f"{tests.get('passed', 0)} tests passed", *others])


_LOUD = {"failed-command", "no-tests", "failed-tests", "absent", "size", "empty-diff"}
_COUNTED = {"excluded", "outside", "failed-tests"}
MOST_FLAGS = 4


def _flags(facts: dict[str, Any]) -> list[Flag]:
    """What the server found amiss: counts first, then its own sentences, cut to a line."""
    scope, tests = facts.get("scope") or {}, facts.get("tests") or {}
    excluded, outside, failed = (
        len(scope.get("excluded") or []),
        len(scope.get("outside") or []),
        tests.get("failed") or 0,
    )
    flags = []
    if excluded:
        flags.append(
            Flag("DANGER", "warn", f"touches {excluded} excluded file{'' if excluded == 1 else 's'}")
        )
    if failed:
        flags.append(Flag("DANGER", "x", f"{failed} failing test{'' if failed == 1 else 's'}"))
    if outside:
        flags.append(Flag("QUIET", "warn", f"{outside} file{'' if outside == 1 else 's'} outside scope"))
    others = [found for found in facts.get("flags") or [] if found.get("code") not in _COUNTED]
    flags += [_other(found) for found in others]
    return flags[:MOST_FLAGS]


def _other(found: dict[str, str]) -> Flag:
    """A flag in the server's own words."""
    is_loud = found.get("code") in _LOUD
    return Flag(
        "DANGER" if is_loud else "QUIET", "x" if is_loud else "warn", found.get("text", "")[:80].rstrip(".")
    )
