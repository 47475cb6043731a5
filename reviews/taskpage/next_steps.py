"""What a task waits for, and who can do what next. Pure; the transitions check again.

Promises: a step is offered only where its right and state allow it now; the sentence names the person
or thing that everybody waits for.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from claims.models import Task
from claims.selectors.seen import SeenPool
from claims.vocabulary import ReclaimPolicy, ReviewPolicy, Right, State
from reviews.board.cards import waits_for
from reviews.shell.words import seen_state


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that can happen next. ``url`` where this person can do it, else nothing; ``is_first`` is the likely one."""

    who: str
    what: str
    url: str = ""
    verb: str = ""
    is_first: bool = False


def steps_of(task: Task, pool: SeenPool, viewer_id: int) -> list[Step]:
    """The next legal steps, the likely one first."""
    seen = seen_state(
        task.state, quiet=getattr(task, "is_quiet", False), sent_back=getattr(task, "is_sent_back", False)
    )
    if task.state == State.DELIVERED:
        return _delivered(task, pool, viewer_id)
    if seen == "QUIET":
        return _quiet(task, pool)
    if task.state == State.CLAIMED:
        last = "deliver it for review" if task.review_policy == ReviewPolicy.REVIEW else "commit the result"
        return [Step(_runner(task), f"can renew, {last}, give it back or report a failure")]
    if task.state == State.OPEN:
        return [
            Step("An agent" + _with_labels(task), "can claim it"),
            *_operators(pool, task, "can give it to a named agent"),
        ]
    if task.state == State.HELD:
        return _operators(pool, task, "can put it back to open", "Requeue", is_first=True)
    if task.state == State.BLOCKED:
        return [Step("Its predecessors", "must be done before it opens")]
    return []


def _delivered(task: Task, pool: SeenPool, viewer_id: int) -> list[Step]:
    url = reverse("review", kwargs={"delivery": task.delivery_id})
    who = waits_for(task, viewer_id)
    maker = task.delivery is not None and viewer_id in task.delivery.makers
    mine = pool.allows(Right.REVIEWER) and not maker
    named = who == "you" or (task.reviewer_id is None)
    steps = [
        Step(
            "You" if who == "you" else _capital(who),
            f"can decide round {task.rounds}",
            url,
            f"Decide round {task.rounds}" if mine and named else "",
            mine and named,
        )
    ]
    if maker:
        steps.append(Step("You", f"cannot: an agent of yours made round {task.rounds}"))
    elif mine and not named:
        steps.append(Step("You", "can step in with a reason", url, ""))
    steps.append(Step(_runner(task), f"cannot change round {task.rounds} any more"))
    return steps


def _quiet(task: Task, pool: SeenPool) -> list[Step]:
    steps = [Step(_runner(task), "can still renew or deliver while nobody takes the claim away")]
    if task.reclaim_policy == ReclaimPolicy.AUTO:
        return [*steps, Step("The next sweep", "makes it open")]
    return [
        *_operators(
            pool,
            task,
            "can release it, give it to another agent, extend it once or wait",
            "Look at the quiet claim",
            is_first=True,
        ),
        *steps,
    ]


def _operators(
    pool: SeenPool, task: Task, what: str, verb: str = "", *, is_first: bool = False
) -> list[Step]:
    mine = pool.allows(Right.OPERATOR)
    url = f"/operations?pool={pool.name}&task={task.number}" if mine else ""
    return [Step(f"An operator of {pool.name}", what, url, verb if mine else "", is_first and mine)]


def _runner(task: Task) -> str:
    return str(task.runner.name) if task.runner else "The agent"


def _with_labels(task: Task) -> str:
    return f" with the label {' and '.join(task.access)}" if task.access else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
