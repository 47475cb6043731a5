"""The abstract world: what claim.v1 says exists, as plain values that know nothing of the code.

Rows, attempts, deliveries, effects and permits are named by their position. Times are reduced to
what the contract asks about them: a lease has run out or not, a permit's deadline has passed, its
settle time has passed.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

FINAL = ("DONE", "CANCELLED", "SUPERSEDED")
AUTHORITY = ("CLAIMED", "DELIVERED")
OPENED = ("OPEN", "CLAIMED", "DELIVERED", "HELD")
SETTLED = ("COMMITTED", "ABANDONED", "WRITTEN_OFF")
IN_DOUBT = ("EXECUTING", "UNKNOWN")

FIRST, SECOND = "first", "second"
BEFORE = {FIRST: (), SECOND: (FIRST,)}
AFTER = {FIRST: (SECOND,), SECOND: ()}
"""The graph: two lineages, one edge."""

RIGHTS = {
    "reviewer": {"REVIEWER"},
    "operator": {"OPERATOR"},
    "preparer": {"PREPARER", "REVIEWER"},
    "owner": {"REVIEWER"},
    "stranger": set[str](),
}
"""Who may do what. ``owner`` answers for all agents."""

MODES = {"mail": "QUERYABLE", "wire": "NON_REPLAYABLE"}
SLOTS: dict[int, dict[str, bool]] = {0: {"mail": False, "wire": False}, 1: {"mail": True}, 2: {}}
"""Variants of an input: the slots it declares, and whether each is required. All lineages share the
serial key of ``wire``."""

MOST_ATTEMPTS = 3


@dataclass
class Lease:
    """``token`` names one value of the lease's end: another one, another token."""

    token: int
    is_expired: bool = False
    is_nudged: bool = False
    is_extended: bool = False
    is_at_its_window: bool = False


@dataclass
class Row:
    """One revision of a lineage. ``pins`` maps each predecessor to the row it was opened with."""

    lineage: str
    revision: int
    variant: int
    is_auto: bool
    is_unreviewed: bool
    preparer: str
    state: str = "OPEN"
    version: int = 1
    generation: int = 0
    cancel: int = 0
    attempts_used: int = 0
    rounds: int = 0
    is_stale: bool = False
    attempt: int | None = None
    delivery: int | None = None
    preferred: int | None = None
    commit: tuple[int, int] | None = None
    pins: dict[str, int] = field(default_factory=dict)
    lease: Lease | None = None


@dataclass
class Attempt:
    """``staged`` and ``late`` list results in the order in which they came."""

    row: int
    runner: int
    epoch: int
    generation: int
    cancel: int
    outcome: str | None = None
    staged: list[int] = field(default_factory=list)
    late: list[int] = field(default_factory=list)


@dataclass
class Delivery:
    row: int
    attempt: int
    result: int
    state: str = "PENDING"


@dataclass
class Permit:
    """``age``: 0 while it may be acted on, 1 past its deadline, 2 past its settle time.

    ``request`` is what was asked with the key.
    """

    effect: int
    attempt: int
    runner: int
    epoch: int
    key: str
    request: object
    age: int = 0


@dataclass
class Approval:
    state: str
    payload: int
    generation: int
    epoch: int
    doubt: int
    has_run_out: bool = False


@dataclass
class Effect:
    """``said`` lists what was observed: permit, attempt, via, what, etag, and whether it moved the effect."""

    row: int
    slot: str
    payload: int
    is_required: bool
    state: str = "PREPARED"
    version: int = 1
    permits: int = 0
    doubts: int = 0
    has_happened: bool = False
    permit: int | None = None
    said: list[tuple[object, ...]] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)

    @property
    def mode(self) -> str:
        return MODES[self.slot]


@dataclass(frozen=True)
class Fence:
    """What a runner presents. ``attempt`` may be one of another row."""

    row: int
    attempt: int
    epoch: int
    generation: int
    cancel: int


@dataclass
class Abstract:
    """Everything there is."""

    epoch: int = 0
    gate: str = "OPEN"
    rows: list[Row] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    permits: list[Permit] = field(default_factory=list)
    disabled: set[int] = field(default_factory=set)
    acknowledged: dict[tuple[int, int], bool] = field(default_factory=dict)
    tokens: int = 0

    def copy(self) -> Abstract:
        """The same world again, sharing nothing."""
        again: Abstract = pickle.loads(pickle.dumps(self))
        return again

    def newest(self, lineage: str) -> int:
        """The newest revision of a lineage."""
        of_lineage = [number for number, row in enumerate(self.rows) if row.lineage == lineage]
        return max(of_lineage, key=lambda number: self.rows[number].revision)

    def next_token(self) -> int:
        self.tokens += 1
        return self.tokens

    def fence(self, attempt: int) -> Fence:
        """The fence that was granted with an attempt."""
        one = self.attempts[attempt]
        return Fence(one.row, attempt, one.epoch, one.generation, one.cancel)

    def own(self, row: int) -> list[int]:
        """The effects of one row."""
        return [number for number, effect in enumerate(self.effects) if effect.row == row]

    def is_below_epoch(self, row: Row) -> bool:
        return row.attempt is not None and self.attempts[row.attempt].epoch != self.epoch

    def is_expired(self, row: Row) -> bool:
        return row.lease is not None and (row.lease.is_expired or self.is_below_epoch(row))

    def is_live(self, effect: Effect) -> bool:
        """Whether the effect's permit may still be acted on."""
        if effect.state != "EXECUTING" or effect.permit is None:
            return False
        permit = self.permits[effect.permit]
        holds = self.rows[effect.row].attempt == permit.attempt
        return permit.age == 0 and permit.epoch == self.epoch and holds

    def reads(self, effect: Effect) -> str:
        """The state of an effect as it reads: without a live permit it is in doubt."""
        in_doubt = effect.state == "EXECUTING" and not self.is_live(effect)
        return "UNKNOWN" if in_doubt else effect.state

    def has_settled(self, effect: Effect) -> bool:
        return effect.permit is None or self.permits[effect.permit].age == 2

    def etag(self, effect: Effect) -> str:
        return f"{effect.version}.{int(self.has_settled(effect))}"
