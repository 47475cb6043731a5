"""Changing what is asked for: a new revision, a cancellation, and what of earlier effects counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from claims import decide, kernel
from claims.callers import Caller
from claims.decide.rows import Predecessor, TaskAsRead
from claims.models import Acknowledgement, Effect, Task, TaskInput
from claims.models.columns import new_id
from claims.outcomes import Acknowledged, Cancelled, CreatedTask, Refused, Revised, Why
from claims.transitions.beginning import Beginning, begin
from claims.transitions.checking import flaws_of
from claims.vocabulary import EffectState, Verb

_INHERITED = (
    "priority", "not_before", "ttl_seconds", "max_attempts", "review_policy", "reclaim_policy", "reviewer_id", "reviewer_group_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What a preparer says of one effect of an earlier revision: it counts, or is to be done again."""

    effect_id: str
    counts: bool
    reason: str = ""


@kernel.verb(
    Verb.REVISE,
    *(f"{state} -> SUPERSEDED" for state in ("BLOCKED", "OPEN", "CLAIMED", "DELIVERED", "HELD", "CANCELLED")),
    "DONE -> DONE",
    "new -> OPEN",
    "new -> BLOCKED",
)
def revise(
    caller: Caller,
    task_id: UUID,
    expected_state_version: int,
    body: Mapping[str, object],
    title: str | None = None,
    answers: Sequence[Answer] = (),
) -> Revised | Refused:
    """OPEN -> SUPERSEDED, and so on; new -> OPEN. A changed input is the next row of the lineage.

    Generations are carried on, so no fence of an earlier revision can write. A DONE task stays
    DONE. Refused with FORBIDDEN, STALE_STATE for any but the newest revision, or MALFORMED.
    """
    seen = take_with_graph(caller, task_id)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    refused = decide.may_prepare(seen) or flaws_of(body, "/input")
    if refused:
        return refused
    next_id = new_id()
    change = decide.revise(seen, newest_of(seen), expected_state_version, next_id)
    if isinstance(change, Refused):
        return change

    advanced = kernel.advance(caller, seen, change)
    new = next_revision(caller, seen, next_id, advanced.claim_generation, Verb.REVISE, body, title)
    refused = _acknowledge_all(caller, seen, new, answers)
    return refused or Revised(new, seen.task.revision + 1, task_id)


@kernel.verb(
    Verb.CANCEL, *(f"{state} -> CANCELLED" for state in ("BLOCKED", "OPEN", "CLAIMED", "DELIVERED", "HELD"))
)
def cancel(caller: Caller, task_id: UUID, reason: str) -> Cancelled | Refused:
    """OPEN -> CANCELLED, and so on. From its answer on nothing of this task is accepted.

    A second cancel is answered like the first. Refused with FORBIDDEN, TOO_LATE after the
    canonical commit, or STALE_STATE for a superseded row.
    """
    seen = kernel.take(caller, task_id)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = decide.cancel(seen, newest_of(seen), reason)
    if isinstance(change, Refused):
        return change
    if change is None:
        return Cancelled(task_id, seen.task.cancel_generation, seen.task.state_version)

    advanced = kernel.advance(caller, seen, change)
    return Cancelled(task_id, seen.task.cancel_generation + 1, advanced.state_version)


@kernel.verb(
    Verb.ACKNOWLEDGE,
    *(f"{state} -> {state}" for state in ("OPEN", "CLAIMED", "DELIVERED", "HELD", "BLOCKED")),
)
def acknowledge(caller: Caller, task_id: UUID, answer: Answer) -> Acknowledged | Refused:
    """OPEN -> OPEN, and so on. An earlier revision's effect counts, or is to be done again."""
    seen = kernel.take(caller, task_id)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = decide.acknowledge(seen, answer.effect_id, answer.counts, answer.reason)
    if isinstance(change, Refused):
        return change

    _keep(caller, seen, task_id, answer)
    advanced = kernel.advance(caller, seen, change)
    return Acknowledged(task_id, answer.effect_id, answer.counts, advanced.state_version)


def take_with_graph(caller: Caller, task_id: UUID) -> TaskAsRead | None:
    """The task under its lock, its predecessors under theirs, and which they are."""
    lineage_id = TaskInput.objects.filter(task_id=task_id).values_list("lineage_id", flat=True).first()
    if lineage_id is None:
        return None
    kernel.share_pool_of(task_id)
    kernel.graph.lock_predecessors(kernel.graph.edges_of(lineage_id))
    return kernel.take(caller, task_id)


def newest_of(seen: TaskAsRead) -> Predecessor:
    """The newest revision of the task's own lineage."""
    return kernel.graph.newest({seen.task.lineage_id: ""})[0]


def next_revision(
    caller: Caller,
    seen: TaskAsRead,
    next_id: UUID,
    claim_generation: int,
    verb: Verb,
    body: Mapping[str, object],
    title: str | None = None,
) -> CreatedTask:
    """The next row of a lineage: its numbers go on, its scheduling attributes are inherited."""
    node_id, created_by = Task.objects.values_list("node_id", "created_by").get(id=seen.task.id)
    is_written = verb is Verb.REVISE and caller.is_person
    attributes = {name: getattr(seen.task, name) for name in _INHERITED}
    attributes |= {"created_by": str(caller.actor) if is_written else created_by}
    attributes |= {"preparer_id": caller.actor.id if is_written else seen.task.preparer_id}
    edges = kernel.graph.edges_of(seen.task.lineage_id)
    return begin(
        caller,
        Beginning(
            task_id=next_id,
            number=kernel.numbers(1)[0],
            pool_id=seen.pool.id,
            pool_name=seen.pool.name,
            title=title or seen.task.title,
            input=body,
            at=seen.now,
            verb=verb,
            node_id=node_id,
            lineage_id=seen.task.lineage_id,
            revision=seen.task.revision + 1,
            claim_generation=claim_generation,
            cancel_generation=seen.task.cancel_generation,
            predecessors=kernel.graph.newest(edges),
            attributes=attributes,
        ),
    )


def _acknowledge_all(
    caller: Caller, seen: TaskAsRead, new: CreatedTask, answers: Sequence[Answer]
) -> Refused | None:
    """What the preparer said of earlier effects, together with the revision."""
    happened = Q(state=EffectState.COMMITTED) | Q(has_happened=True)
    of_lineage = Effect.objects.filter(happened, lineage_id=seen.task.lineage_id)
    known = set(of_lineage.values_list("id", flat=True)) if answers else set()
    for answer in answers:
        if answer.effect_id not in known:
            return Refused(
                Why.UNPROCESSABLE, f"No earlier effect {answer.effect_id[:64]} of this task has happened."
            )
        _keep(caller, seen, new.task_id, answer)
    return None


def _keep(caller: Caller, seen: TaskAsRead, task_id: UUID, answer: Answer) -> None:
    Acknowledgement.objects.create(
        task_id=task_id,
        effect_id=answer.effect_id,
        counts=answer.counts,
        person_id=caller.actor.id,
        reason=answer.reason,
        at=seen.now,
    )
