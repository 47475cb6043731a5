"""When a person may answer for an effect that cannot be taken back, and what the answer is bound to.

Promises: an approval is good for exactly the effect, payload, claim, epoch and doubt that the
person saw; neither the owner of the runner nor the preparer of the task can give one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from claims.decide.changes import Change, refuse
from claims.decide.doubts import must_reconcile, own_effect
from claims.decide.ledger import state_now
from claims.decide.rows import EffectRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import ApprovalState, EffectMode, EffectState, Right, State, Verb

SHORTEST_SECONDS, LONGEST_SECONDS = 60, 86_400


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """A person's last answer about one effect."""

    id: UUID
    state: ApprovalState
    payload_digest: str
    claim_generation: int
    scheduler_epoch: int
    doubt: int
    person_id: int
    expires_at: datetime | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What stood on the page when the person answered."""

    payload_digest: str
    claim_generation: int
    scheduler_epoch: int
    doubt: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What is read beside the task: the runner's owner now, and the last answer, if any."""

    runner_owner_id: int | None
    last: ApprovalRow | None = None


def is_approved(seen: TaskAsRead, effect: EffectRow, approval: ApprovalRow | None) -> bool:
    """Whether an approval is granted, has not run out, and is bound to all that is true now."""
    if approval is None or approval.state is not ApprovalState.GRANTED:
        return False
    if approval.expires_at is None or approval.expires_at <= seen.now:
        return False
    bound = (
        approval.payload_digest,
        approval.claim_generation,
        approval.scheduler_epoch,
        approval.doubt,
    )
    return bound == (
        effect.payload_digest,
        seen.task.claim_generation,
        seen.pool.scheduler_epoch,
        effect.doubts,
    )


def approval_required(seen: TaskAsRead, effect: EffectRow, approval: ApprovalRow | None) -> Refused:
    """APPROVAL_REQUIRED, with what an approval has to be bound to, and why the last one will not do."""
    return refuse(
        seen,
        Why.APPROVAL_REQUIRED,
        _why_not(seen, approval),
        effectId=effect.id,
        slot=effect.slot,
        payloadDigest=effect.payload_digest,
        claimGeneration=seen.task.claim_generation,
        schedulerEpoch=seen.pool.scheduler_epoch,
        doubt=effect.doubts,
    )


def approve(
    seen: TaskAsRead, effect_id: str, saw: Seen, expires_in_seconds: int, note: str, standing: Standing
) -> Change | Refused:
    """CLAIMED -> CLAIMED. A person lets one permit be handed out, for a time.

    Refused with NOT_FOUND, NOT_REVIEWER, SELF_REVIEW, MALFORMED, UNPROCESSABLE, STALE_STATE or
    MUST_RECONCILE.
    """
    if not SHORTEST_SECONDS <= expires_in_seconds <= LONGEST_SECONDS:
        return refuse(
            seen,
            Why.MALFORMED,
            f"expiresInSeconds is from {SHORTEST_SECONDS} to {LONGEST_SECONDS}, not {expires_in_seconds}.",
        )
    effect = _may_answer(seen, effect_id, saw.payload_digest, standing)
    if isinstance(effect, Refused):
        return effect
    stale = _is_stale(seen, effect, saw)
    if stale:
        return stale
    if effect.has_happened:
        return must_reconcile(seen, effect)
    until = seen.now + timedelta(seconds=expires_in_seconds)
    body = {
        "payloadDigest": effect.payload_digest,
        "doubt": effect.doubts,
        "expiresAt": until.isoformat(),
        "note": note,
    }
    return _answer(seen, Verb.APPROVE, effect, body)


def turn_down(
    seen: TaskAsRead, effect_id: str, payload_digest: str, note: str, standing: Standing
) -> Change | Refused:
    """CLAIMED -> CLAIMED. A person says that the effect is not to be sent; an approval before it is void."""
    effect = _may_answer(seen, effect_id, payload_digest, standing)
    if isinstance(effect, Refused):
        return effect
    if not note.strip():
        return refuse(seen, Why.UNPROCESSABLE, "Say why; the runner reads it.")
    return _answer(seen, Verb.REFUSE, effect, {"payloadDigest": effect.payload_digest, "note": note})


def revoke(
    seen: TaskAsRead, effect_id: str, note: str, standing: Standing, approval_id: UUID | None = None
) -> Change | Refused:
    """CLAIMED -> CLAIMED. An approval that no permit has consumed yet is taken back.

    ``approval_id`` names the one that was seen; the granted one when absent.
    """
    effect = own_effect(seen, effect_id)
    refused = _may_review(seen, effect, standing)
    if refused or effect is None:
        return refused or Refused(Why.NOT_FOUND)
    last = standing.last
    if last is None or last.state is not ApprovalState.GRANTED or approval_id not in (None, last.id):
        stands = f"the last answer is {last.state}" if last else "nobody has answered"
        return refuse(seen, Why.STALE_STATE, f"There is no such approval to take back: {stands}.")
    if not note.strip():
        return refuse(seen, Why.UNPROCESSABLE, "Say why; the runner reads it.")
    return _answer(seen, Verb.REVOKE, effect, {"approval": str(last.id), "note": note})


def _may_answer(
    seen: TaskAsRead, effect_id: str, payload_digest: str, standing: Standing
) -> EffectRow | Refused:
    """The effect, where this person may answer for it and there is something to answer."""
    effect = own_effect(seen, effect_id)
    refused = _may_review(seen, effect, standing)
    if refused or effect is None:
        return refused or Refused(Why.NOT_FOUND)
    if effect.mode is not EffectMode.NON_REPLAYABLE:
        return refuse(seen, Why.UNPROCESSABLE, f"An effect of mode {effect.mode} needs no approval.")
    if seen.task.state is not State.CLAIMED or seen.is_below_epoch:
        held = (
            "its claim is of an epoch that has ended" if seen.is_below_epoch else f"it is {seen.task.state}"
        )
        return refuse(seen, Why.STALE_STATE, f"Nobody may send this effect now: {held}.")
    if state_now(seen, effect) is not EffectState.PREPARED:
        return refuse(seen, Why.STALE_STATE, f"The effect is {state_now(seen, effect)}, not PREPARED.")
    if payload_digest != effect.payload_digest:
        return refuse(
            seen,
            Why.STALE_STATE,
            "The payload is not the one you saw.",
            payloadDigest=effect.payload_digest,
        )
    return effect


def _may_review(seen: TaskAsRead, effect: EffectRow | None, standing: Standing) -> Refused | None:
    """Right to review, then: neither the runner's owner nor the task's preparer approves."""
    if not seen.person.rights or effect is None:
        return Refused(Why.NOT_FOUND)
    if Right.REVIEWER not in seen.person.rights:
        return refuse(seen, Why.NOT_REVIEWER, "You do not have the right to review in this pool.")
    owners = {standing.runner_owner_id, seen.attempt.owner_id if seen.attempt else None}
    if seen.person.id in owners:
        return refuse(seen, Why.SELF_REVIEW, "You own the agent that would send it; another person decides.")
    if seen.person.id == seen.task.preparer_id:
        return refuse(seen, Why.SELF_REVIEW, "You wrote this task; another person decides.")
    return None


def _is_stale(seen: TaskAsRead, effect: EffectRow, saw: Seen) -> Refused | None:
    """STALE_STATE when the claim, the epoch or the doubt is not the one that was on the page."""
    moved: Sequence[tuple[str, int, int]] = (
        ("schedulerEpoch", saw.scheduler_epoch, seen.pool.scheduler_epoch),
        ("claimGeneration", saw.claim_generation, seen.task.claim_generation),
        ("doubt", saw.doubt, effect.doubts),
    )
    wrong = [f"{name} is {now}, not {posted}" for name, posted, now in moved if posted != now]
    if not wrong:
        return None
    return refuse(
        seen,
        Why.STALE_STATE,
        f"This is not what you saw: {'; '.join(wrong)}.",
        *wrong,
        **{name: now for name, _, now in moved},
    )


def _answer(seen: TaskAsRead, verb: Verb, effect: EffectRow, body: dict[str, object]) -> Change:
    told = {"effectId": effect.id, "slot": effect.slot, **body}
    return Change(verb, seen.task.state, reason=seen.task.reason, body=told)


def _why_not(seen: TaskAsRead, approval: ApprovalRow | None) -> str:
    if approval is None:
        return ""
    if approval.state is ApprovalState.REFUSED:
        return f"A person refused this effect: {approval.note}"[:500]
    if approval.state is ApprovalState.REVOKED:
        return "The approval was taken back; a person has to approve this effect again."
    if approval.state is ApprovalState.GRANTED and approval.expires_at and approval.expires_at <= seen.now:
        return f"The approval ran out at {approval.expires_at:%H:%M:%S UTC}; a person has to approve again."
    return ""
