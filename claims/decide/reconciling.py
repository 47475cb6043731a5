"""How a doubt about an outside effect ends (claim.v1 section 5).

Promises: an effect goes back to PREPARED only after the permit's deadline plus the slot's settle
time, by a look-up begun after that moment or by a person; what a runner looked up is taken only
where the slot declares that look-up and says that it decides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from claims.decide.changes import Change, EffectChange, Validated, refuse
from claims.decide.doubts import in_doubt, must_reconcile, own_effect
from claims.decide.fence import claimed
from claims.decide.ledger import etag, has_settled, is_live
from claims.decide.observing import NewObservation, Recorded, weak
from claims.decide.rows import EffectRow, TaskAsRead
from claims.fences import Fence
from claims.inputs import Slot
from claims.outcomes import Refused, Why
from claims.vocabulary import SETTLED, EffectMode, EffectState, Right, Said, Verb, Via

ETAG_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of an effect: ``look_up`` is the kind of the recipe that was followed, ``etag``
    the effect's when that was begun."""

    said: Said
    look_up: str = ""
    etag: str = ""
    receipt: Mapping[str, object] | None = None
    note: str = ""


def reconcile(
    seen: TaskAsRead,
    fence: Fence,
    agent_id: int,
    effect_id: str,
    slot: Slot | None,
    look: Look,
    is_repeat: bool = False,
) -> Recorded | Refused:
    """UNKNOWN -> COMMITTED, UNKNOWN -> PREPARED or UNKNOWN -> UNKNOWN, by the holder of the claim.

    ``is_repeat``: this very observation is kept already. Refused as for the fence, then with FORBIDDEN (NON_REPLAYABLE), STALE_STATE, MUST_RECONCILE
    (a live permit), SLOT_MISMATCH (another look-up), WEAK_OBSERVATION.
    """
    standing = claimed(seen, fence, agent_id)
    if isinstance(standing, Refused):
        return standing
    effect = own_effect(seen, effect_id)
    if effect is None:
        return Refused(Why.NOT_FOUND)
    if effect.mode is EffectMode.NON_REPLAYABLE:
        return refuse(seen, Why.FORBIDDEN, "Only an operator reconciles an effect that cannot be replayed.")
    refused = _nothing_to_settle(seen, effect) or _is_undeclared(seen, effect, slot, look)
    if refused:
        return refused
    weakness = _weakness(seen, effect, slot, look)
    observation = _observation(effect, look, Via.LOOK_UP, fence, is_strong=weakness is None)
    if weakness and is_repeat:
        return in_doubt(seen, effect, Why.WEAK_OBSERVATION, weakness)
    if weakness:
        return weak(seen, effect, observation, weakness)
    return _settle(seen, effect, look, observation, standing)


def reconcile_as_operator(
    seen: TaskAsRead, effect_id: str, look: Look, expected_version: int
) -> Recorded | Refused:
    """UNKNOWN -> COMMITTED, UNKNOWN -> PREPARED or UNKNOWN -> UNKNOWN; from PREPARED, too, while HAPPENED
    stands. Also of tasks that are final.

    Refused with NOT_FOUND, FORBIDDEN, STALE_STATE, MUST_RECONCILE (a live permit) or, for a
    DID_NOT_HAPPEN that was seen before the settle time had passed, WEAK_OBSERVATION.
    """
    effect = _of_operator(seen, effect_id, expected_version)
    if isinstance(effect, Refused):
        return effect
    refused = None if _is_contested(effect) else _nothing_to_settle(seen, effect)
    if refused:
        return refused
    is_early = look.said is Said.DID_NOT_HAPPEN and not _was_begun_after_settling(seen, effect, look)
    observation = _observation(effect, look, Via.OPERATOR, None, is_strong=not is_early)
    if is_early:
        return weak(seen, effect, observation, _TOO_EARLY)
    return _settle(seen, effect, look, observation, None)


def write_off(seen: TaskAsRead, effect_id: str, reason: str, expected_version: int) -> Recorded | Refused:
    """UNKNOWN -> WRITTEN_OFF. An operator gives the question up; final, marked, frees the serial key."""
    effect = _of_operator(seen, effect_id, expected_version)
    if isinstance(effect, Refused):
        return effect
    if not reason.strip():
        return refuse(seen, Why.UNPROCESSABLE, "Say why; the reason is kept for ever.")
    refused = _nothing_to_settle(seen, effect)
    if refused:
        return refused
    look = Look(Said.CANNOT_TELL, note=reason)
    observation = _observation(effect, look, Via.OPERATOR, None, is_strong=True, is_applied=True)
    step = EffectChange(effect, EffectState.WRITTEN_OFF, _counted(effect))
    return Recorded(_change(seen, observation, None, step, reason=reason), observation)


_TOO_EARLY = (
    "A sender that was paused may still send; only who looks after the settle time, and names the etag"
    " that the effect has then, can say that it did not."
)


def _was_begun_after_settling(seen: TaskAsRead, effect: EffectRow, look: Look) -> bool:
    """Whether the look was begun after nobody could send any more: it names an etag of that time."""
    return has_settled(seen.now, effect) and look.etag == etag(seen.now, effect)


def _of_operator(seen: TaskAsRead, effect_id: str, expected_version: int) -> EffectRow | Refused:
    """The effect in the version that the operator saw."""
    effect = own_effect(seen, effect_id)
    if not seen.person.rights or effect is None:
        return Refused(Why.NOT_FOUND)
    if Right.OPERATOR not in seen.person.rights:
        return refuse(seen, Why.FORBIDDEN, "Only an operator of the pool can do this.")
    if effect.version != expected_version:
        return refuse(
            seen,
            Why.STALE_STATE,
            f"The effect is at version {effect.version}, not {expected_version}.",
            version=effect.version,
        )
    return effect


def _is_contested(effect: EffectRow) -> bool:
    """PREPARED, and something says that it happened all the same."""
    return effect.state is EffectState.PREPARED and effect.has_happened


def _nothing_to_settle(seen: TaskAsRead, effect: EffectRow) -> Refused | None:
    if is_live(seen, effect) or _is_contested(effect):
        return must_reconcile(seen, effect)
    if effect.state in SETTLED or effect.state is EffectState.PREPARED:
        return refuse(
            seen, Why.STALE_STATE, f"Slot {effect.slot} is {effect.state}; there is nothing to reconcile."
        )
    return None


def _is_undeclared(seen: TaskAsRead, effect: EffectRow, slot: Slot | None, look: Look) -> Refused | None:
    """SLOT_MISMATCH for a look-up that is not the slot's own."""
    declared = slot.lookup.kind if slot and slot.lookup else None
    if declared is not None and look.look_up == declared:
        return None
    said = (
        f"declares the look-up {declared}" if declared else "declares no look-up; an operator reconciles it"
    )
    return refuse(seen, Why.SLOT_MISMATCH, f"Slot {effect.slot} {said}.", slot=effect.slot)


def _weakness(seen: TaskAsRead, effect: EffectRow, slot: Slot | None, look: Look) -> str | None:
    """Why a runner's observation settles nothing, if it does not."""
    if slot is None or slot.lookup is None or not slot.lookup.authoritative:
        return "The look-up is kept; its source is not one that decides."
    if not has_settled(seen.now, effect):
        return "The look-up is kept; it was begun before the settle time had passed. Look again after it."
    if not _was_begun_after_settling(seen, effect, look):
        return (
            "The look-up is kept; it names an earlier etag of the effect. Read the effect, then look again."
        )
    return None


def _observation(
    effect: EffectRow,
    look: Look,
    via: Via,
    fence: Fence | None,
    *,
    is_strong: bool,
    is_applied: bool | None = None,
) -> NewObservation:
    settles = is_strong and look.said is not Said.CANNOT_TELL
    return NewObservation(
        look.said,
        via,
        is_strong=is_strong,
        is_applied=settles if is_applied is None else is_applied,
        permit_id=effect.permit_id,
        attempt_id=fence.attempt_id if fence else None,
        look_up=look.look_up,
        etag=look.etag,
        receipt=look.receipt,
        note=look.note,
    )


def _settle(
    seen: TaskAsRead, effect: EffectRow, look: Look, observation: NewObservation, standing: Validated | None
) -> Recorded:
    """The step that a strong observation makes.

    A runner's DID_NOT_HAPPEN leaves a HAPPENED that somebody else saw standing: a person decides
    between the two, so that nothing is repeated on a guess.
    """
    columns = _counted(effect)
    if look.said is Said.HAPPENED:
        columns |= {"receipt": json.dumps(dict(look.receipt or {}))} | _resource_etag(look.receipt)
        target = EffectState.COMMITTED
    elif look.said is Said.DID_NOT_HAPPEN:
        columns |= {} if standing else {"has_happened": False}
        target = EffectState.PREPARED
    else:
        target = EffectState.PREPARED if effect.state is EffectState.PREPARED else EffectState.UNKNOWN
    step = EffectChange(effect, target, columns)
    return Recorded(_change(seen, observation, standing, step), observation)


def _counted(effect: EffectRow) -> dict[str, object]:
    """An effect whose permit ran out unnoticed has been in doubt all the same."""
    return {"doubts": effect.doubts + 1} if effect.state is EffectState.EXECUTING else {}


def _resource_etag(receipt: Mapping[str, object] | None) -> dict[str, object]:
    found = (receipt or {}).get("resourceEtag")
    return {"resource_etag": found} if isinstance(found, str) and len(found) <= ETAG_CHARACTERS else {}


def _change(
    seen: TaskAsRead,
    observation: NewObservation,
    standing: Validated | None,
    step: EffectChange,
    **body: object,
) -> Change:
    return Change(
        Verb.RECONCILE,
        seen.task.state,
        reason=seen.task.reason,
        body={**observation.body(), **body},
        validated=standing,
        effect=step,
    )
