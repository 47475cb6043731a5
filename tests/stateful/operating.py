"""A small model of what operators and the sweep do: quiet claims, lost evidence, and whole pools."""

from __future__ import annotations

from dataclasses import dataclass

from tests.stateful.abstract import RIGHTS, Abstract
from tests.stateful.authority import ending, give_back, grant, is_used_up, lose, move


@dataclass(frozen=True)
class Sighting:
    """What an operator saw of a row when the page was drawn."""

    version: int
    token: int | None
    even_if_live: bool = False


def may_operate(person: str) -> str:
    if not RIGHTS[person]:
        return "NOT_FOUND"
    return "" if "OPERATOR" in RIGHTS[person] else "FORBIDDEN"


def _is_not_quiet(world: Abstract, number: int, sighting: Sighting) -> str:
    row = world.rows[number]
    if row.state != "CLAIMED" or row.lease is None:
        return "NOT_CLAIMED"
    if row.version != sighting.version:
        return "STALE_STATE"
    is_quiet = world.is_expired(row) and row.lease.token == sighting.token
    return "" if is_quiet or sighting.even_if_live else "NOT_QUIET"


def release_quiet(world: Abstract, person: str, row: int, sighting: Sighting) -> str:
    refused = may_operate(person) or _is_not_quiet(world, row, sighting)
    return refused or f"Left {give_back(world, row, ending(world, world.rows[row]))}"


def reassign(world: Abstract, person: str, row: int, sighting: Sighting, runner: int) -> str:
    one = world.rows[row]
    refused = may_operate(person)
    if not refused and one.state not in ("CLAIMED", "OPEN"):
        refused = "NOT_CLAIMED"
    if not refused and one.state == "CLAIMED":
        refused = _is_not_quiet(world, row, sighting)
    if refused:
        return refused
    if one.version != sighting.version:
        return "STALE_STATE"
    if world.gate == "DRAINING":
        return "GATE_CLOSED"
    if runner in world.disabled or is_used_up(one):
        return "NOT_ELIGIBLE"
    grant(world, row, runner)
    return "Granted"


def extend_once(world: Abstract, person: str, row: int, sighting: Sighting) -> str:
    refused = may_operate(person) or _is_not_quiet(world, row, sighting)
    lease = world.rows[row].lease
    if refused or lease is None:
        return refused
    if lease.is_extended:
        return "ALREADY_EXTENDED"
    if lease.is_at_its_window:
        return "WINDOW_EXCEEDED"
    lease.is_expired, lease.is_extended, lease.token = False, True, world.next_token()
    move(world.rows[row], "CLAIMED")
    return "Noted"


def nudge(world: Abstract, person: str, row: int, sighting: Sighting) -> str:
    refused = may_operate(person) or _is_not_quiet(world, row, sighting)
    lease = world.rows[row].lease
    if refused or lease is None:
        return refused
    lease.is_nudged = True
    move(world.rows[row], "CLAIMED")
    return "Noted"


def adopt(world: Abstract, person: str, row: int, sighting: Sighting, runner: int, attempt: int) -> str:
    """Evidence of an old epoch or of a lost claim goes to a named runner, who has to deliver again."""
    one = world.rows[row]
    refused = may_operate(person)
    if refused:
        return refused
    if world.gate == "DRAINING":
        return "GATE_CLOSED"
    if one.state == "CANCELLED":
        return "CANCELLED"
    if one.version != sighting.version:
        return "STALE_STATE"
    if one.state == "SUPERSEDED" or (one.state == "HELD" and one.is_stale):
        return "STALE_INPUT"
    if one.state not in ("DELIVERED", "OPEN", "HELD"):
        return "NOT_CLAIMABLE"
    whose = world.attempts[attempt]
    is_waiting = one.delivery is not None and world.deliveries[one.delivery].attempt == attempt
    if whose.row != row or not whose.staged + whose.late:
        return "UNPROCESSABLE"
    if is_waiting and not world.is_below_epoch(one):
        return "UNPROCESSABLE"
    if runner in world.disabled:
        return "NOT_ELIGIBLE"
    grant(world, row, runner, "FENCED" if world.is_below_epoch(one) else "SUPERSEDED")
    return "Granted"


def lapse(world: Abstract, row: int) -> str:
    """The sweep: an expired AUTO claim is open again, a MANUAL one only once its epoch has ended."""
    one = world.rows[row]
    if one.state != "CLAIMED" or not world.is_expired(one):
        return "None"
    if one.is_auto:
        return f"Left {give_back(world, row, ending(world, one))}"
    if not world.is_below_epoch(one):
        return "None"
    lose(world, row, "HELD", "FENCED")
    return "Left HELD"


def raise_epoch(world: Abstract, person: str, expected: int) -> str:
    refused = may_operate(person)
    if refused or expected != world.epoch:
        return refused or "EPOCH_CONFLICT"
    world.epoch += 1
    return "EpochRaised"


def gate(world: Abstract, person: str, wanted: str) -> str:
    refused = may_operate(person)
    if refused:
        return refused
    world.gate = wanted
    return f"GateSet {wanted}"


def disable_agent(world: Abstract, runner: int) -> str:
    """What it holds is HELD; what it delivered stays."""
    world.disabled.add(runner)
    held = [
        number
        for number, row in enumerate(world.rows)
        if row.state == "CLAIMED" and row.attempt is not None and world.attempts[row.attempt].runner == runner
    ]
    for number in held:
        lose(world, number, "HELD", "FENCED")
    return f"list {len(held)}"


VERBS = (
    release_quiet, reassign, extend_once, nudge, adopt, lapse, raise_epoch, gate, disable_agent,
)  # fmt: skip
