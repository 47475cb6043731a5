"""What reviewers decide: one final decision for each delivery, on exactly what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from claims import decide, kernel, selectors
from claims.callers import Caller
from claims.comments import flaw_of
from claims.decide.rows import DeliveryRow, TaskAsRead
from claims.inputs import parse_input
from claims.models import CanonicalCommit, Decision, Delivery
from claims.models.columns import new_id
from claims.outcomes import Committed, Decided, Refused, Why
from claims.transitions.opening import settle_successors
from claims.vocabulary import DecisionKind, DeliveryState, Verb

Comments = Sequence[dict[str, object]]
"""What is said about places of the evidence, each in the shape of ``claims.comments``."""


@kernel.verb(Verb.ACCEPT, "DELIVERED -> DONE")
def accept(
    caller: Caller, delivery_id: UUID, judgement: decide.Judgement, comments: Comments = ()
) -> Committed | Refused:
    """DELIVERED -> DONE. A person has seen the evidence and accepts it: the canonical commit.

    Refused with NOT_REVIEWER, SELF_REVIEW, ALREADY_DECIDED, STALE_DELIVERY, then as for the
    delivered attempt's fence, then CRITERIA_UNMET or SCOPE_VIOLATION.
    """
    taken = _take(caller, delivery_id)
    if taken is None:
        return Refused(Why.NOT_FOUND)
    flaw = flaw_of(comments)
    if flaw:
        return Refused(Why.MALFORMED, flaw)
    seen, delivery = taken
    commit_id = new_id()
    specification = parse_input(selectors.specification_of(seen.task.id))
    change = decide.accept(seen, delivery, judgement, specification, commit_id)
    if isinstance(change, Refused):
        return change

    _record(caller, seen, delivery, DecisionKind.ACCEPTED, judgement, comments)
    CanonicalCommit.objects.create(
        commit_id=commit_id,
        task_id=seen.task.id,
        attempt_id=delivery.attempt_id,
        delivery_id=delivery.id,
        claim_generation=delivery.claim_generation,
        scheduler_epoch=delivery.scheduler_epoch,
        cancel_generation=delivery.cancel_generation,
        result_digest=delivery.result_digest,
        reviewer_id=caller.actor.id,
        committed_at=seen.now,
    )
    advanced = kernel.advance(caller, seen, change)
    settle_successors(caller, seen.task.lineage_id)
    return Committed(commit_id, seen.task.id, delivery.result_digest, advanced.state_version)


@kernel.verb(Verb.REQUEST_CHANGES, "DELIVERED -> CLAIMED", "DELIVERED -> OPEN", "DELIVERED -> HELD")
def request_changes(
    caller: Caller, delivery_id: UUID, judgement: decide.Judgement, comments: Comments = ()
) -> Decided | Refused:
    """DELIVERED -> CLAIMED, DELIVERED -> OPEN. The same runner makes another round of it.

    Goes to OPEN, with that runner preferred, when it is disabled, lacks a label, or the gate
    is DRAINING. Allowed on a delivery of an old epoch.
    """
    taken = _take(caller, delivery_id, is_grant=True)
    if taken is None:
        return Refused(Why.NOT_FOUND)
    flaw = flaw_of(comments)
    if flaw:
        return Refused(Why.MALFORMED, flaw)
    seen, delivery = taken
    change = decide.request_changes(seen, delivery, judgement)
    if isinstance(change, Refused):
        return change

    _record(caller, seen, delivery, DecisionKind.CHANGES_REQUESTED, judgement, comments)
    advanced = kernel.advance(caller, seen, change)
    next_attempt = advanced.fence.attempt_id if advanced.fence else None
    return Decided(
        delivery.id, DecisionKind.CHANGES_REQUESTED, advanced.state, advanced.state_version, next_attempt
    )


@kernel.verb(Verb.REJECT, "DELIVERED -> OPEN", "DELIVERED -> HELD")
def reject(
    caller: Caller, delivery_id: UUID, judgement: decide.Judgement, comments: Comments = ()
) -> Decided | Refused:
    """DELIVERED -> OPEN, DELIVERED -> HELD. The result is not wanted; the task starts over."""
    taken = _take(caller, delivery_id)
    if taken is None:
        return Refused(Why.NOT_FOUND)
    flaw = flaw_of(comments)
    if flaw:
        return Refused(Why.MALFORMED, flaw)
    seen, delivery = taken
    change = decide.reject(seen, delivery, judgement)
    if isinstance(change, Refused):
        return change

    _record(caller, seen, delivery, DecisionKind.REJECTED, judgement, comments)
    advanced = kernel.advance(caller, seen, change)
    return Decided(delivery.id, DecisionKind.REJECTED, advanced.state, advanced.state_version)


def _take(
    caller: Caller, delivery_id: UUID, *, is_grant: bool = False
) -> tuple[TaskAsRead, DeliveryRow] | None:
    """The delivery's task under its lock, and the delivery as it is under that lock.

    None for a caller with a token: no token of any kind can decide (claim.v1 section 8).
    """
    subject = Delivery.objects.filter(id=delivery_id).values("task_id", "agent_id").first()
    if subject is None or not caller.is_at_hand:
        return None
    seen = kernel.take(caller, subject["task_id"], grant_to=subject["agent_id"] if is_grant else None)
    delivery = kernel.read_delivery(delivery_id)
    return (seen, delivery) if seen and delivery else None


def _record(
    caller: Caller,
    seen: TaskAsRead,
    delivery: DeliveryRow,
    kind: DecisionKind,
    judgement: decide.Judgement,
    comments: Comments,
) -> None:
    Decision.objects.create(
        delivery_id=delivery.id,
        kind=kind.value,
        reviewer_id=caller.actor.id,
        subject_digest=judgement.subject_digest,
        verdicts={
            str(number): {"verdict": given.verdict.value, "note": given.note}
            for number, given in judgement.verdicts.items()
        },
        comments=list(comments),
        note=judgement.note,
        reason=judgement.reason,
        marks=decide.marks(seen, delivery),
        makers=sorted(delivery.makers),
        decided_at=seen.now,
    )
    Delivery.objects.filter(id=delivery.id).update(state=DeliveryState[kind.name].value, closed_at=seen.now)
