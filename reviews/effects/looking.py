"""Look an effect up by its slot's declared recipe, now, and keep what was seen.

Promises: the source is asked outside any transaction and for at most ``PATIENCE_SECONDS``, however
long the recipe would let it take; the etag that is kept is the one the look-up was begun with.
"""

from __future__ import annotations

from dataclasses import dataclass

from claims import transitions
from claims.callers import Caller
from claims.decide import Look
from claims.lookups.looking import look_up
from claims.lookups.sighting import Sighted, Subject
from claims.outcomes import Refused, Why
from claims.selectors import doubts, seen
from claims.selectors.effects import EffectSeen
from claims.vocabulary import Right, Said

PATIENCE_SECONDS = 10
NO_RECIPE = "This slot declares no look-up; look at the target yourself and say what became of it."


@dataclass(frozen=True, slots=True)
class Looked:
    """What the source said. ``words`` tell how, or why it cannot tell."""

    said: str
    words: str


def look(caller: Caller, effect: EffectSeen) -> Looked | Refused:
    """Ask the declared source about one effect. Refused with FORBIDDEN, UNPROCESSABLE, or as ``observe`` is."""
    if not _may_look(caller, effect):
        return Refused(Why.FORBIDDEN, "Only an operator of the pool can do this.")
    slot = doubts.slots({effect.task_id}).get((effect.task_id, effect.slot))
    if slot is None or slot.lookup is None:
        return Refused(Why.UNPROCESSABLE, NO_RECIPE)
    patience = min(slot.lookup.timeoutSeconds, PATIENCE_SECONDS)
    recipe = slot.lookup.model_copy(update={"timeoutSeconds": patience})
    sighted = look_up(recipe, Subject(effect.effect_id, effect.payload_digest, effect.slot, effect.target))
    outcome = transitions.observe(
        caller, effect.effect_id, _look_of(sighted, slot.lookup.kind, effect), sighted.is_authoritative
    )
    if isinstance(outcome, Refused):
        return outcome
    return Looked(sighted.said.value.replace("_", " "), sighted.note or sighted.how)


def _may_look(caller: Caller, effect: EffectSeen) -> bool:
    """Asked before the source is, which whoever has no right must not make the server do."""
    pools = seen.pools_of(caller.actor.id)
    return any(pool.id == effect.pool_id and pool.allows(Right.OPERATOR) for pool in pools)


def _look_of(sighted: Sighted, kind: str, effect: EffectSeen) -> Look:
    receipt = dict(sighted.receipt) if sighted.said is not Said.CANNOT_TELL else None
    note = f"{sighted.how}: {sighted.note}" if sighted.note else sighted.how
    return Look(sighted.said, kind, effect.etag, receipt, note)
