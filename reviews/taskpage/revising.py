"""The form a revision is written in, over a task that may have moved since. Nothing is written.

Promises: the text that was typed is on the page word for word, also after a merge; what a revision
began from is read from the row it was drawn from, whose input never changes. From the page comes only
its title then, which is drawn and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from claims.models import Task
from claims.taskfile import load_template
from reviews.taskpage import asked
from reviews.taskpage.asked import Side
from reviews.taskpage.template_yaml import input_of, source_of
from reviews.taskpage.threeway import Row


@dataclass(frozen=True, slots=True)
class Form:
    """What the form is drawn with.

    ``ref`` is the revision it is sent to, ``was_title`` the title it was drawn with; ``rows`` are drawn
    where the task has moved, ``settle`` names fields to look at after a merge, ``kept`` is the text before.
    """

    ref: str
    version: str
    was_title: str
    source: str
    rows: Sequence[Row] = ()
    settle: Sequence[str] = ()
    kept: str = ""
    is_merged: bool = False


def form_of(task: Task) -> Form:
    """The form with the input as it is."""
    return Form(str(task), str(task.state_version), task.title, input_of(task, task.specification.body))


def typed_form(task: Task, typed: Mapping[str, str]) -> Form:
    """The form as it was sent."""
    return Form(str(task), typed["version"], typed["wasTitle"], typed["source"], kept=typed["kept"])


def against(task: Task, newest: Task, typed: Mapping[str, str]) -> Form:
    """The form over a task that has moved: what differs, field by field.

    Where nothing that is asked for has moved, the form is the one to send again, to the newest revision.
    """
    sides = _sides(task, newest, typed)
    rows = asked.rows_of(*sides)
    if not any(row.difference.is_theirs for row in rows):
        return replace(typed_form(newest, typed), version=str(newest.state_version), was_title=newest.title)
    return replace(typed_form(task, typed), rows=rows)


def merged(task: Task, newest: Task, typed: Mapping[str, str]) -> Form:
    """Your changes on what is now, to be sent to the newest revision; nothing is sent by it.

    The text is kept as it is where nothing else has moved; where it is written anew, the one that was
    typed stays beside it, with its comments.
    """
    sides = _sides(task, newest, typed)
    rows = asked.rows_of(*sides)
    if not any(row.difference.is_theirs for row in rows):
        return against(task, newest, typed)
    body = asked.merged(*sides)
    settle = [row.name for row in rows if row.difference.is_to_settle]
    return Form(
        str(newest),
        str(newest.state_version),
        newest.title,
        source_of(str(body.get("title", newest.title)), body),
        settle=settle,
        kept="\n\n".join(filter(None, (typed["source"], typed["kept"]))),
        is_merged=True,
    )


def _sides(task: Task, newest: Task, typed: Mapping[str, str]) -> tuple[Side, Side, Side]:
    new = load_template(typed["source"]).task
    yours: dict[str, Any] = {**new.input, "title": new.title}
    base = {**task.specification.body, "title": typed["wasTitle"] or task.title}
    return asked.sides_of(base, {**newest.specification.body, "title": newest.title}, yours)
