"""What one card says: a task in the words of its column. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from claims.models import Task
from claims.vocabulary import State
from reviews.shell.words import seen_state


@dataclass(frozen=True, slots=True)
class Card:
    """A task as a card or a table row shows it. ``seen`` is the state as people see it."""

    task: Task
    seen: str
    corner: str
    share: float | None
    waits_for: str
    no_agent_label: str

    @property
    def runner(self) -> str:
        """Whose work it is or was."""
        canonical = getattr(self.task, "canonical", None)
        if self.task.runner:
            return str(self.task.runner.name)
        return canonical.agent if canonical else ""


def card_of(task: Task, now: datetime, viewer_id: int, labels_had: frozenset[str]) -> Card:
    """The card of ``task`` for one person; ``labels_had`` are those some agent has."""
    seen = seen_state(
        task.state, quiet=getattr(task, "is_quiet", False), sent_back=getattr(task, "is_sent_back", False)
    )
    missing = sorted(set(task.access) - labels_had) if task.state == State.OPEN else []
    return Card(
        task=task,
        seen=seen,
        corner=_corner(task, seen),
        share=_share(task, now, seen),
        waits_for=waits_for(task, viewer_id),
        no_agent_label=missing[0] if missing else "",
    )


def _corner(task: Task, seen: str) -> str:
    if seen == "OPEN":
        return f"priority {task.priority}"
    if seen in ("DELIVERED", "CHANGES") and task.runner:
        return f"round {task.rounds + (seen == 'CHANGES')} · {task.runner.name}"
    if task.runner:
        return str(task.runner.name)
    canonical = getattr(task, "canonical", None)
    return canonical.agent if canonical else ""


def _share(task: Task, now: datetime, seen: str) -> float | None:
    """How much of the lease is left, 0 to 1; the whole bar for a quiet claim; None without a lease."""
    lease = getattr(task, "lease", None)
    if lease is None:
        return None
    if seen == "QUIET":
        return 1.0
    share = (lease.expires_at - now).total_seconds() / max(lease.ttl_seconds, 1)
    return max(0.0, min(1.0, float(share)))


def waits_for(task: Task, viewer_id: int) -> str:
    """Who decides: ``you``, the named reviewer, the group, or the pool's reviewers."""
    if task.reviewer_id == viewer_id:
        return "you"
    if task.reviewer:
        return task.reviewer.get_full_name() or task.reviewer.get_username()
    if task.reviewer_group:
        return str(task.reviewer_group.name)
    return f"the reviewers of {task.pool.name}"
