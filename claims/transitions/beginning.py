"""The first row of a task or of its next revision, and the write that opens one that was blocked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from claims import canonical, decide, kernel
from claims.callers import Caller
from claims.decide.rows import Predecessor, TaskAsRead
from claims.inputs import parse_input
from claims.models import Pin, Task, TaskInput
from claims.outcomes import CreatedTask
from claims.vocabulary import State, Verb


@dataclass(frozen=True, slots=True)
class Beginning:
    """All that a new row is made of. ``attributes`` are further columns, under their own names."""

    task_id: UUID
    number: int
    pool_id: int
    pool_name: str
    title: str
    input: Mapping[str, object]
    at: datetime
    verb: Verb = Verb.CREATE
    node_id: str = ""
    lineage_id: UUID | None = None
    revision: int = 1
    claim_generation: int = 0
    cancel_generation: int = 0
    predecessors: tuple[Predecessor, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether nothing has to be waited for."""
        return all(one.state is State.DONE for one in self.predecessors)


def begin(caller: Caller, new: Beginning) -> CreatedTask:
    """Write a new row, OPEN and pinned, or BLOCKED by the predecessors that are not DONE."""
    state = State.OPEN if new.is_open else State.BLOCKED
    digest = pinned_digest(new.input, new.predecessors) if new.is_open else None
    specification = parse_input(new.input)
    head = kernel.found(
        caller, new.pool_id, new.task_id, new.at, state, _told(new, digest), new.verb, new.claim_generation
    )
    lineage_id = new.lineage_id or new.task_id
    TaskInput.objects.create(
        task_id=new.task_id, number=new.number, lineage_id=lineage_id, revision=new.revision, body=new.input
    )
    Task.objects.create(
        id=new.task_id,
        number=new.number,
        pool_id=new.pool_id,
        lineage_id=lineage_id,
        revision=new.revision,
        node_id=new.node_id,
        title=new.title,
        state=state.value,
        state_since=new.at,
        reason="" if new.is_open else _waits(new.predecessors),
        input_digest=digest,
        access=list(specification.access),
        declares_effects=bool(specification.effects),
        claim_generation=new.claim_generation,
        cancel_generation=new.cancel_generation,
        history_hash=head,
        created_at=new.at,
        **new.attributes,
    )
    if new.is_open:
        keep_pins(new.task_id, new.predecessors)
    return CreatedTask(new.task_id, new.number, new.node_id, state, 1, digest)


def open_up(caller: Caller, seen: TaskAsRead) -> None:
    """BLOCKED -> OPEN. Pin the results and open the task; its predecessors are locked or final."""
    body = TaskInput.objects.values_list("body", flat=True).get(task_id=seen.task.id)
    change = decide.open_up(seen, pinned_digest(body, seen.predecessors))
    keep_pins(seen.task.id, seen.predecessors)
    kernel.advance(caller, seen, change)


def pinned_digest(body: Mapping[str, object], predecessors: tuple[Predecessor, ...]) -> str:
    """The input digest: the input, and the result digest of each predecessor under its name."""
    return canonical.input_digest(body, {one.node_id: one.result_digest or "" for one in predecessors})


def keep_pins(task_id: UUID, predecessors: tuple[Predecessor, ...]) -> None:
    """Which result of which predecessor the task was opened with."""
    Pin.objects.bulk_create(
        Pin(
            task_id=task_id,
            node_id=one.node_id,
            predecessor_id=one.task_id,
            result_digest=one.result_digest or "",
        )
        for one in predecessors
    )


def _waits(predecessors: tuple[Predecessor, ...]) -> str:
    said = decide.blocked_by(predecessors)
    return (said[:1].upper() + said[1:])[:500]


def _told(new: Beginning, digest: str | None) -> dict[str, object]:
    told: dict[str, object] = {
        "number": new.number,
        "title": new.title,
        "inputDigest": digest,
        "pool": new.pool_name,
    }
    if new.predecessors:
        told["dependsOn"] = [one.node_id for one in new.predecessors]
    if new.revision > 1:
        told |= {
            "revision": new.revision,
            "lineage": str(new.lineage_id),
            "cancelGeneration": new.cancel_generation,
        }
    return told
