"""The form of what is changed in place: the scheduling attributes (claim.v1 section 1). Nothing is written.

Promises: a field that nobody changed is not sent; what was typed is drawn as typed, also where it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from claims.models import Task
from claims.outcomes import Refused, Why
from claims.taskfile import LONGEST_TITLE
from claims.vocabulary import FINAL, ReclaimPolicy, State
from reviews.taskpage import threeway
from reviews.taskpage.threeway import Row

Values = Mapping[str, str]

WORDS = {
    "title": "Title",
    "priority": "Priority",
    "notBefore": "Not before",
    "maxAttempts": "Most attempts",
    "reclaim": "Reclaim policy",
    "reviewer": "Named reviewer",
    "reviewerGroup": "Reviewer group",
}
"""The fields of the form and what people call them."""

_NAMES = {
    "notBefore": "not_before",
    "maxAttempts": "max_attempts",
    "reclaim": "reclaim_policy",
    "reviewerGroup": "reviewer_group",
}
"""What ``transitions.adjust`` calls a field that the form calls otherwise."""

COLUMNS = {
    "title": "title",
    "priority": "priority",
    "not_before": "notBefore",
    "max_attempts": "maxAttempts",
    "reclaim_policy": "reclaim",
    "reviewer_id": "reviewer",
    "reviewer_group_id": "reviewerGroup",
}
"""Under which name history keeps the change of a field."""

_EMPTY = {"notBefore": "at once", "reviewer": "any reviewer", "reviewerGroup": "none"}
_TIME = "Write a time in UTC, such as 2026-12-01T09:00, or leave it empty: at once."
_SAID_OF = (("maxAttempts", "maxAttempts"), ("reviewer group", "reviewerGroup"), ("reviewer", "reviewer"))
"""By which word the sentence of a refusal names the field it is about."""


@dataclass(frozen=True, slots=True)
class Form:
    """What the form is drawn with.

    ``ref`` is the task it is sent to, ``was`` are the values it was first drawn with; ``rows`` are drawn
    where the task has moved, ``settle`` names fields to look at after a merge.
    """

    ref: str
    values: Values
    was: Values
    version: str
    rows: Sequence[Row] = ()
    settle: Sequence[str] = ()
    is_merged: bool = False


def may_change(task: Task) -> bool:
    """Whether ``decide.adjust`` takes a change in this state."""
    return State(task.state) not in FINAL


def form_of(task: Task) -> Form:
    """The form with the values now."""
    values = now_of(task)
    return Form(str(task), values, values, str(task.state_version))


def now_of(task: Task) -> dict[str, str]:
    """The values now, as the fields show them."""
    return {
        "title": task.title,
        "priority": str(task.priority),
        "notBefore": shown_time(task.not_before),
        "maxAttempts": str(task.max_attempts),
        "reclaim": str(task.reclaim_policy),
        "reviewer": task.reviewer.get_username() if task.reviewer else "",
        "reviewerGroup": task.reviewer_group.name if task.reviewer_group else "",
    }


def shown_time(at: datetime | None) -> str:
    """A moment as its field shows it, in UTC: seconds only where it has any."""
    if at is None:
        return ""
    there = at.astimezone(UTC).replace(tzinfo=None)
    return there.isoformat(timespec="seconds" if there.second else "minutes")


def typed_in(post: Mapping[str, str]) -> dict[str, str]:
    """The fields of the form, and what they were drawn with under ``was-``, as they were sent."""
    names = [*WORDS, *(f"was-{name}" for name in WORDS)]
    return {name: " ".join(post.get(name, "").replace("\x00", "").split()) for name in names}


def typed_form(task: Task, typed: Values) -> Form:
    """The form as it was sent, with the state version that was seen."""
    was = {name: typed[f"was-{name}"] for name in WORDS}
    return Form(str(task), {name: typed[name] for name in WORDS}, was, typed["version"])


def flaws_of(typed: Values) -> dict[str, str]:
    """What is wrong with the fields that were changed, by field in their order."""
    changed = _changed_in(typed)
    found = {name: _FLAW[name](typed[name]) for name in changed if name in _FLAW}
    return {name: said for name, said in found.items() if said}


def _changed_in(typed: Values) -> list[str]:
    return [name for name in WORDS if typed[name] != typed[f"was-{name}"]]


def attributes_of(task: Task, typed: Values) -> dict[str, Any]:
    """What is to be changed, under the names that ``adjust`` takes.

    A field is sent where it was changed in the form and, while the task is as the form saw it, is not so
    already. Where the task has moved, ``adjust`` refuses by the state version, or answers a double click
    as the first time.
    """
    changed = _changed_in(typed)
    if typed["version"] == str(task.state_version):
        now = now_of(task)
        changed = [name for name in changed if typed[name] != now[name]]
    return {_NAMES.get(name, name): _READ.get(name, _or_none)(typed[name]) for name in changed}


def field_of(refused: Refused) -> str:
    """The field a refusal is about; nothing where it is about the task."""
    if refused.why is not Why.UNPROCESSABLE:
        return ""
    return next((name for word, name in _SAID_OF if word in refused.sentence), "")


def against(task: Task, newest: Task, typed: Values) -> Form:
    """The form over a task that has moved: what differs, field by field.

    Where none of its fields moved, the form is the one to send again, to the newest revision.
    """
    form, now = typed_form(task, typed), now_of(newest)
    changed = threeway.compared(form.was, now, form.values)
    if not any(one.is_theirs for one in changed.values()):
        return Form(str(newest), form.values, now, str(newest.state_version))
    rows = [
        Row(WORDS[name], in_words(name, one.base), in_words(name, one.now), in_words(name, one.yours), one)
        for name, one in changed.items()
    ]
    return replace(form, rows=rows)


def merged(task: Task, newest: Task, typed: Values) -> Form:
    """Your changes on what is now, to be sent to the newest revision; nothing is sent by it."""
    form, now = typed_form(task, typed), now_of(newest)
    changed = threeway.compared(form.was, now, form.values)
    values = {name: changed[name].merged if name in changed else now[name] for name in WORDS}
    settle = [WORDS[name] for name, one in changed.items() if one.is_to_settle]
    return Form(str(newest), values, now, str(newest.state_version), settle=settle, is_merged=True)


def in_words(name: str, value: str) -> str:
    """A value as a sentence has it."""
    if not value:
        return _EMPTY.get(name, "nothing")
    if name == "notBefore":
        return value.replace("T", " ") + " UTC"
    return value.lower() if name == "reclaim" else value


def _or_none(text: str) -> str | None:
    return text or None


def _moment(text: str) -> datetime | None:
    """The moment in UTC; None for none. Raises ``ValueError`` for what is no time."""
    if not text:
        return None
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _title(text: str) -> str:
    return "" if 0 < len(text) <= LONGEST_TITLE else f"A title has 1 to {LONGEST_TITLE} characters."


def _whole(least: int, most: int) -> Callable[[str], str]:
    """A check of a whole number between two that are allowed."""

    def flaw(text: str) -> str:
        is_number = text.isascii() and text.isdigit() and len(text) <= 9
        return (
            ""
            if is_number and least <= int(text) <= most
            else f"Write a whole number from {least} to {most}."
        )

    return flaw


def _time(text: str) -> str:
    try:
        at = _moment(text)
    except (ValueError, OverflowError):
        return _TIME
    return "" if at is None or 1970 < at.year < 9999 else _TIME


def _policy(text: str) -> str:
    return "" if text in set(ReclaimPolicy) else f"Choose one of {', '.join(ReclaimPolicy)}."


_FLAW: dict[str, Callable[[str], str]] = {
    "title": _title,
    "priority": _whole(0, 9),
    "notBefore": _time,
    "maxAttempts": _whole(1, 100),
    "reclaim": _policy,
}
_READ: dict[str, Callable[[str], Any]] = {
    "title": str,
    "priority": int,
    "notBefore": _moment,
    "maxAttempts": int,
    "reclaim": ReclaimPolicy,
}
