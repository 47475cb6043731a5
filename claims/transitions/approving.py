"""What persons answer about effects that cannot be taken back. No token of any kind can do it."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from claims import decide, kernel
from claims.callers import Caller
from claims.decide import Change
from claims.decide.rows import TaskAsRead
from claims.models import Agent, Approval
from claims.models.columns import new_id
from claims.outcomes import Approved, Refused, Why
from claims.transitions.effects import end_approval, last_approval, take_of
from claims.transitions.payloads import flaw_of_words
from claims.vocabulary import ApprovalState, State, Verb

USUAL_SECONDS = 3_600


@kernel.verb(Verb.APPROVE, "CLAIMED -> CLAIMED")
def approve(
    caller: Caller,
    effect_id: str,
    payload_digest: str,
    claim_generation: int,
    scheduler_epoch: int,
    doubt: int,
    expires_in_seconds: int = USUAL_SECONDS,
    note: str = "",
) -> Approved | Refused:
    """CLAIMED -> CLAIMED. A person lets one permit for this very payload be handed out to this claim.

    Posts what was seen; holds for 60 to 86,400 seconds, for one permit, while the claim stands.
    Refused with NOT_FOUND, NOT_REVIEWER, SELF_REVIEW, UNPROCESSABLE, STALE_STATE or MUST_RECONCILE.
    """
    seen = _take(caller, effect_id, note)
    if isinstance(seen, Refused):
        return seen
    saw = decide.Seen(payload_digest, claim_generation, scheduler_epoch, doubt)
    change = decide.approve(seen, effect_id, saw, expires_in_seconds, note, _standing(seen, effect_id))
    if isinstance(change, Refused):
        return change

    until = seen.now + timedelta(seconds=expires_in_seconds)
    end_approval(effect_id, seen, ApprovalState.VOID)
    return _answer(caller, seen, change, effect_id, note, until)


@kernel.verb(Verb.REFUSE, "CLAIMED -> CLAIMED")
def refuse(caller: Caller, effect_id: str, payload_digest: str, note: str) -> Approved | Refused:
    """CLAIMED -> CLAIMED. A person says that this payload is not to be sent, and why.

    An approval given before is void. Refused as ``approve`` is.
    """
    seen = _take(caller, effect_id, note)
    if isinstance(seen, Refused):
        return seen
    change = decide.turn_down(seen, effect_id, payload_digest, note, _standing(seen, effect_id))
    if isinstance(change, Refused):
        return change

    end_approval(effect_id, seen, ApprovalState.VOID)
    return _answer(caller, seen, change, effect_id, note, None)


@kernel.verb(Verb.REVOKE, *(f"{state} -> {state}" for state in State))
def revoke(caller: Caller, effect_id: str, note: str, approval_id: UUID | None = None) -> Approved | Refused:
    """CLAIMED -> CLAIMED, and so on. An approval that no permit has consumed is taken back.

    ``approval_id`` names the one that was seen. Refused as ``approve`` is; STALE_STATE when there
    is none to take back.
    """
    seen = _take(caller, effect_id, note)
    if isinstance(seen, Refused):
        return seen
    standing = _standing(seen, effect_id)
    change = decide.revoke(seen, effect_id, note, standing, approval_id)
    if isinstance(change, Refused) or standing.last is None:
        return change if isinstance(change, Refused) else Refused(Why.STALE_STATE)

    end_approval(effect_id, seen, ApprovalState.REVOKED)
    advanced = kernel.advance(caller, seen, change)
    last = standing.last
    return Approved(last.id, effect_id, ApprovalState.REVOKED, last.expires_at, advanced.state_version)


def _take(caller: Caller, effect_id: str, note: str) -> TaskAsRead | Refused:
    """The effect's task under its lock; NOT_FOUND for whoever is not a person at hand."""
    seen = take_of(caller, effect_id) if caller.is_at_hand else None
    return flaw_of_words(note) or seen or Refused(Why.NOT_FOUND)


def _standing(seen: TaskAsRead, effect_id: str) -> decide.Standing:
    """The runner's owner as of now, and the last answer, read under the task's lock."""
    runner = Agent.objects.filter(id=seen.task.runner_id or 0).values_list("owner_id", flat=True).first()
    return decide.Standing(runner, last_approval(effect_id))


def _answer(
    caller: Caller, seen: TaskAsRead, change: Change, effect_id: str, note: str, until: datetime | None
) -> Approved:
    """Keep a new answer; one without an end is a refusal."""
    state = ApprovalState.REFUSED if until is None else ApprovalState.GRANTED
    effect = next(one for one in seen.own_effects if one.id == effect_id)
    approval = Approval.objects.create(
        id=new_id(),
        effect_id=effect_id,
        task_id=seen.task.id,
        state=state.value,
        payload_digest=effect.payload_digest,
        claim_generation=seen.task.claim_generation,
        scheduler_epoch=seen.pool.scheduler_epoch,
        doubt=effect.doubts,
        person_id=caller.actor.id,
        note=note,
        at=seen.now,
        expires_at=until,
        ended_at=None if until else seen.now,
    )
    advanced = kernel.advance(caller, seen, change)
    return Approved(approval.id, effect_id, state, until, advanced.state_version)
