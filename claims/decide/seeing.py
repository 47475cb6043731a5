"""What an operator has looked up: kept beside what others saw, and applied by nobody but a person.

Promises: looking changes no state. What it saw stands: after HAPPENED nothing is sent again until
somebody has settled the effect.
"""

from __future__ import annotations

from claims.decide.changes import Change, EffectChange, refuse
from claims.decide.doubts import own_effect
from claims.decide.ledger import etag, has_settled
from claims.decide.observing import NewObservation, Recorded
from claims.decide.reconciling import Look
from claims.decide.rows import TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import EffectState, Right, Said, Verb, Via


def observe(seen: TaskAsRead, effect_id: str, look: Look, is_authoritative: bool) -> Recorded | Refused:
    """No change of state. ``look.etag`` is the effect's when the look-up was begun.

    It is strong when its source decides, and when it was begun after the permit's deadline plus
    settle time (section 5). Refused with NOT_FOUND or FORBIDDEN.
    """
    effect = own_effect(seen, effect_id)
    if not seen.person.rights or effect is None:
        return Refused(Why.NOT_FOUND)
    if Right.OPERATOR not in seen.person.rights:
        return refuse(seen, Why.FORBIDDEN, "Only an operator of the pool can do this.")
    is_fresh = has_settled(seen.now, effect) and look.etag == etag(seen.now, effect)
    observation = NewObservation(
        look.said,
        Via.LOOK_UP,
        is_strong=is_authoritative and is_fresh,
        is_applied=False,
        permit_id=effect.permit_id,
        look_up=look.look_up,
        etag=look.etag,
        receipt=look.receipt,
        note=look.note,
    )
    stands = look.said is Said.HAPPENED and effect.state is not EffectState.COMMITTED
    step = EffectChange(effect, effect.state, {"has_happened": True} if stands else {})
    change = Change(
        Verb.OBSERVE, seen.task.state, reason=seen.task.reason, body=observation.body(), effect=step
    )
    return Recorded(change, observation)
