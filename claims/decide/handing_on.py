"""Whose turn it is to decide a delivery, handed on by the one whose turn it was (claim.v1 sections 1 and 4)."""

from __future__ import annotations

from claims.decide.changes import Change, refuse
from claims.decide.deciding import is_deputy, is_stepping_in
from claims.decide.rows import DeliveryRow, PersonRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import DeliveryState, Right, Verb

LONGEST_REASON = 2_000


def hand_on(
    seen: TaskAsRead, delivery: DeliveryRow, subject_digest: str, to: PersonRow, name: str, reason: str
) -> Change | Refused:
    """No change of state: the task's reviewer becomes ``to``, a scheduling attribute like any other.

    ``name`` is what history calls that person: the one they sign in with.

    Only by whom the delivery waits for: the named reviewer, their deputy, the group, or any reviewer
    where nobody is named. Who made it may hand it on, for they cannot decide it; never to who made it.
    """
    if not seen.person.rights:
        return Refused(Why.NOT_FOUND)
    if Right.REVIEWER not in seen.person.rights:
        return refuse(seen, Why.NOT_REVIEWER, "You do not have the right to review in this pool.")
    if delivery.state is not DeliveryState.PENDING:
        return refuse(seen, Why.ALREADY_DECIDED, "This delivery waits for nobody any more.")
    if is_stepping_in(seen) and not is_deputy(seen):
        return refuse(seen, Why.NOT_REVIEWER, "It waits for another person, so it is not yours to hand on.")
    if seen.task.delivery_id != delivery.id or subject_digest != delivery.subject_digest:
        return refuse(seen, Why.STALE_DELIVERY, subjectDigest=delivery.subject_digest)
    flaw = _flaw(seen, delivery, to, reason)
    if flaw:
        return refuse(seen, Why.UNPROCESSABLE, flaw)
    return Change(
        Verb.ADJUST,
        seen.task.state,
        reason=seen.task.reason,
        columns={"reviewer_id": to.id},
        body={
            "changed": {"reviewer_id": [seen.task.reviewer_id, to.id]},
            "handedOn": {"delivery": str(delivery.id), "to": name},
            "round": delivery.round,
            "reason": reason.strip(),
        },
    )


def _flaw(seen: TaskAsRead, delivery: DeliveryRow, to: PersonRow, reason: str) -> str:
    """What speaks against this person or this reason; empty when nothing does."""
    if not reason.strip() or len(reason) > LONGEST_REASON:
        return f"Say why it is handed on, in at most {LONGEST_REASON} characters."
    if to.id in (seen.person.id, seen.task.reviewer_id):
        return "It waits for that person already; choose another."
    if Right.REVIEWER not in to.rights:
        return "That person may not review in this pool; choose another."
    if to.id in delivery.makers:
        return "An agent of that person made this delivery: maker is not checker. Choose another."
    return ""
