"""Which commands a schedule draws. Mostly what somebody would do now, often what comes too late.

A runner that slept shows an old fence; an operator's page is older than the row; a stranger tries.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tests.stateful.abstract import FIRST, RIGHTS, SECOND, SLOTS, Abstract, Fence
from tests.stateful.ledger import Seen
from tests.stateful.model import Command
from tests.stateful.operating import Sighting

T = TypeVar("T")
Arguments = dict[str, Any]


class Draws:
    """What one step draws, in words. ``seen`` holds what operators have read of the rows so far.

    Hypothesis gives each step one number. What is drawn by it is even, so that a schedule gets far.
    """

    def __init__(self, number: int, model: Abstract, seen: Sequence[tuple[int, Sighting]] = ()) -> None:
        self.random, self.model, self.seen = random.Random(number), model, seen

    def one_of(self, choices: Sequence[T]) -> T:
        return self.random.choice(choices)

    def mostly(self, usual: T, *others: T) -> T:
        """The usual one five times in six."""
        return self.one_of([*[usual] * 5 * len(others), *others])

    def is_usual(self) -> bool:
        return self.mostly(True, False)

    def person(self, usual: str) -> str:
        return self.mostly(usual, *[name for name in RIGHTS if name != usual])

    def runner(self) -> int:
        return self.one_of([0, 1, 2])

    def row(self, *states: str) -> int:
        """A row, mostly one in a state that the verb is for, and mostly a newest revision."""
        rows = self.model.rows
        fitting = [number for number, row in enumerate(rows) if row.state in states]
        return self.one_of(fitting) if fitting and self.is_usual() else self.one_of(range(len(rows)))

    def variant(self) -> int:
        return self.one_of([0, 0, *SLOTS])

    def version(self, row: int) -> int:
        return self.model.rows[row].version - self.mostly(0, 1)

    def epoch(self) -> int:
        return self.mostly(self.model.epoch, max(self.model.epoch - 1, 0))

    def sighting(self, row: int) -> Sighting:
        """What the page said: now, or some time ago."""
        lease = self.model.rows[row].lease
        now = Sighting(self.model.rows[row].version, lease.token if lease else None, not self.is_usual())
        earlier = [seen for number, seen in self.seen if number == row][-4:]
        return self.mostly(now, *earlier) if earlier else now

    def attempt(self) -> int | None:
        """Mostly one that holds a claim, else any that ever was."""
        attempts = self.model.attempts
        if not attempts:
            return None
        live = [row.attempt for row in self.model.rows if row.attempt is not None]
        return self.one_of(live) if live and self.is_usual() else self.one_of(range(len(attempts)))

    def fence(self) -> Arguments | None:
        """A fence in its runner's hands; sometimes in another's, or with one number changed."""
        attempt = self.attempt()
        if attempt is None:
            return None
        fence, runner = self.model.fence(attempt), self.model.attempts[attempt].runner
        if self.mostly(False, False, True):
            fence = self.one_of(self._not_quite(fence))
        return {"runner": self.mostly(runner, self.runner()), "fence": fence}

    def _not_quite(self, fence: Fence) -> list[Fence]:
        row, attempt, epoch, generation, cancel = (
            fence.row,
            fence.attempt,
            fence.epoch,
            fence.generation,
            fence.cancel,
        )
        return [
            Fence(row, attempt, epoch + 1, generation, cancel),
            Fence(row, attempt, epoch, generation + 1, cancel),
            Fence(row, attempt, epoch, generation, cancel + 1),
            Fence(row, self.one_of(range(len(self.model.attempts))), epoch, generation, cancel),
            Fence(self.one_of(range(len(self.model.rows))), attempt, epoch, generation, cancel),
        ]

    def of_effect(self, *states: str) -> Arguments | None:
        """A fence and an effect: mostly one in such a state, and the fence of who holds its row."""
        effect = self.effect(*states)
        if effect is None:
            return None
        holder = self.model.rows[self.model.effects[effect].row].attempt
        if holder is not None and self.mostly(True, False):
            runner = self.model.attempts[holder].runner
            return {"runner": runner, "fence": self.model.fence(holder), "effect": effect}
        given = self.fence()
        return {**given, "effect": effect} if given else None

    def effect(self, *states: str) -> int | None:
        effects = self.model.effects
        fitting = [number for number, one in enumerate(effects) if self.model.reads(one) in states]
        held = [one for one in fitting if self.model.rows[effects[one].row].attempt is not None]
        if fitting and self.is_usual():
            return self.one_of(held if held and self.is_usual() else fitting)
        return self.one_of(range(len(effects))) if effects else None

    def earlier_effect(self) -> int | None:
        """One that happened, or may have, in a revision that is not the newest any more."""
        model = self.model
        earlier = [
            number
            for number, one in enumerate(model.effects)
            if one.row != model.newest(model.rows[one.row].lineage)
        ]
        happened = [
            one
            for one in earlier
            if model.effects[one].state == "COMMITTED" or model.effects[one].has_happened
        ]
        if happened and self.is_usual():
            return self.one_of(happened)
        return self.one_of(earlier) if earlier else None

    def evidence(self, states: Sequence[str]) -> int | None:
        """An attempt, mostly one that left evidence of a row in such a state."""
        attempts = self.model.attempts
        fitting = [
            number
            for number, one in enumerate(attempts)
            if one.staged + one.late and self.model.rows[one.row].state in states
        ]
        if fitting and self.is_usual():
            return self.one_of(fitting)
        return self.one_of(range(len(attempts))) if attempts else None


def going_on(draw: Draws) -> Command:
    """What makes work possible again where a schedule has come to rest."""
    rows = draw.model.rows
    claimable = [number for number, row in enumerate(rows) if row.state == "OPEN"]
    resting = [draw.model.newest(lineage) for lineage in (FIRST, SECOND)]
    held = [number for number in resting if rows[number].state == "HELD"]
    over = [number for number in resting if rows[number].state in ("DONE", "CANCELLED")]
    if claimable and draw.model.gate == "OPEN":
        row = draw.one_of(claimable)
        epoch = draw.model.epoch
        return Command(
            "claim", {"runner": draw.runner(), "row": row, "version": rows[row].version, "epoch": epoch}
        )
    if draw.model.gate != "OPEN":
        return Command("gate", {"person": "operator", "wanted": "OPEN"})
    if held:
        row = draw.one_of(held)
        return Command("requeue", {"person": "operator", "row": row, "sighting": draw.sighting(row)})
    row = draw.one_of(over or resting)
    given = {"version": rows[row].version, "variant": draw.variant()}
    return Command("revise", {"person": "preparer", "row": row, **given})


def claiming(draw: Draws) -> Command | None:
    verb = draw.one_of(["claim", "claim", "claim_next"])
    given: Arguments = {"runner": draw.runner(), "epoch": draw.epoch()}
    if verb == "claim_next":
        return Command(verb, {**given, "most": draw.one_of([1, 1, 2])})
    model = draw.model
    if not any(row.state == "OPEN" or model.is_expired(row) for row in model.rows) and draw.is_usual():
        return None
    row = draw.row("OPEN", "CLAIMED")
    return Command(verb, {**given, "row": row, "version": draw.version(row)})


def holding(draw: Draws) -> Command | None:
    given = draw.fence()
    if given is None:
        return None
    verb = draw.one_of(["renew", "renew", "progress", "accept_tool", "release", "fail"])
    return Command(verb, {**given, **({"retryable": draw.is_usual()} if verb == "fail" else {})})


def handing_in(draw: Draws) -> Command | None:
    given = draw.fence()
    if given is None:
        return None
    verb = draw.one_of(["stage", "deliver", "deliver", "commit"])
    given["result"] = draw.one_of([0, 0, 1])
    if verb == "stage":
        return Command(verb, given)
    is_inline = draw.is_usual()
    if not is_inline:
        given["result"] = draw.one_of([0, 1, None])
    return Command(verb, {**given, "is_digest": draw.is_usual(), "is_inline": is_inline})


def deciding(draw: Draws) -> Command | None:
    deliveries = draw.model.deliveries
    if not deliveries:
        return None
    waiting = [number for number, one in enumerate(deliveries) if one.state == "PENDING"]
    delivery = draw.one_of(waiting) if waiting and draw.is_usual() else draw.one_of(range(len(deliveries)))
    verb = draw.one_of(["accept", "accept", "request_changes", "reject"])
    given: Arguments = {
        "person": draw.person("reviewer"),
        "delivery": delivery,
        "is_subject": draw.is_usual(),
    }
    return Command(verb, {**given, **({"is_met": draw.is_usual()} if verb == "accept" else {})})


def operating(draw: Draws) -> Command | None:
    verb = draw.one_of(["release_quiet", "reassign", "extend_once", "nudge", "requeue", "adopt", "lapse"])
    states = {"requeue": ("HELD",), "adopt": ("OPEN", "HELD", "DELIVERED")}.get(verb, ("CLAIMED",))
    row = draw.row(*states)
    if verb == "lapse":
        return Command(verb, {"row": row})
    given: Arguments = {"person": draw.person("operator"), "row": row, "sighting": draw.sighting(row)}
    if verb in ("reassign", "adopt"):
        given["runner"] = draw.runner()
    if verb == "adopt":
        attempt = draw.evidence(states)
        if attempt is None:
            return None
        row = draw.mostly(draw.model.attempts[attempt].row, row)
        given |= {"row": row, "sighting": draw.sighting(row), "attempt": attempt}
    return Command(verb, given)


def preparing(draw: Draws) -> Command | None:
    verb = draw.one_of(["revise"] * 4 + ["acknowledge"] * 4 + ["adjust", "settle", "cancel"])
    row = draw.row("BLOCKED", "OPEN", "CLAIMED", "DELIVERED", "HELD", "DONE", "CANCELLED")
    if verb == "settle":
        return Command(verb, {"row": row})
    given: Arguments = {"person": draw.person("preparer"), "row": row}
    match verb:
        case "revise":
            row = draw.mostly(draw.model.newest(draw.model.rows[row].lineage), row)
            given |= {"row": row, "version": draw.version(row), "variant": draw.variant()}
        case "adjust":
            given["is_auto"] = not draw.model.rows[row].is_auto if draw.is_usual() else True
        case "acknowledge":
            effect = draw.earlier_effect()
            if effect is None:
                return None
            newest = draw.model.newest(draw.model.rows[draw.model.effects[effect].row].lineage)
            given |= {"row": draw.mostly(newest, row), "effect": effect, "counts": draw.one_of([True, False])}
    return Command(verb, given)


def governing(draw: Draws) -> Command | None:
    verb = draw.one_of(["raise_epoch", "gate", "disable_agent"])
    if verb == "disable_agent":
        return Command(verb, {"runner": draw.runner()})
    person = draw.person("operator")
    if verb == "gate":
        return Command(verb, {"person": person, "wanted": draw.mostly("OPEN", "DRAINING")})
    return Command(verb, {"person": person, "expected": draw.epoch()})


def sending(draw: Draws) -> Command | None:
    """Preparing, permitting and giving up."""
    verb = draw.one_of(["prepare"] * 3 + ["execute"] * 5 + ["abandon"])
    if verb == "prepare":
        given = draw.fence()
        if given is None:
            return None
        return Command(verb, {**given, "slot": draw.one_of(["mail", "wire"]), "payload": draw.mostly(0, 1)})
    given = draw.of_effect("PREPARED")
    if given is None:
        return None
    used = [permit.key for permit in draw.model.permits][-3:]
    new = f"execute-{len(draw.model.permits)}"
    return Command(
        verb, {**given, **({"key": draw.mostly(new, *used) if used else new} if verb == "execute" else {})}
    )


def observing(draw: Draws) -> Command | None:
    given = draw.of_effect("EXECUTING", "UNKNOWN")
    if given is None:
        return None
    effect = given["effect"]
    permits = [number for number, one in enumerate(draw.model.permits) if one.effect == effect]
    verb = draw.one_of(["confirm", "confirm", "unknown", "hand_back", "reconcile", "reconcile"])
    if verb == "reconcile":
        now = draw.model.etag(draw.model.effects[effect])
        given |= {"etag": draw.mostly(now, "1.0"), "is_declared": draw.is_usual()}
        return Command(verb, {**given, "said": draw.one_of(["HAPPENED", "DID_NOT_HAPPEN", "CANNOT_TELL"])})
    if not permits:
        return None
    permit = draw.one_of(permits) if draw.is_usual() else draw.one_of(range(len(draw.model.permits)))
    if verb == "hand_back":
        return Command(verb, {**given, "key": draw.mostly(draw.model.permits[permit].key, "never-used")})
    receipt = {"receipt": draw.mostly(0, 1)} if verb == "confirm" else {}
    return Command(verb, {**given, "permit": permit, **receipt})


def settling(draw: Draws) -> Command | None:
    """What persons and the sweep do with effects."""
    verb = draw.one_of(
        [
            "approve",
            "approve",
            "approve",
            "refuse",
            "revoke",
            "reconcile_as_operator",
            "write_off",
            "expire_permit",
        ]
    )
    states = (
        ("PREPARED",) if verb in ("approve", "refuse", "revoke") else ("EXECUTING", "UNKNOWN", "PREPARED")
    )
    once_only = [number for number, one in enumerate(draw.model.effects) if one.slot == "wire"]
    effect = draw.effect(*states)
    if verb in ("approve", "refuse", "revoke") and once_only and draw.is_usual():
        effect = draw.mostly(once_only[-1], *once_only)
    if effect is None:
        return None
    one, given = draw.model.effects[effect], {"effect": effect}
    if verb == "expire_permit":
        return Command(verb, given)
    if verb in ("reconcile_as_operator", "write_off"):
        given |= {"version": one.version - draw.mostly(0, 1)}
        of = {"person": draw.person("operator")}
        said = draw.one_of(["HAPPENED", "DID_NOT_HAPPEN", "CANNOT_TELL"])
        what = {"said": said, "etag": draw.mostly(draw.model.etag(one), "1.0")}
        return Command(verb, {**of, **given, **(what if verb == "reconcile_as_operator" else {})})
    of = {"person": draw.person("reviewer")}
    if verb == "approve":
        row = draw.model.rows[one.row]
        seen = Seen(one.payload, row.generation, draw.epoch(), max(0, one.doubts - draw.mostly(0, 1)))
        stale = Seen(1 - one.payload, row.generation - 1, seen.epoch, one.doubts)
        return Command(verb, {**of, **given, "seen": draw.mostly(seen, stale)})
    return Command(
        verb, {**of, **given, **({"payload": draw.mostly(one.payload, 1)} if verb == "refuse" else {})}
    )


KINDS: dict[str, Callable[[Draws], Command | None]] = {
    kind.__name__: kind
    for kind in (
        claiming, holding, handing_in, deciding, operating, preparing, governing, sending, observing, settling,
    )
}  # fmt: skip
