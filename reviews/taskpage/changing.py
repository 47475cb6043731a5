"""What a change of a task would end, what its attempts cost, and what could be adopted. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from claims.models import Task
from claims.selectors.costs import Costs, Sum
from claims.vocabulary import State
from reviews.shell.words import NBSP, span

ENDED = {
    "RELEASED": "given back",
    "FAILED": "failed",
    "LAPSED": "lapsed",
    "FENCED": "fenced",
    "CANCELLED": "cancelled",
    "SUPERSEDED": "superseded",
    "REJECTED": "rejected",
    "CLOSED": "closed undecided",
    "CHANGES_REQUESTED": "sent back, not gone on from",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """One row of the costs: what became of some attempts, how many, and what they told."""

    what: str
    attempts: int
    told: str
    is_kept: bool


def costs_of(costs: Costs) -> list[Cost]:
    """The costs of a task by what became of them, without what there is none of."""
    rows = [("kept", costs.accepted, True), ("in work", costs.in_work, True)]
    rows += [
        (f"discarded, {ENDED.get(name, name.lower())}", found, False)
        for name, found in sorted(costs.discarded.items())
    ]
    return [Cost(what, found.attempts, _told(found), kept) for what, found, kept in rows if found.attempts]


def _told(found: Sum) -> str:
    """The figures of some attempts in a line; a sentence where none of them told any."""
    if not found.told:
        return "told nothing"
    silent = found.attempts - found.told
    return ", ".join(_figures(found)) + (f" ({silent} told nothing)" if silent else "")


def _figures(found: Sum) -> Iterator[str]:
    if found.seconds:
        yield span(found.seconds)
    if found.tokens:
        yield f"{found.tokens:,}{NBSP}tokens"
    for currency in sorted(found.money):
        yield f"{found.money[currency]}{NBSP}{currency}"
    if not (found.seconds or found.tokens or found.money):
        yield "nothing"


def can_adopt(task: Task) -> bool:
    """Whether evidence can be taken over where the task is now; the transition looks at the epoch."""
    if task.state == State.DELIVERED:
        return bool(task.attempt and task.attempt.scheduler_epoch != task.pool.scheduler_epoch)
    return task.state == State.OPEN or (task.state == State.HELD and not task.is_stale)


def ends_of(task: Task) -> str:
    """What a new revision, or a cancellation, ends: said before anybody does it."""
    runner = task.runner.name if task.runner else "its agent"
    if task.state == State.CLAIMED:
        return f"{runner} loses its claim: its next call with generation {task.claim_generation} is refused, and what it has staged is kept apart."
    if task.state == State.DELIVERED:
        return f"Round {task.rounds} is closed undecided; what {runner} delivered stays readable."
    if task.state == State.DONE:
        return "This result stays. Tasks that were built on it are held once a newer result is committed."
    return "Nobody holds a claim on it, so none is lost."
