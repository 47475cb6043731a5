"""Invariants of results: at most one canonical commit, and decisions on exactly what was delivered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from claims import canonical
from claims.checking.rows import CommitNow, DeliveryNow, Found, Life, Told
from claims.vocabulary import ActorKind, DecisionKind, DeliveryState, State, Verb

_DECIDING = {
    DecisionKind.ACCEPTED: Verb.ACCEPT,
    DecisionKind.CHANGES_REQUESTED: Verb.REQUEST_CHANGES,
    DecisionKind.REJECTED: Verb.REJECT,
}
_LARGEST = 2**53 - 1


def a_task_is_committed_at_most_once(life: Life) -> Found:
    """A DONE task has one canonical commit, any other has none (invariant 2)."""
    if len(life.commits) != (life.task.state == State.DONE):
        yield f"The task is {life.task.state} and has {len(life.commits)} canonical commits."
    made = life.rows_of(Verb.COMMIT, Verb.ACCEPT)
    if len(made) > 1:
        yield f"{made[1]} commits the task a second time."


def the_canonical_commit_is_what_history_says(life: Life) -> Found:
    """Its id, its attempt and its result digest, as the committing row has them (invariant 2)."""
    for commit in life.commits:
        row = next(iter(life.rows_of(Verb.COMMIT, Verb.ACCEPT)), None)
        if row is None:
            yield "The task has a canonical commit of which the history knows nothing."
            continue
        yield from _differs(row, "commit", row.body.get("commit"), str(commit.commit_id))
        yield from _differs(row, "result digest", row.body.get("resultDigest"), commit.result_digest)
        yield from _differs(row, "attempt", row.attempt_id, commit.attempt_id)
        yield from _differs(row, "fence", row.validated, commit.fence)


def the_committed_result_was_staged_by_its_attempt(life: Life) -> Found:
    """In time, and its bytes are those of the digest (invariants 6 and 11)."""
    for commit in life.commits:
        yield from _not_staged(life, commit)
    for delivery in life.deliveries:
        yield from _not_staged(life, delivery)


def deliveries_are_numbered_by_round(life: Life) -> Found:
    """From one, without a gap, each with the row that handed it in."""
    for expected, delivery in enumerate(life.deliveries, 1):
        if delivery.round != expected:
            yield f"Round {expected} is missing: the next delivery is round {delivery.round}."
            return
    told = {row.body.get("delivery"): row for row in life.rows_of(Verb.DELIVER)}
    for delivery in life.deliveries:
        row = told.get(str(delivery.id))
        if row is None:
            yield f"Round {delivery.round} was delivered by no row of the history."
            continue
        yield from _differs(row, "round", row.body.get("round"), delivery.round)
        yield from _differs(row, "result digest", row.body.get("resultDigest"), delivery.result_digest)
        yield from _differs(row, "attempt", row.attempt_id, delivery.attempt_id)
        yield from _differs(row, "fence", row.validated, delivery.fence)
    if len(told) != len(life.deliveries):
        yield f"The history tells of {len(told)} deliveries; there are {len(life.deliveries)}."


def a_delivery_is_for_the_pinned_input(life: Life) -> Found:
    """COMMITTED only with the pinned input digest (invariant 6)."""
    for delivery in life.deliveries:
        if delivery.input_digest != life.task.input_digest:
            yield f"Round {delivery.round} was delivered for the input {delivery.input_digest}, not the task's."


def the_subject_of_a_delivery_is_its_own(life: Life) -> Found:
    """The subject digest, computed again from what it names (section 1)."""
    for delivery in life.deliveries:
        if subject_of(delivery) != delivery.subject_digest:
            yield f"The subject digest of round {delivery.round} is not that of what was delivered."


def a_delivery_is_decided_at_most_once(life: Life) -> Found:
    """One final decision, which its state, its row and its reviewer agree with (invariant 11)."""
    by_id = {delivery.id: delivery for delivery in life.deliveries}
    decided = [decision.delivery_id for decision in life.decisions]
    for delivery in life.deliveries:
        if decided.count(delivery.id) != (delivery.state in _DECIDING):
            yield f"Round {delivery.round} is {delivery.state} and has {decided.count(delivery.id)} decisions."
    for decision in life.decisions:
        delivery = by_id[decision.delivery_id]
        if delivery.state != decision.kind:
            yield f"Round {delivery.round} is {delivery.state}; its decision says {decision.kind}."
        row = _decided_by(life, delivery)
        if row is None:
            yield f"Round {delivery.round} was decided by no row of the history."
        elif (row.verb, row.actor_kind, row.actor_id) != (
            _DECIDING[DecisionKind(decision.kind)],
            ActorKind.PERSON,
            decision.reviewer_id,
        ):
            yield f"{row} is not the decision {decision.kind} of round {delivery.round} by its reviewer."


def a_decision_is_about_what_was_delivered(life: Life) -> Found:
    """It repeats the delivery's subject digest: immutable bytes (invariant 11)."""
    by_id = {delivery.id: delivery for delivery in life.deliveries}
    for decision in life.decisions:
        delivery = by_id[decision.delivery_id]
        if decision.subject_digest != delivery.subject_digest:
            yield f"The decision on round {delivery.round} is about another subject than was delivered."


def a_maker_decides_nothing(life: Life) -> Found:
    """Neither owner at the grant nor at the decision, unless it is marked for ever (invariant 11)."""
    by_id = {delivery.id: delivery for delivery in life.deliveries}
    for decision in life.decisions:
        delivery = by_id[decision.delivery_id]
        is_maker = decision.reviewer_id in {*decision.makers, *delivery.makers}
        if is_maker and "SELF_REVIEW" not in decision.marks:
            yield f"Round {delivery.round} was decided by one of its makers, and is not marked SELF_REVIEW."


def the_owner_at_the_grant_is_a_maker(life: Life) -> Found:
    """So is who owned the attempt that was delivered (section 4)."""
    for delivery in life.deliveries:
        attempt = life.attempts.get(delivery.attempt_id)
        if attempt and attempt.owner_id not in delivery.makers:
            yield f"Round {delivery.round} does not name the owner of its attempt among its makers."
        if attempt and attempt.agent_id != delivery.agent_id:
            yield f"Round {delivery.round} names another agent than its attempt has."


def the_delivery_that_was_accepted_is_the_commit(life: Life) -> Found:
    """Accepting runs the very same commit, with the delivered attempt's fence (section 4)."""
    accepted = [delivery for delivery in life.deliveries if delivery.state == DeliveryState.ACCEPTED]
    by_commit = [commit.delivery_id for commit in life.commits if commit.delivery_id]
    if [delivery.id for delivery in accepted] != by_commit:
        yield f"{len(accepted)} deliveries were accepted; the canonical commit is not theirs."
        return
    for delivery, commit in zip(accepted, life.commits, strict=False):
        same = (delivery.attempt_id, delivery.result_digest, delivery.fence)
        if (commit.attempt_id, commit.result_digest, commit.fence) != same:
            yield f"The canonical commit is not what round {delivery.round} delivered."


def one_delivery_waits_while_the_task_is_delivered(life: Life) -> Found:
    """A delivery is pending exactly while its task waits for a decision on it."""
    waiting = [delivery.id for delivery in life.deliveries if delivery.state == DeliveryState.PENDING]
    current: list[UUID | None] = [life.task.delivery_id] if life.task.state == State.DELIVERED else []
    if waiting != current:
        yield f"The task is {life.task.state} and {len(waiting)} deliveries wait for a decision."


def subject_of(delivery: DeliveryNow) -> str:
    """The subject digest of a delivery, computed again."""
    return canonical.subject_digest(
        canonical.Subject(
            delivery_id=delivery.id,
            round=delivery.round,
            input_digest=delivery.input_digest,
            result_digest=delivery.result_digest,
            attempt_id=delivery.attempt_id,
            claim_generation=delivery.claim_generation,
            scheduler_epoch=delivery.scheduler_epoch,
        )
    )


def as_written(value: Any) -> Any:
    """A stored JSON value as it was sent: PostgreSQL writes a large float as a long integer."""
    if isinstance(value, Mapping):
        return {name: as_written(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_written(each) for each in value]
    if isinstance(value, int) and abs(value) > _LARGEST:
        return float(value)
    return value


def _not_staged(life: Life, handed_in: CommitNow | DeliveryNow) -> Found:
    digest, attempt_id = handed_in.result_digest, handed_in.attempt_id
    staged = [one for one in life.staged if (one.attempt_id, one.result_digest) == (attempt_id, digest)]
    if not any(not one.late for one in staged):
        yield f"The result {digest} was never staged in time by the attempt {attempt_id}."
    for one in staged:
        if canonical.digest(as_written({"evidence": one.evidence, "result": one.result})) != digest:
            yield f"The result staged as {digest} has another digest."


def _decided_by(life: Life, delivery: DeliveryNow) -> Told | None:
    rows = life.rows_of(*_DECIDING.values())
    return next((row for row in rows if row.body.get("delivery") == str(delivery.id)), None)


def _differs(row: Told, name: str, told: object, stored: object) -> Found:
    if told != stored:
        yield f"{row} tells of {name} {told}; stored is {stored}."


INVARIANTS = (
    a_task_is_committed_at_most_once,
    the_canonical_commit_is_what_history_says,
    the_committed_result_was_staged_by_its_attempt,
    deliveries_are_numbered_by_round,
    a_delivery_is_for_the_pinned_input,
    the_subject_of_a_delivery_is_its_own,
    a_delivery_is_decided_at_most_once,
    a_decision_is_about_what_was_delivered,
    a_maker_decides_nothing,
    the_owner_at_the_grant_is_a_maker,
    the_delivery_that_was_accepted_is_the_commit,
    one_delivery_waits_while_the_task_is_delivered,
)
