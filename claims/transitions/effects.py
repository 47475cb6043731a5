"""Outside effects before they are sent: bound, permitted, given up (claim.v1 section 5).

Promises: a permit is committed before anybody can make the call it is for, and no request is ever
answered with a second one.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.db.models import JSONField, Value

from claims import canonical, decide, kernel, selectors
from claims.callers import Caller
from claims.decide.rows import EffectRow, TaskAsRead
from claims.fences import Fence
from claims.inputs import Slot, parse_input
from claims.models import Approval, Effect, Permit, Task
from claims.models.columns import new_id
from claims.outcomes import EffectMoved, Permitted, Refused, Why
from claims.transitions.payloads import digest_of, flaw_of_words
from claims.vocabulary import ApprovalState, EffectMode, EffectState, Verb

IN_DOUBT = (EffectState.EXECUTING, EffectState.UNKNOWN)


def slots_of(task_id: UUID) -> list[Slot]:
    """The slots that the input of a task declares."""
    return list(parse_input(selectors.specification_of(task_id)).effects)


@kernel.verb(Verb.PREPARE, "CLAIMED -> CLAIMED")
def prepare(caller: Caller, fence: Fence, slot: str, payload: object) -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED. A payload is bound to a declared slot; the effect is then PREPARED.

    The same payload again is answered with the effect as it is. Refused with MALFORMED or
    TOO_LARGE, as for the fence, with SLOT_MISMATCH, PAYLOAD_CONFLICT or MUST_RECONCILE.
    """
    digest = digest_of(payload)
    if isinstance(digest, Refused):
        return digest
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    node_id = Task.objects.values_list("node_id", flat=True).get(id=fence.task_id)
    effect_id = canonical.effect_id(fence.task_id, node_id, slot)
    new = decide.NewEffect(effect_id, slot, digest, slots_of(fence.task_id))
    change = decide.prepare(seen, fence, caller.actor.id, new)
    if isinstance(change, Refused):
        return _with_bound_payload(change, effect_id)
    if isinstance(change, EffectMoved):
        return change

    _bind(seen, fence, new, payload)
    advanced = kernel.advance(caller, seen, change)
    return EffectMoved(effect_id, EffectState.PREPARED, advanced.state_version)


def _with_bound_payload(refused: Refused, effect_id: str) -> Refused:
    """A conflict tells what is bound, so that the runner can go on with that."""
    if refused.why is not Why.PAYLOAD_CONFLICT:
        return refused
    bound = Effect.objects.values_list("payload", flat=True).get(id=effect_id)
    return replace(refused, extra={**refused.extra, "boundPayload": bound})


def _bind(seen: TaskAsRead, fence: Fence, new: decide.NewEffect, payload: object) -> None:
    slot = new.declared
    if slot is None:
        raise AssertionError(f"the slot {new.slot} was prepared and is not declared")
    Effect.objects.create(
        id=new.effect_id,
        task_id=seen.task.id,
        pool_id=seen.pool.id,
        lineage_id=seen.task.lineage_id,
        slot=slot.slot,
        mode=slot.effective_mode.value,
        target=slot.target,
        serial_key=slot.serial_key,
        is_required=slot.required,
        permit_seconds=slot.permitSeconds,
        settle_seconds=slot.settleSeconds,
        payload_digest=new.payload_digest,
        # None would be SQL's NULL; a payload of JSON's null is a payload.
        payload=payload if payload is not None else Value(None, JSONField()),
        prepared_by=fence.attempt_id,
        prepared_at=seen.now,
        state=EffectState.PREPARED.value,
        state_since=seen.now,
    )


@kernel.verb(Verb.EXECUTE, "CLAIMED -> CLAIMED", replays=False)
def execute(caller: Caller, fence: Fence, effect_id: str) -> Permitted | Refused:
    """CLAIMED -> CLAIMED. One permit for one outside call, committed before it; the effect is EXECUTING.

    Needs an idempotency key, which never gets a second permit. Refused with MALFORMED without
    one, with MUST_RECONCILE for a repeat, as for the fence, with MUST_RECONCILE in any state but
    PREPARED, SERIAL_BUSY or APPROVAL_REQUIRED.
    """
    if caller.key is None:
        return Refused(Why.MALFORMED, "execute needs an Idempotency-Key: hand-back names it.")
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    effect = next((one for one in seen.own_effects if one.id == effect_id), None)
    asked = _asked(caller, seen, effect) if effect else decide.Asked(new_id())
    change = decide.execute(seen, fence, caller.actor.id, effect_id, asked)
    if isinstance(change, Refused) or effect is None:
        return change if isinstance(change, Refused) else Refused(Why.NOT_FOUND)

    _permit(caller, fence, seen, effect, asked)
    advanced = kernel.advance(caller, seen, change)
    return Permitted(
        effect_id=effect_id,
        permit_id=asked.permit_id,
        claim_generation=fence.claim_generation,
        resource_etag=decide.resource_etag(seen, effect),
        deadline=decide.deadline_of(seen, effect),
        seconds_remaining=float(effect.permit_seconds),
        state_version=advanced.state_version,
    )


def _asked(caller: Caller, seen: TaskAsRead, effect: EffectRow) -> decide.Asked:
    """What a permit needs to know beside the task, read under its lock."""
    used = Permit.objects.filter(effect_id=effect.id, agent_id=caller.actor.id, key=caller.key)
    is_once_only = effect.mode is EffectMode.NON_REPLAYABLE
    return decide.Asked(
        permit_id=new_id(),
        is_repeat=used.exists(),
        is_busy=is_once_only and _is_busy(seen.pool.id, effect),
        approval=last_approval(effect.id) if is_once_only else None,
        declared=[slot.slot for slot in slots_of(seen.task.id)] if seen.earlier_effects else (),
    )


def _is_busy(pool_id: int, effect: EffectRow) -> bool:
    """Whether another effect with this serial key is on its way or in doubt; the index is the guard."""
    others = Effect.objects.filter(
        pool_id=pool_id,
        serial_key=effect.serial_key,
        mode=EffectMode.NON_REPLAYABLE.value,
        state__in=[state.value for state in IN_DOUBT],
    )
    return others.exclude(id=effect.id).exists()


def last_approval(effect_id: str) -> decide.ApprovalRow | None:
    """The granted approval of an effect, or else the last answer that a person gave."""
    last = Approval.objects.filter(effect_id=effect_id).order_by("-at", "-id").first()
    if last is None:
        return None
    return decide.ApprovalRow(
        last.id,
        ApprovalState(last.state),
        last.payload_digest,
        last.claim_generation,
        last.scheduler_epoch,
        last.doubt,
        last.person_id,
        last.expires_at,
        last.note,
    )


def end_approval(effect_id: str, seen: TaskAsRead, state: ApprovalState) -> int:
    """The granted approval of an effect ends, if there is one; how many ended."""
    granted = Approval.objects.filter(effect_id=effect_id, state=ApprovalState.GRANTED.value)
    return granted.update(state=state.value, ended_at=seen.now)


def _permit(caller: Caller, fence: Fence, seen: TaskAsRead, effect: EffectRow, asked: decide.Asked) -> None:
    is_approved = effect.mode is EffectMode.NON_REPLAYABLE and asked.approval is not None
    Permit.objects.create(
        id=asked.permit_id,
        effect_id=effect.id,
        task_id=seen.task.id,
        attempt_id=fence.attempt_id,
        agent_id=caller.actor.id,
        number=effect.permits + 1,
        key=caller.key or "",
        mode=effect.mode.value,
        approval_id=asked.approval.id if is_approved and asked.approval else None,
        claim_generation=fence.claim_generation,
        scheduler_epoch=fence.scheduler_epoch,
        cancel_generation=fence.cancel_generation,
        granted_at=seen.now,
        deadline=decide.deadline_of(seen, effect),
    )
    if is_approved and end_approval(effect.id, seen, ApprovalState.CONSUMED) != 1:
        raise RuntimeError(f"the approval of effect {effect.id} moved under its task's lock")


@kernel.verb(Verb.ABANDON, "CLAIMED -> CLAIMED")
def abandon(caller: Caller, fence: Fence, effect_id: str, reason: str = "") -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED. A prepared effect will not be sent: ABANDONED, for good.

    Refused as for the fence, with SLOT_MISMATCH for a required slot, or MUST_RECONCILE.
    """
    flawed = flaw_of_words(reason)
    if flawed:
        return flawed
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    declared = [slot.slot for slot in slots_of(seen.task.id)] if seen.earlier_effects else ()
    change = decide.abandon(seen, fence, caller.actor.id, effect_id, reason, declared)
    if isinstance(change, Refused | EffectMoved):
        return change

    end_approval(effect_id, seen, ApprovalState.VOID)
    advanced = kernel.advance(caller, seen, change)
    return EffectMoved(effect_id, EffectState.ABANDONED, advanced.state_version)


@kernel.verb(Verb.EXPIRE_PERMIT, "CLAIMED -> CLAIMED")
def expire_permit(caller: Caller, effect_id: str) -> EffectMoved | None:
    """CLAIMED -> CLAIMED. A permit's deadline has passed: what was EXECUTING is UNKNOWN.

    None when there is nothing to do: it was settled since the sweep looked.
    """
    seen = take_of(caller, effect_id)
    change = decide.expire_permit(seen, effect_id) if seen else None
    if seen is None or change is None:
        return None

    advanced = kernel.advance(caller, seen, change)
    return EffectMoved(effect_id, EffectState.UNKNOWN, advanced.state_version)


def take_of(caller: Caller, effect_id: str) -> TaskAsRead | None:
    """The task of an effect under its lock; None where there is no such effect."""
    task_id = Effect.objects.filter(id=effect_id).values_list("task_id", flat=True).first()
    return kernel.take(caller, task_id) if task_id else None
