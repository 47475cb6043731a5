"""Invariants of authority: one winner for each generation, and nothing accepted from anybody else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from uuid import UUID

from claims.checking.rows import AttemptNow, Found, Life, Told
from claims.vocabulary import FENCED_VERBS, State, Verb

CLAIMS = (Verb.CLAIM, Verb.CLAIM_NEXT)
_FENCED = frozenset(FENCED_VERBS) - frozenset(CLAIMS)


def is_fenced(row: Told) -> bool:
    """Whether the row is what a fence that was presented did."""
    return row.verb in _FENCED or (row.verb == Verb.RECONCILE and row.is_of_an_agent)


def one_attempt_wins_each_generation(life: Life) -> Found:
    """Whatever the index says: no two attempts of a task have one generation (invariant 1)."""
    for generation, number in Counter(one.claim_generation for one in life.attempts.values()).items():
        if number > 1:
            yield f"{number} attempts were granted claim generation {generation}."


def every_grant_made_exactly_one_attempt(life: Life) -> Found:
    """A row that grants names its attempt, and no attempt is there that no row granted."""
    granted = Counter(row.attempt_id for row in life.rows if row.grants)
    for row in life.rows:
        if row.grants and row.attempt_id not in life.attempts:
            yield f"{row} granted the attempt {row.attempt_id}, which is not there."
    for attempt in life.attempts.values():
        if granted[attempt.id] != 1:
            yield f"The attempt {attempt.id} was granted by {granted[attempt.id]} rows of the history."


def an_attempt_is_what_its_grant_says(life: Life) -> Found:
    """Runner, epoch, generation, version and whether it is counted, as the granting row has them."""
    for row, attempt in _grants(life):
        told = {
            "claim generation": (row.claim_generation, attempt.claim_generation),
            "state version": (row.state_version, attempt.granted_version),
            "scheduler epoch": (row.body.get("schedulerEpoch"), attempt.scheduler_epoch),
            "runner": (row.body.get("runner"), attempt.agent_name),
            "counting": (row.body.get("counted", True), attempt.is_counted),
        }
        if row.verb in CLAIMS:
            told["agent"] = (row.actor_id, attempt.agent_id)
        for name, (by_row, by_attempt) in told.items():
            if by_row != by_attempt:
                yield f"{row} granted {name} {by_row}; its attempt has {by_attempt}."


def an_attempt_has_the_cancel_generation_of_its_grant(life: Life) -> Found:
    """The fence that was granted names the cancel generation of then (section 1)."""
    for row, cancelled in _with_cancel_generation(life):
        attempt = life.attempts.get(row.attempt_id) if row.grants and row.attempt_id else None
        if attempt and attempt.cancel_generation != cancelled:
            yield f"{row} granted cancel generation {cancelled}; its attempt has {attempt.cancel_generation}."


def a_claim_was_compared_with_what_was_current(life: Life) -> Found:
    """Epoch of the grant, generation and cancel generation before it."""
    cancelled = dict(_numbers_before(life))
    for row, attempt in _grants(life):
        if row.verb not in CLAIMS:
            continue
        current = f"{attempt.scheduler_epoch}.{row.claim_generation - 1}.{cancelled[row.state_version]}"
        if row.validated != current:
            yield f"{row} was compared with {row.validated}; current was {current}."


def what_a_fence_accepted_is_what_its_attempt_was_granted(life: Life) -> Found:
    """The comparison found the fence of the attempt that the row names, and nothing else."""
    for row in life.rows:
        if not is_fenced(row):
            continue
        attempt = life.attempts.get(row.attempt_id) if row.attempt_id else None
        if attempt is None:
            yield f"{row} was accepted from no attempt that was ever granted."
        elif row.validated != attempt.granted:
            yield f"{row} was compared with {row.validated}; its attempt was granted {attempt.granted}."


def nothing_is_accepted_from_a_generation_that_is_not_current(life: Life) -> Found:
    """What was compared is what was current just before the row (invariants 1 and 3)."""
    cancelled = dict(_numbers_before(life))
    for before, row in life.steps:
        if not is_fenced(row) or row.validated is None:
            continue
        current = f".{before.claim_generation}.{cancelled[row.state_version]}"
        if not row.validated.endswith(current):
            yield f"{row} was accepted under {row.validated}, when generation{current} was current."


def only_the_holder_of_the_claim_is_accepted(life: Life) -> Found:
    """The attempt of an accepted row is the one that was granted last (invariant 1)."""
    holder: UUID | None = None
    for row in life.rows:
        if row.grants:
            holder = row.attempt_id
        elif is_fenced(row) and row.attempt_id != holder:
            yield f"{row} was accepted from the attempt {row.attempt_id}; {holder} held the task."


def nothing_is_accepted_below_the_pools_epoch(life: Life) -> Found:
    """By the pool's own events and the database's clock (invariant 4)."""
    for row in life.rows:
        number = (row.validated or "").partition(".")[0]
        if not number.isdecimal():
            continue
        epoch, current = int(number), life.pool.epoch_at(row.at)
        if epoch < current:
            yield f"{row} was accepted under epoch {epoch}, when the pool was at epoch {current}."
        if epoch > life.pool.scheduler_epoch:
            yield f"{row} was accepted under epoch {epoch}; the pool has only come to {life.pool.scheduler_epoch}."


def nothing_is_granted_while_the_gate_is_closed(life: Life) -> Found:
    """By the pool's own events and the database's clock (invariant 16)."""
    for row in life.rows:
        if row.grants and life.pool.is_shut_at(row.at):
            yield f"{row} granted a claim while the pool's gate was DRAINING."


def what_is_accepted_beside_history_is_what_was_granted(life: Life) -> Found:
    """Results, files, tool calls, progress and renewals, each with its own attempt's fence."""
    for one in life.accepted:
        granted = life.attempts[one.attempt_id].granted
        if one.validated != granted:
            yield f"A {one.what} of the attempt {one.attempt_id} was compared with {one.validated}; it was granted {granted}."
    for attempt in life.attempts.values():
        if attempt.noted_under not in (None, attempt.granted):
            yield f"Progress of the attempt {attempt.id} was compared with {attempt.noted_under}; it was granted {attempt.granted}."
    for lease in life.leases:
        holder = life.attempts.get(lease.attempt_id)
        if holder and lease.renewed_under not in (None, holder.granted):
            yield f"A renewal was compared with {lease.renewed_under}; the attempt was granted {holder.granted}."


def a_lease_stands_for_each_claim_and_for_nothing_else(life: Life) -> Found:
    """One lease while CLAIMED, of the attempt that holds the task (section 2)."""
    is_claimed = life.task.state == State.CLAIMED
    if len(life.leases) != is_claimed:
        yield f"The task is {life.task.state} and has {len(life.leases)} leases."
    for lease in life.leases:
        held = (life.task.attempt_id, life.task.runner_id, life.task.claim_generation)
        if (lease.attempt_id, lease.agent_id, lease.claim_generation) != held:
            yield f"The lease is of the attempt {lease.attempt_id}, generation {lease.claim_generation}; the task is not."


def _grants(life: Life) -> Iterator[tuple[Told, AttemptNow]]:
    for row in life.rows:
        attempt = life.attempts.get(row.attempt_id) if row.grants and row.attempt_id else None
        if attempt:
            yield row, attempt


def _with_cancel_generation(life: Life) -> Iterator[tuple[Told, int]]:
    """Each row with the cancel generation that was current when it came."""
    generation = life.before.cancel_generation if life.before else 0
    for row in life.rows:
        yield row, generation
        generation += row.verb == Verb.CANCEL


def _numbers_before(life: Life) -> Iterator[tuple[int, int]]:
    return ((row.state_version, cancelled) for row, cancelled in _with_cancel_generation(life))


INVARIANTS = (
    one_attempt_wins_each_generation,
    every_grant_made_exactly_one_attempt,
    an_attempt_is_what_its_grant_says,
    an_attempt_has_the_cancel_generation_of_its_grant,
    a_claim_was_compared_with_what_was_current,
    only_the_holder_of_the_claim_is_accepted,
    what_a_fence_accepted_is_what_its_attempt_was_granted,
    nothing_is_accepted_from_a_generation_that_is_not_current,
    nothing_is_accepted_below_the_pools_epoch,
    nothing_is_granted_while_the_gate_is_closed,
    what_is_accepted_beside_history_is_what_was_granted,
    a_lease_stands_for_each_claim_and_for_nothing_else,
)
