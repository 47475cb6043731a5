"""Invariants along the edges of a graph: opened once, with results that never change (section 6)."""

from __future__ import annotations

from claims import canonical
from claims.checking.results import as_written
from claims.checking.rows import Found, Life, Told
from claims.vocabulary import State, Verb


def a_task_opens_exactly_once(life: Life) -> Found:
    """Never before its input is pinned, and never again (invariant 10)."""
    opened = _openings(life)
    if len(opened) > 1:
        yield f"{opened[1]} opens the task a second time."
    if bool(opened) != (life.task.input_digest is not None):
        yield f"The task was opened {len(opened)} times, and its input digest is {life.task.input_digest}."


def the_input_digest_is_that_of_the_input_and_its_pins(life: Life) -> Found:
    """The specification that was written, with the results it was opened with (section 1)."""
    if life.input is None:
        yield "The task has no input."
        return
    pins = {pin.node_id: pin.result_digest for pin in life.pins}
    if life.task.input_digest not in (None, canonical.input_digest(as_written(life.input), pins)):
        yield "The input digest is not that of the input and the results it is pinned to."
    for row in _openings(life):
        if row.body.get("inputDigest") != life.task.input_digest:
            yield f"{row} opened the task with another input digest than it has."


def a_pin_is_the_canonical_commit_of_its_predecessor(life: Life) -> Found:
    """For each predecessor one, under its own name (section 6)."""
    wanted = sorted(life.depends_on) if _openings(life) else []
    if sorted((pin.predecessor_lineage, pin.node_id) for pin in life.pins) != wanted:
        yield f"The task depends on {len(life.depends_on)} lineages and is pinned to {len(life.pins)} results."
    for pin in life.pins:
        if pin.committed_digest != pin.result_digest:
            yield f"It is pinned to {pin.result_digest} of T-{pin.predecessor_number}, which is not its canonical result."
    for row in life.rows_of(Verb.OPEN):
        if row.body.get("predecessors") != {pin.node_id: pin.result_digest for pin in life.pins}:
            yield f"{row} opened the task with other results than it is pinned to."


def a_task_opens_when_all_its_predecessors_are_done(life: Life) -> Found:
    """And each was the newest revision of its lineage then (invariant 10).

    By the numbers of the rows, which rise along the locks; no clock is asked.
    """
    for row in _openings(life):
        for pin in life.pins:
            if pin.done_row is None or pin.done_row > row.id:
                yield f"{row} opened the task before T-{pin.predecessor_number} was DONE."
            if pin.next_row is not None and pin.next_row < row.id:
                yield f"{row} opened the task with T-{pin.predecessor_number}, which had a newer revision."


def _openings(life: Life) -> list[Told]:
    return [
        row for row in life.rows if row.to_state == State.OPEN and row.from_state in (None, State.BLOCKED)
    ]


INVARIANTS = (
    a_task_opens_exactly_once,
    the_input_digest_is_that_of_the_input_and_its_pins,
    a_pin_is_the_canonical_commit_of_its_predecessor,
    a_task_opens_when_all_its_predecessors_are_done,
)
