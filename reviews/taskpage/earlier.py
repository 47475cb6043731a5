"""Effects of other revisions of a task, and what its preparer has said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from claims.models import Task
from claims.selectors import acknowledged
from claims.selectors.effects import EffectSeen
from claims.vocabulary import FINAL, EffectState, State
from reviews.effects.facts import Shown
from reviews.effects.views import shown


@dataclass(frozen=True, slots=True)
class Earlier:
    """One of them. ``counts`` is what was said for this revision, None where nothing was yet."""

    one: Shown
    counts: bool | None
    can_be_said: bool


def of_task(task: Task, found: Sequence[EffectSeen]) -> list[Earlier]:
    """In the order they were prepared. One query, beside those that name who sent them."""
    if not found:
        return []
    said = acknowledged.of_task(task.pk)
    is_open = State(task.state) not in FINAL
    return [
        Earlier(each, said.get(each.effect.effect_id), is_open and each.effect.effect_id not in said)
        for each in shown(found)
        if each.effect.state is not EffectState.PREPARED or each.effect.has_happened
    ]
