"""Invariants of the history of one task: whole, in order, along the edges, with rising generations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from claims.canonical import NotCanonical
from claims.checking.rows import Found, Life, Told
from claims.kernel.writing import GENESIS, chain
from claims.vocabulary import State, Verb


def versions_run_from_one_without_a_gap(life: Life) -> Found:
    """One row for each change (invariant 13)."""
    yield from gap_in(life.rows)
    if len(life.rows) < life.task.state_version:
        yield f"Version {len(life.rows) + 1} is missing: the history ends before the task does."
    if len(life.rows) > life.task.state_version:
        yield f"The history goes on to version {len(life.rows)}; the task is at {life.task.state_version}."


def gap_in(rows: Sequence[Told]) -> Found:
    """The first version that is not there."""
    for expected, row in enumerate(rows, 1):
        if row.state_version != expected:
            yield f"Version {expected} is missing: the next row is version {row.state_version}."
            return


def every_row_is_hashed_with_the_row_before_it(life: Life) -> Found:
    """The chain verifies (invariant 13)."""
    yield from broken_link_in(life.rows)


def broken_link_in(rows: Sequence[Told]) -> Found:
    """The first row whose hash is not that of what it says and of the row before it."""
    previous = GENESIS
    for row in rows:
        if _hash_of(row, previous) != row.hash:
            yield f"Version {row.state_version} is not what was written, or does not follow from the row before it."
            return
        previous = row.hash


def _hash_of(row: Told, previous: bytes) -> bytes | None:
    """None for a row that has no canonical form: nothing that was written is like that."""
    try:
        return chain(previous, line(row))
    except NotCanonical:
        return None


def the_task_names_the_last_row_of_its_history(life: Life) -> Found:
    """Rows cut off at the end are missed, too (invariant 13)."""
    if life.rows and life.rows[-1].hash != life.task.history_hash:
        yield "The task does not name the last row of its history."


def every_row_is_an_edge_of_the_contract(life: Life) -> Found:
    """Section 2: there are no other changes."""
    for row in life.rows:
        if row.edge is None:
            yield f"{row} goes from {row.from_state or 'nothing'} to {row.to_state}, which is no edge."


def every_row_begins_where_the_one_before_ended(life: Life) -> Found:
    """No state is skipped, and only the first row begins from nothing."""
    for row in life.rows[:1]:
        if row.from_state is not None:
            yield f"{row} is the first row and begins in {row.from_state}."
    for before, row in life.steps:
        if row.from_state != before.to_state:
            yield f"{row} begins in {row.from_state}, where the row before it ended in {before.to_state}."


def the_generation_rises_exactly_where_the_edges_say(life: Life) -> Found:
    """At every grant and every loss of authority, by one, and nowhere else (invariant 3)."""
    carried = life.before.claim_generation if life.before else 0
    for row in life.rows[:1]:
        if row.claim_generation != carried:
            yield f"{row} begins at claim generation {row.claim_generation}; the lineage was at {carried}."
    for before, row in life.steps:
        raises = row.edge is not None and row.edge.raises
        if row.claim_generation != before.claim_generation + raises:
            told = "must raise it by one" if raises else "must leave it alone"
            yield f"{row} takes the claim generation from {before.claim_generation} to {row.claim_generation}; it {told}."


def the_cancel_generation_rises_at_a_cancel_and_nowhere_else(life: Life) -> Found:
    """By one, carried on through the lineage (section 1)."""
    generation = life.before.cancel_generation if life.before else 0
    for row in life.rows_of(Verb.CANCEL):
        generation += 1
        if row.body.get("cancelGeneration") != generation:
            yield f"{row} tells the cancel generation {row.body.get('cancelGeneration')}; it must be {generation}."
    if life.task.cancel_generation != generation:
        yield f"The task is at cancel generation {life.task.cancel_generation}; its history leads to {generation}."


def after_a_cancel_nothing_is_accepted(life: Life) -> Found:
    """Nothing that carries a fence, and no commit (invariant 5)."""
    is_cancelled = False
    for row in life.rows:
        if is_cancelled and (row.validated is not None or row.to_state == State.DONE):
            yield f"{row} was accepted after the cancel."
        is_cancelled = is_cancelled or row.verb == Verb.CANCEL


def line(row: Told) -> Mapping[str, object]:
    """What the hash of a row is taken of, as ``kernel`` writes it."""
    return {
        "taskId": str(row.task_id),
        "stateVersion": row.state_version,
        "verb": row.verb,
        "from": row.from_state,
        "to": row.to_state,
        "claimGeneration": row.claim_generation,
        "attemptId": str(row.attempt_id) if row.attempt_id else None,
        "actor": [row.actor_kind, row.actor_id, row.actor_name],
        "source": row.source,
        "requestId": row.request_id,
        "at": row.at.isoformat(timespec="microseconds"),
        "body": row.body,
        "validated": row.validated,
    }


INVARIANTS = (
    versions_run_from_one_without_a_gap,
    every_row_is_hashed_with_the_row_before_it,
    the_task_names_the_last_row_of_its_history,
    every_row_begins_where_the_one_before_ended,
    every_row_is_an_edge_of_the_contract,
    the_generation_rises_exactly_where_the_edges_say,
    the_cancel_generation_rises_at_a_cancel_and_nowhere_else,
    after_a_cancel_nothing_is_accepted,
)
