"""How a doubt about an outside effect ends: by a look-up of the holder, or by an operator."""

from __future__ import annotations

from claims import decide, kernel
from claims.callers import Caller
from claims.fences import Fence
from claims.outcomes import EffectMoved, Refused, Why
from claims.transitions.effects import end_approval, slots_of, take_of
from claims.transitions.observing import is_kept, record
from claims.transitions.payloads import RECEIPT_BYTES, flaw_of, flaw_of_words
from claims.vocabulary import ApprovalState, State, Verb

_STAYS = tuple(f"{state} -> {state}" for state in State)


@kernel.verb(Verb.RECONCILE, *_STAYS)
def reconcile(caller: Caller, fence: Fence, effect_id: str, look: decide.Look) -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED, and so on. The holder brings what the slot's declared look-up saw.

    HAPPENED makes the effect COMMITTED, DID_NOT_HAPPEN makes it PREPARED again. An observation
    that is too weak is kept and answered WEAK_OBSERVATION. Refused as for the fence, with
    FORBIDDEN, STALE_STATE, MUST_RECONCILE or SLOT_MISMATCH.
    """
    flawed = _flaw_of(look)
    if flawed:
        return flawed
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    effect = next((one for one in seen.own_effects if one.id == effect_id), None)
    declared = slots_of(seen.task.id) if effect else []
    slot = next((one for one in declared if effect and one.slot == effect.slot), None)
    is_repeat = effect is not None and is_kept(fence, effect, look)
    told = decide.reconcile(seen, fence, caller.actor.id, effect_id, slot, look, is_repeat)
    return record(caller, seen, told)


@kernel.verb(Verb.RECONCILE, *_STAYS)
def reconcile_as_operator(
    caller: Caller, effect_id: str, look: decide.Look, expected_version: int
) -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED, DONE -> DONE, and so on. A person says what became of an effect.

    Also from PREPARED while an observation says that it happened, and of tasks that are final.
    Refused with NOT_FOUND, FORBIDDEN, STALE_STATE, MUST_RECONCILE or WEAK_OBSERVATION.
    """
    seen = (_flaw_of(look) or take_of(caller, effect_id)) if caller.is_at_hand else None
    if seen is None or isinstance(seen, Refused):
        return seen or Refused(Why.NOT_FOUND)
    told = decide.reconcile_as_operator(seen, effect_id, look, expected_version)
    if isinstance(told, Refused):
        return told

    end_approval(effect_id, seen, ApprovalState.VOID)
    return record(caller, seen, told)


@kernel.verb(Verb.RECONCILE, *_STAYS)
def write_off(caller: Caller, effect_id: str, reason: str, expected_version: int) -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED, DONE -> DONE, and so on. An operator closes a doubt that nothing can end.

    The effect is WRITTEN_OFF, for good. Refused as ``reconcile_as_operator`` is, and with
    UNPROCESSABLE without a reason.
    """
    seen = (flaw_of_words(reason) or take_of(caller, effect_id)) if caller.is_at_hand else None
    if seen is None or isinstance(seen, Refused):
        return seen or Refused(Why.NOT_FOUND)
    return record(caller, seen, decide.write_off(seen, effect_id, reason, expected_version))


def _flaw_of(look: decide.Look) -> Refused | None:
    receipt = None if look.receipt is None else flaw_of(look.receipt, "receipt", RECEIPT_BYTES)
    if len(look.look_up) > 20 or len(look.etag) > 40 or "\0" in look.look_up + look.etag:
        return Refused(Why.MALFORMED, "lookUp is the kind of the slot's look-up, and etag the effect's.")
    return receipt or flaw_of_words(look.note)
