"""What the server looked up for an operator, kept with the effect it is about."""

from __future__ import annotations

from claims import decide, kernel
from claims.callers import Caller
from claims.outcomes import EffectMoved, Refused, Why
from claims.transitions.effects import take_of
from claims.transitions.observing import record
from claims.vocabulary import State, Verb


@kernel.verb(Verb.OBSERVE, *(f"{state} -> {state}" for state in State))
def observe(
    caller: Caller, effect_id: str, look: decide.Look, is_authoritative: bool
) -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED, DONE -> DONE, and so on. A look-up is kept, and settles nothing by itself.

    ``look`` was made before, outside any transaction, and names the etag it was begun with. Refused
    with NOT_FOUND for whoever is not a person at hand, and FORBIDDEN without the operator's right.
    """
    seen = take_of(caller, effect_id) if caller.is_at_hand else None
    if seen is None:
        return Refused(Why.NOT_FOUND)
    return record(caller, seen, decide.observe(seen, effect_id, look, is_authoritative))
