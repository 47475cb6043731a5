"""What operators do with a pool as a whole: a new epoch, and the gate for new claims.

Both take the exclusive side of the pool's lock: they wait for the verbs under way, and every
verb after them sees what they wrote. Neither raises a generation.
"""

from __future__ import annotations

from claims import decide, kernel
from claims.callers import Caller
from claims.decide import PoolAsRead
from claims.outcomes import EpochRaised, GateSet, Refused, Why
from claims.vocabulary import Gate, Verb


@kernel.verb(Verb.RAISE_EPOCH)
def raise_epoch(caller: Caller, pool_name: str, expected_epoch: int, reason: str) -> EpochRaised | Refused:
    """No edge. From its return on, nothing granted under an earlier epoch is accepted anywhere.

    ``expected_epoch`` is the one the operator saw. Refused with NOT_FOUND, FORBIDDEN, UNPROCESSABLE
    without a reason, or EPOCH_CONFLICT, which says the epoch there is.
    """
    seen = _hold(caller, pool_name)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    refused = decide.raise_epoch(seen, expected_epoch, reason)
    if refused:
        return refused

    after = kernel.raise_pool_epoch(caller, seen, reason)
    return EpochRaised(seen.pool.name, after, seen.pool.scheduler_epoch)


@kernel.verb(Verb.GATE)
def gate(caller: Caller, pool_name: str, wanted: Gate, reason: str) -> GateSet | Refused:
    """No edge. After DRAINING is answered the pool hands out no new claim, until OPEN is.

    What is claimed goes on. The gate that stands already is answered the same, and is no event.
    Refused with NOT_FOUND, FORBIDDEN, or UNPROCESSABLE without a reason.
    """
    seen = _hold(caller, pool_name)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    answer = decide.gate(seen, wanted, reason)
    if answer:
        return answer

    kernel.move_gate(caller, seen, wanted, reason)
    return GateSet(seen.pool.name, wanted, seen.pool.scheduler_epoch)


def _hold(caller: Caller, pool_name: str) -> PoolAsRead | None:
    """The pool under its exclusive lock; None for a token, and for a person without rights in it.

    A stranger is turned away before the lock, so that nobody without rights can make the pool wait.
    """
    pool_id = kernel.pool_named(pool_name) if caller.is_at_hand else None
    if pool_id is None or not kernel.person_in(pool_id, caller.actor.id).rights:
        return None
    return kernel.hold_pool(caller, pool_id)
