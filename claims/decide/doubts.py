"""Why an effect must not be sent now, in words a runner can act on (claim.v1 section 5).

Promises: every MUST_RECONCILE says in which state the effect is, until when its permit may still
be acted on, when that has settled, and the etag that an observation has to name.
"""

from __future__ import annotations

from dataclasses import replace

from claims.decide.changes import refuse
from claims.decide.ledger import etag, is_live, settles_at, state_now
from claims.decide.rows import EffectRow, TaskAsRead
from claims.outcomes import EffectMoved, Refused, Why
from claims.vocabulary import EffectState

IN_DOUBT = frozenset({EffectState.EXECUTING, EffectState.UNKNOWN})


def own_effect(seen: TaskAsRead, effect_id: str) -> EffectRow | None:
    """The effect of this very task; None for one of another task or revision."""
    return next((effect for effect in seen.own_effects if effect.id == effect_id), None)


def as_it_is(seen: TaskAsRead, effect: EffectRow) -> EffectMoved:
    """The answer where nothing has to change."""
    return EffectMoved(effect.id, state_now(seen, effect), seen.task.state_version)


def must_reconcile(seen: TaskAsRead, effect: EffectRow, detail: str = "", *, keeps: bool = False) -> Refused:
    """MUST_RECONCILE for one effect. ``keeps``: the write of an observation moves its version on."""
    return in_doubt(seen, effect, Why.MUST_RECONCILE, detail or how_it_stands(seen, effect), keeps=keeps)


def in_doubt(seen: TaskAsRead, effect: EffectRow, why: Why, detail: str, *, keeps: bool = False) -> Refused:
    """A refusal that tells all that is known of the effect, as it is once this is answered."""
    after = replace(effect, version=effect.version + 1) if keeps else effect
    settles = settles_at(effect)
    known: dict[str, object | None] = {
        "effectId": effect.id,
        "slot": effect.slot,
        "effectState": state_now(seen, effect).value,
        "permitDeadline": effect.permit_deadline.isoformat() if effect.permit_deadline else None,
        "settlesAt": settles.isoformat() if settles else None,
        "hasHappened": effect.has_happened,
        "etag": etag(seen.now, after),
    }
    told = {name: value for name, value in known.items() if value is not None}
    return replace(refuse(seen, why, detail, **told), keeps=keeps)


def how_it_stands(seen: TaskAsRead, effect: EffectRow) -> str:
    """One sentence: the state, the deadline, the settle time, and what is seen to have happened."""
    state = state_now(seen, effect)
    if is_live(seen, effect):
        return f"Slot {effect.slot} is EXECUTING; its permit may be acted on until {_time(effect)}."
    if state is EffectState.UNKNOWN:
        return f"Slot {effect.slot} is UNKNOWN; {_settling(seen, effect)}"
    if effect.has_happened and state is EffectState.PREPARED:
        return f"Slot {effect.slot} was seen to have happened; an operator has to reconcile it."
    return f"Slot {effect.slot} is {state}; it is not sent again."


def _settling(seen: TaskAsRead, effect: EffectRow) -> str:
    settles = settles_at(effect)
    if settles is None or settles <= seen.now:
        return "look up whether it happened and reconcile it."
    return f"a sender that was paused may still send until {settles:%H:%M:%S UTC}, so look it up after that."


def _time(effect: EffectRow) -> str:
    return f"{effect.permit_deadline:%H:%M:%S UTC}" if effect.permit_deadline else "its deadline"
