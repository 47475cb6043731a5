"""The only code that locks or writes a task.

Promises: a verb takes its locks in one order, reads afresh after it has them, and writes once
(claim.v1 section 3). ``reading.hold`` and ``reading.take`` lock and read, ``writing.advance``
writes, ``running.verb`` opens the transaction and answers with a value. ``hot`` does all of it
in one round trip for three verbs, where there is nothing to refuse.
"""

from claims.kernel import graph, hot
from claims.kernel.keys import expire_keys
from claims.kernel.pools import hold_pool, move_gate, raise_pool_epoch
from claims.kernel.reading import (
    adopted_by,
    clock,
    delivery_of_attempt,
    hold,
    next_claimable,
    numbers,
    person_in,
    pool_named,
    read_delivery,
    share_pool,
    share_pool_of,
    staged,
    take,
)
from claims.kernel.running import verb
from claims.kernel.standing import switch_off
from claims.kernel.writing import Advanced, advance, found, keep_lease

__all__ = [
    "Advanced",
    "adopted_by",
    "advance",
    "clock",
    "delivery_of_attempt",
    "expire_keys",
    "found",
    "graph",
    "hold",
    "hold_pool",
    "hot",
    "keep_lease",
    "move_gate",
    "next_claimable",
    "numbers",
    "person_in",
    "pool_named",
    "raise_pool_epoch",
    "read_delivery",
    "share_pool",
    "share_pool_of",
    "staged",
    "switch_off",
    "take",
    "verb",
]
