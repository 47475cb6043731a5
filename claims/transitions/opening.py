"""What a canonical commit does along the edges of a graph, in its own transaction (section 6)."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from claims import decide, kernel
from claims.callers import Caller
from claims.decide.rows import TaskAsRead
from claims.models import Pin
from claims.outcomes import Left
from claims.transitions.beginning import open_up
from claims.transitions.revising import take_with_graph
from claims.vocabulary import State, Verb


def settle_successors(caller: Caller, lineage_id: UUID) -> None:
    """BLOCKED -> OPEN, or opened -> HELD. After a commit of this lineage, for each that depends on it.

    The successors are locked in taskId order, and what they wait for is counted afresh after that.
    """
    for task_id in kernel.graph.lock_successors(lineage_id):
        seen = kernel.take(caller, task_id)
        if seen is not None:
            _settle(caller, seen)


@kernel.verb(
    Verb.OPEN,
    "BLOCKED -> OPEN",
    "OPEN -> HELD",
    "CLAIMED -> HELD",
    "DELIVERED -> HELD",
    "HELD -> HELD",
    "DONE -> DONE",
)
def settle(caller: Caller, task_id: UUID) -> Left | None:
    """BLOCKED -> OPEN, or opened -> HELD. The consistency sweep repairs what a commit left undone.

    None when there is nothing to repair: on a healthy database that is so.
    """
    seen = take_with_graph(caller, task_id)
    if seen is None:
        return None
    state = _settle(caller, seen)
    return Left(task_id, *state) if state else None


def _settle(caller: Caller, seen: TaskAsRead) -> tuple[State, int] | None:
    """Open, hold or mark one task by its predecessors as they are now; where it is then, if it moved."""
    seen = replace(seen, predecessors=kernel.graph.newest(kernel.graph.edges_of(seen.task.lineage_id)))
    if decide.may_open(seen):
        open_up(caller, seen)
        return State.OPEN, seen.task.state_version + 1
    pinned = Pin.objects.filter(task_id=seen.task.id).values_list("predecessor__lineage_id", "predecessor_id")
    change = decide.outdate(seen, dict(pinned))
    if change is None:
        return None
    advanced = kernel.advance(caller, seen, change)
    return advanced.state, advanced.state_version
