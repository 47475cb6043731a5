"""What the effects of a task say about it as a whole (claim.v1 section 5).

Promises: an effect past its permit's deadline, or of an ended epoch, reads as UNKNOWN, whether
or not anybody has written that down yet.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from claims.decide.changes import refuse
from claims.decide.rows import EffectRow, TaskAsRead
from claims.inputs import Slot
from claims.outcomes import Refused, Why
from claims.vocabulary import SETTLED, EffectState


def state_now(seen: TaskAsRead, effect: EffectRow) -> EffectState:
    """EXECUTING reads as UNKNOWN once its permit is no longer live."""
    if effect.state is EffectState.EXECUTING and not is_live(seen, effect):
        return EffectState.UNKNOWN
    return effect.state


def is_live(seen: TaskAsRead, effect: EffectRow) -> bool:
    """Whether the effect's permit may still be acted on: its deadline, its epoch, its attempt."""
    return is_live_at(effect, seen.now, seen.pool.scheduler_epoch, seen.task.attempt_id)


def is_live_at(effect: EffectRow, now: datetime, scheduler_epoch: int, attempt_id: UUID | None) -> bool:
    """The same of a pool at an epoch and a task held by an attempt, for who reads without a lock."""
    return (
        effect.state is EffectState.EXECUTING
        and effect.permit_deadline is not None
        and effect.permit_deadline > now
        and effect.permit_epoch == scheduler_epoch
        and effect.permit_attempt_id == attempt_id
    )


def settles_at(effect: EffectRow) -> datetime | None:
    """When a paused sender can no longer send: the permit's deadline plus the slot's settle time."""
    if effect.permit_deadline is None:
        return None
    return effect.permit_deadline + timedelta(seconds=effect.settle_seconds)


def has_settled(now: datetime, effect: EffectRow) -> bool:
    """Whether the current permit's deadline plus settle time has passed; true where there was none."""
    at = settles_at(effect)
    return at is None or at <= now


def etag(now: datetime, effect: EffectRow) -> str:
    """Names the effect as it is; it changes with every change, and when the settle time has passed.

    An observation that names the second one was begun after that moment (claim.v1 section 5).
    """
    return f"{effect.version}.{1 if has_settled(now, effect) else 0}"


def unresolved(seen: TaskAsRead, slots: Sequence[Slot]) -> Refused | None:
    """EFFECTS_UNRESOLVED, with every effect and required slot that stands in the way."""
    in_the_way = [
        f"slot {effect.slot} is {state_now(seen, effect)}"
        for effect in seen.own_effects
        if state_now(seen, effect) not in SETTLED
    ]
    names = [slot.slot for slot in slots]
    in_the_way += [
        f"slot {slot.slot} is required and was never sent"
        for slot in slots
        if slot.required and not _is_provided(seen, slot, names)
    ]
    if not in_the_way:
        return None
    return refuse(seen, Why.EFFECTS_UNRESOLVED, f"Not settled: {'; '.join(in_the_way)}.", *in_the_way)


def _is_provided(seen: TaskAsRead, slot: Slot, declared: Collection[str]) -> bool:
    """COMMITTED, WRITTEN_OFF, on its way to be named as unresolved, or acknowledged from before."""
    own = [effect for effect in seen.own_effects if effect.slot == slot.slot]
    if own and own[0].state is not EffectState.ABANDONED:
        return True
    return any(counts_for(effect, slot.slot, slot.serial_key, declared) for effect in matching(seen, slot))


def matching(seen: TaskAsRead, slot: Slot) -> list[EffectRow]:
    """Earlier revisions' effects of this slot; matched by serial key, too, so that a renamed slot is found."""
    return alike(seen, slot.slot, slot.serial_key)


def alike(seen: TaskAsRead, slot: str, serial_key: str) -> list[EffectRow]:
    """The same for a slot of this name and serial key."""
    return [
        effect for effect in seen.earlier_effects if effect.slot == slot or effect.serial_key == serial_key
    ]


def counts_for(effect: EffectRow, slot: str, serial_key: str, declared: Collection[str]) -> bool:
    """Whether an earlier effect was acknowledged as this slot's, and is one that can count.

    One that shares only the serial key stands for its own slot where that is ``declared`` still.
    One that never happened, as far as anybody knows, counts for nothing.
    """
    if not effect.counts or effect.state not in SETTLED:
        return False
    if effect.state is EffectState.ABANDONED and not effect.has_happened:
        return False
    return effect.slot == slot or (effect.serial_key == serial_key and effect.slot not in declared)
