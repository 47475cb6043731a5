"""What the holder of a claim may do with an outside effect before it is sent (claim.v1 section 5).

Promises: a permit is handed out from PREPARED only, never twice for one request, never while
anything says that the effect may have happened, here or in an earlier revision.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from claims.decide.approving import ApprovalRow, approval_required, is_approved
from claims.decide.changes import Change, EffectChange, refuse
from claims.decide.doubts import IN_DOUBT, as_it_is, must_reconcile, own_effect
from claims.decide.fence import claimed
from claims.decide.ledger import alike, counts_for, state_now
from claims.decide.rows import EffectRow, TaskAsRead
from claims.fences import Fence
from claims.inputs import Slot
from claims.outcomes import EffectMoved, Refused, Why
from claims.vocabulary import EffectMode, EffectState, State, Verb


@dataclass(frozen=True, slots=True)
class NewEffect:
    """What a runner prepares. ``slots`` are those the input declares."""

    effect_id: str
    slot: str
    payload_digest: str
    slots: Sequence[Slot] = field(default=())

    @property
    def declared(self) -> Slot | None:
        """The slot as the input declares it."""
        return next((slot for slot in self.slots if slot.slot == self.slot), None)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is read beside the task before a permit is made.

    ``is_repeat``: this agent has used this key for this effect. ``is_busy``: another effect of
    the pool with the same serial key is EXECUTING or UNKNOWN. ``declared`` names the input's slots.
    """

    permit_id: UUID
    is_repeat: bool = False
    is_busy: bool = False
    approval: ApprovalRow | None = None
    declared: Collection[str] = ()


def prepare(seen: TaskAsRead, fence: Fence, agent_id: int, new: NewEffect) -> Change | EffectMoved | Refused:
    """new -> PREPARED. Binds the payload; the same digest again is answered with the row as it is.

    Refused as for the fence, then with SLOT_MISMATCH, PAYLOAD_CONFLICT (with the bound digest) or
    MUST_RECONCILE because of an earlier revision's effect.
    """
    standing = claimed(seen, fence, agent_id)
    if isinstance(standing, Refused):
        return standing
    slot = new.declared
    if slot is None:
        return refuse(seen, Why.SLOT_MISMATCH, f"The input declares no slot {new.slot[:120]}.", slot=new.slot)
    bound = own_effect(seen, new.effect_id)
    if bound is not None and bound.payload_digest == new.payload_digest:
        return as_it_is(seen, bound)
    if bound is not None:
        return refuse(
            seen, Why.PAYLOAD_CONFLICT, effectId=bound.id, boundDigest=bound.payload_digest, slot=bound.slot
        )
    refused = _stands_before(seen, slot.slot, slot.serial_key, [each.slot for each in new.slots])
    if refused:
        return refused
    step = {"effectId": new.effect_id, "slot": slot.slot, "from": None, "to": EffectState.PREPARED.value}
    return Change(
        Verb.PREPARE,
        State.CLAIMED,
        body={"effects": [step], "payloadDigest": new.payload_digest},
        validated=standing,
    )


def execute(seen: TaskAsRead, fence: Fence, agent_id: int, effect_id: str, asked: Asked) -> Change | Refused:
    """PREPARED -> EXECUTING. One permit for one call, good until ``deadline_of``.

    Refused with MUST_RECONCILE for every repeat, as for the fence, with MUST_RECONCILE in any
    state but PREPARED or while HAPPENED stands, then SERIAL_BUSY, then APPROVAL_REQUIRED.
    """
    effect = own_effect(seen, effect_id)
    if effect is not None and asked.is_repeat:
        return must_reconcile(seen, effect)
    standing = claimed(seen, fence, agent_id)
    if isinstance(standing, Refused):
        return standing
    if effect is None:
        return Refused(Why.NOT_FOUND)
    if effect.state is not EffectState.PREPARED or effect.has_happened:
        return must_reconcile(seen, effect)
    refused = _stands_before(seen, effect.slot, effect.serial_key, asked.declared)
    refused = refused or _is_held_back(seen, effect, asked)
    if refused:
        return refused
    number = effect.permits + 1
    body: dict[str, object] = {
        "permitId": str(asked.permit_id),
        "permit": number,
        "deadline": deadline_of(seen, effect).isoformat(),
        "payloadDigest": effect.payload_digest,
    }
    if effect.mode is EffectMode.NON_REPLAYABLE and asked.approval:
        body["approval"] = str(asked.approval.id)
    columns = {"permit_id": asked.permit_id, "permits": number}
    step = EffectChange(effect, EffectState.EXECUTING, columns)
    return Change(Verb.EXECUTE, State.CLAIMED, body=body, validated=standing, effect=step)


def abandon(
    seen: TaskAsRead, fence: Fence, agent_id: int, effect_id: str, reason: str, declared: Collection[str] = ()
) -> Change | EffectMoved | Refused:
    """PREPARED -> ABANDONED. It will not be sent; the payload stays bound.

    Refused with SLOT_MISMATCH for a required slot, unless an earlier revision's effect counts for
    it, and with MUST_RECONCILE while it may have happened.
    """
    standing = claimed(seen, fence, agent_id)
    if isinstance(standing, Refused):
        return standing
    effect = own_effect(seen, effect_id)
    if effect is None:
        return Refused(Why.NOT_FOUND)
    if effect.state is EffectState.ABANDONED:
        return as_it_is(seen, effect)
    if effect.state is not EffectState.PREPARED or effect.has_happened:
        return must_reconcile(seen, effect)
    is_counted = any(
        counts_for(one, effect.slot, effect.serial_key, declared) for one in seen.earlier_effects
    )
    if effect.is_required and not is_counted:
        return refuse(seen, Why.SLOT_MISMATCH, f"Slot {effect.slot} is required; it cannot be abandoned.")
    step = EffectChange(effect, EffectState.ABANDONED)
    return Change(Verb.ABANDON, State.CLAIMED, body={"reason": reason}, validated=standing, effect=step)


def expire_permit(seen: TaskAsRead, effect_id: str) -> Change | None:
    """EXECUTING -> UNKNOWN, once the permit's deadline has passed. None when there is nothing to do."""
    effect = own_effect(seen, effect_id)
    if effect is None or effect.state is not EffectState.EXECUTING or effect.permit_deadline is None:
        return None
    if effect.permit_deadline > seen.now or seen.task.state is not State.CLAIMED:
        return None
    step = EffectChange(effect, EffectState.UNKNOWN, {"doubts": effect.doubts + 1})
    return Change(
        Verb.EXPIRE_PERMIT,
        State.CLAIMED,
        body={"permitId": str(effect.permit_id), "deadline": effect.permit_deadline.isoformat()},
        effect=step,
    )


def deadline_of(seen: TaskAsRead, effect: EffectRow) -> datetime:
    """Until when a permit handed out now may be acted on."""
    return seen.now + timedelta(seconds=effect.permit_seconds)


def resource_etag(seen: TaskAsRead, effect: EffectRow) -> str:
    """The last ETag that a call to the same target reported, in this lineage; empty when none did."""
    if effect.resource_etag:
        return effect.resource_etag
    known = [one.resource_etag for one in seen.effects if one.target == effect.target and one.resource_etag]
    return known[-1] if known else ""


def _is_held_back(seen: TaskAsRead, effect: EffectRow, asked: Asked) -> Refused | None:
    """SERIAL_BUSY, then APPROVAL_REQUIRED: only what cannot be taken back waits for others."""
    if effect.mode is not EffectMode.NON_REPLAYABLE:
        return None
    if asked.is_busy:
        return refuse(seen, Why.SERIAL_BUSY, effectId=effect.id, slot=effect.slot)
    if not is_approved(seen, effect, asked.approval):
        return approval_required(seen, effect, asked.approval)
    return None


def _stands_before(seen: TaskAsRead, slot: str, serial_key: str, declared: Collection[str]) -> Refused | None:
    """Whether an effect of an earlier revision forbids sending this one (section 5, prepare)."""
    for effect in alike(seen, slot, serial_key):
        in_doubt = state_now(seen, effect) in IN_DOUBT
        if in_doubt or (effect.state is EffectState.PREPARED and effect.has_happened):
            said = f"An earlier revision's effect of slot {effect.slot} is not settled; an operator has to reconcile it."
            return must_reconcile(seen, effect, said)
        if effect.state is not EffectState.COMMITTED and not effect.has_happened:
            continue
        if effect.counts is None:
            said = f"An earlier revision's effect of slot {effect.slot} happened; the preparer must acknowledge it, saying whether it counts."
            return must_reconcile(seen, effect, said)
        if counts_for(effect, slot, serial_key, declared):
            said = f"An earlier revision's effect of slot {effect.slot} counts already; it is not sent again."
            return refuse(seen, Why.SLOT_MISMATCH, said, effectId=effect.id)
    return None
