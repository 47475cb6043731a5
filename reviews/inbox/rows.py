"""What one row of the inbox says: needs first, whose turn and why, facts of the server, then flags. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from claims.models import Delivery, Task
from reviews.shell.words import NBSP


@dataclass(frozen=True, slots=True)
class Flag:
    """One thing to know before opening: ``code`` colours it, ``sign`` names its icon."""

    code: str
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One delivery that waits. ``facts`` come from the server; ``claimed`` is the agent's own account.

    ``until`` is when a snoozed one comes back.
    """

    delivery: Delivery
    needs: str
    turn: str
    claimed: str
    facts: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = field(default_factory=tuple)
    is_pinned: bool = False
    until: datetime | None = None


def row_of(
    delivery: Delivery, person_id: int, *, is_pinned: bool = False, until: datetime | None = None
) -> Row:
    """The row of one delivery with what it was ``told`` of its facts."""
    told: Mapping[str, Any] = getattr(delivery, "told", None) or {}
    return Row(
        delivery=delivery,
        needs=delivery.needs or f"Decide round {delivery.round}: {delivery.task.title}",
        turn=turn_of(delivery.task, person_id, delivery.pool.name, getattr(delivery, "away_until", None)),
        claimed=_claimed(delivery),
        facts=tuple(_facts(told)),
        flags=tuple(_flags(told)),
        is_pinned=is_pinned,
        until=until,
    )


def turn_of(task: Task, person_id: int, pool: str, away_until: date | None = None) -> str:
    """Whose turn it is and why, in a phrase after how long it has waited."""
    if task.reviewer_id == person_id:
        return "waiting for you, the named reviewer"
    if task.reviewer and away_until:
        return f"for {name_of(task.reviewer)}, away until {day_words(away_until)}"
    if task.reviewer_group:
        return f"waiting for anyone in {task.reviewer_group}"
    if task.reviewer:
        return f"waiting for {name_of(task.reviewer)}"
    return f"waiting for any reviewer of {pool}"


def name_of(person: Any) -> str:
    """The name pages call a person by."""
    return str(person.get_full_name() or person.get_username())


def day_words(day: date) -> str:
    """A day as people say it: ``Fri 4 Dec``."""
    return f"{day:%a} {day.day} {day:%b}"


def _claimed(delivery: Delivery) -> str:
    said = len(delivery.claims or {})
    if not said:
        return ""
    return f"{said} {'criterion' if said == 1 else 'criteria'} met by {delivery.agent.name}’s account"


def _facts(told: Mapping[str, Any]) -> list[str]:
    lines = []
    diff = told.get("diff")
    if isinstance(diff, dict):
        count = diff.get("files", 0)
        lines.append(
            f"+{diff.get('added', 0)} −{diff.get('removed', 0)} in {count}{NBSP}file{'' if count == 1 else 's'}"
        )
    tests = told.get("tests")
    if isinstance(tests, dict):
        lines.append(_tests(tests))
    shots = told.get("screenshots")
    if shots:
        lines.append(f"{shots}{NBSP}screenshot{'' if shots == 1 else 's'}")
    return lines


def _tests(tests: Mapping[str, Any]) -> str:
    if not tests.get("executed"):
        return "no test executed"
    others = [f"{tests[name]} {name}" for name in ("failed", "skipped") if tests.get(name)]
    return ", ".join([f"{tests.get('passed', 0)} tests passed", *others])


_LOUD = {"failed-command", "no-tests", "failed-tests", "absent", "size", "empty-diff"}
_COUNTED = {"excluded", "outside", "failed-tests"}
MOST_FLAGS = 4


def _flags(told: Mapping[str, Any]) -> list[Flag]:
    """What the server found amiss: counts first, then its own sentences, cut to a line."""
    excluded, outside = told.get("excluded") or 0, told.get("outside") or 0
    failed = (told.get("tests") or {}).get("failed") or 0
    flags = []
    if excluded:
        flags.append(
            Flag("DANGER", "warn", f"touches {excluded} excluded file{'' if excluded == 1 else 's'}")
        )
    if failed:
        flags.append(Flag("DANGER", "x", f"{failed} failing test{'' if failed == 1 else 's'}"))
    if outside:
        flags.append(Flag("QUIET", "warn", f"{outside} file{'' if outside == 1 else 's'} outside scope"))
    others = [found for found in told.get("flags") or [] if found.get("code") not in _COUNTED]
    flags += [_other(found) for found in others]
    return flags[:MOST_FLAGS]


def _other(found: Mapping[str, str]) -> Flag:
    """A flag in the server's own words."""
    is_loud = found.get("code") in _LOUD
    return Flag(
        "DANGER" if is_loud else "QUIET", "x" if is_loud else "warn", found.get("text", "")[:80].rstrip(".")
    )
