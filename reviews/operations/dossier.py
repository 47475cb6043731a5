"""A quiet claim as an operator reads it: what happened, the most likely cause, what a release does.

Pure but for the facts passed in. A guess is marked as one and names what it rests on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from claims.models import Task
from claims.selectors.quiet import Around
from reviews.shell.words import NBSP, span

WIDTH = 530
"""Units of the line of ticks."""
MOST_TICKS = 52
STILL_LIVELY = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class Ticks:
    """The claim on a line: posts at renewals (spaced evenly), dashes for missed ones, one for the lease's end."""

    renewed: tuple[float, ...]
    missed: tuple[float, ...]
    expired: float
    renewals: int
    missed_count: int
    interval_seconds: float


@dataclass(frozen=True, slots=True)
class Dossier:
    """One claim and everything that is known about it."""

    task: Task
    around: Around
    ticks: Ticks
    story: str
    guess: str
    seconds_quiet: float
    seconds_held: float
    next_state: str
    idle_words: str


def dossier_of(task: Task, around: Around, now: datetime) -> Dossier | None:
    """The dossier of a claimed task; None when nobody holds it."""
    lease = getattr(task, "lease", None)
    if lease is None or task.attempt is None:
        return None
    return Dossier(
        task=task,
        around=around,
        ticks=ticks_of(task, now),
        story=story_of(task),
        guess=guess_of(task, around, now),
        seconds_quiet=(now - lease.expires_at).total_seconds(),
        seconds_held=(now - task.attempt.started_at).total_seconds(),
        next_state="HELD" if task.attempts_used >= task.max_attempts else "OPEN",
        idle_words=_idle(around),
    )


def ticks_of(task: Task, now: datetime) -> Ticks:
    """Where the posts stand."""
    lease, start = task.lease, task.attempt.started_at
    whole = max((max(now, lease.expires_at) - start).total_seconds(), 1.0)
    last = lease.renewed_at or start
    interval = (last - start).total_seconds() / lease.renewals if lease.renewals else lease.ttl_seconds / 3
    interval = max(interval, 1.0)
    missed = max(0, int((now - last).total_seconds() // interval))
    drawn = _spread(start, last, lease.renewals)
    gaps = [last + timedelta(seconds=interval * step) for step in range(1, missed + 1)]
    room = max(1, MOST_TICKS - len(drawn))
    return Ticks(
        renewed=tuple(_place(at, start, whole) for at in [start, *drawn]),
        missed=tuple(_place(at, start, whole) for at in gaps[:: max(1, -(-len(gaps) // room))]),
        expired=_place(lease.expires_at, start, whole),
        renewals=lease.renewals,
        missed_count=missed,
        interval_seconds=interval,
    )


def _spread(start: datetime, last: datetime, count: int) -> list[datetime]:
    shown = min(count, MOST_TICKS - 12)
    return [start + (last - start) * step / shown for step in range(1, shown + 1)] if shown else []


def _place(at: datetime, start: datetime, whole_seconds: float) -> float:
    share = (at - start).total_seconds() / whole_seconds
    return round(4 + max(0.0, min(1.0, share)) * (WIDTH - 12), 1)


def story_of(task: Task) -> str:
    """What happened, as facts."""
    lease, runner = task.lease, task.runner.name
    held = task.attempt.started_at
    if not lease.renewals:
        return f"{runner} claimed it and never renewed."
    on_time = span((lease.renewed_at - held).total_seconds())
    return f"{runner} renewed {lease.renewals} time{'' if lease.renewals == 1 else 's'} over {on_time}, then fell silent."


def guess_of(task: Task, around: Around, now: datetime) -> str:
    """The most likely cause, and what it rests on."""
    attempt, lease, runner = task.attempt, task.lease, task.runner.name
    last = lease.renewed_at or attempt.started_at
    if attempt.scheduler_epoch != task.pool.scheduler_epoch:
        return f"it was granted under epoch {attempt.scheduler_epoch}, which has ended"
    if attempt.noted_at and attempt.noted_at > lease.expires_at:
        return f"it is only slow: it wrote a note {span((now - attempt.noted_at).total_seconds())} ago"
    if around.runner_live:
        return f"this process is gone: {runner} still renews {around.runner_live} other claim{'' if around.runner_live == 1 else 's'}"
    if around.runner_quiet:
        return f"its host is gone: {around.runner_quiet + 1} claims of {runner} are quiet and none renews"
    if around.others_last_sign and now - around.others_last_sign < STILL_LIVELY:
        return f"the process is gone: other agents renew, and {runner} has not been heard for {span((now - last).total_seconds())}"
    if not lease.renewals:
        return "the process ended before its first renewal"
    return f"the process is gone: nothing was heard of {runner} for {span((now - last).total_seconds())}"


def _idle(around: Around) -> str:
    if not around.fit:
        return "No other agent of this pool has the labels to claim it."
    names = ", ".join(agent.name for agent in around.fit[:3])
    if not around.fit_idle:
        return f"{_agents(len(around.fit))} the labels to claim it ({names}), none of them idle."
    return f"{_agents(around.fit_idle, 'idle ')} the labels to claim it."


def _agents(count: int, kind: str = "other ") -> str:
    return f"{count}{NBSP}{kind}agent{' has' if count == 1 else 's have'}"


def first_chosen(tasks: Iterable[Task], wanted: str) -> Task | None:
    """The task the address names, else the first of the list."""
    found = list(tasks)
    named = next((task for task in found if str(task) == wanted or str(task.pk) == wanted), None)
    return named or (found[0] if found and not wanted else None)
