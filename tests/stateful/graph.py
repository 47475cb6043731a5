"""A small model of claim.v1 section 6: revisions, cancellation, and the edge between two lineages."""

from __future__ import annotations

from tests.stateful.abstract import AFTER, BEFORE, OPENED, RIGHTS, Abstract, Row
from tests.stateful.authority import leave, lose, move
from tests.stateful.operating import Sighting, may_operate


def settle_successors(world: Abstract, lineage: str) -> None:
    """In the commit itself: what waited opens, what was opened with an older result is held."""
    for after in AFTER[lineage]:
        settle_one(world, world.newest(after))


def settle_one(world: Abstract, number: int) -> str:
    """Open, hold or mark one row by its predecessors as they are now."""
    row = world.rows[number]
    newest = {lineage: world.newest(lineage) for lineage in BEFORE[row.lineage]}
    if row.state == "BLOCKED" and all(world.rows[one].state == "DONE" for one in newest.values()):
        move(row, "OPEN")
        row.pins = newest
        return "Left OPEN"
    newer = [
        one
        for lineage, one in newest.items()
        if world.rows[one].state == "DONE" and row.pins.get(lineage, one) != one
    ]
    if not newer or row.is_stale or row.state not in (*OPENED, "DONE"):
        return "None"
    if row.state == "DONE":
        move(row, "DONE")
    else:
        lose(world, number, "HELD", "SUPERSEDED")
    row.is_stale = True
    return f"Left {row.state}"


def settle(world: Abstract, row: int) -> str:
    """The consistency sweep, which has nothing to do where every commit did its part."""
    return settle_one(world, row)


def revise(world: Abstract, person: str, row: int, version: int, variant: int) -> str:
    refused = _may_prepare(person)
    one = world.rows[row]
    if refused:
        return refused
    if row != world.newest(one.lineage) or version != one.version:
        return "STALE_STATE"
    if one.state == "DONE":
        move(one, "DONE")
    else:
        leave(world, row, "SUPERSEDED", "SUPERSEDED")
    return f"Revised {next_revision(world, one, variant, person)}"


def next_revision(world: Abstract, old: Row, variant: int, preparer: str) -> str:
    """A new row of the lineage: its numbers go on, its pins are of now."""
    new = Row(old.lineage, old.revision + 1, variant, old.is_auto, old.is_unreviewed, preparer)
    new.generation, new.cancel = old.generation, old.cancel
    begin(world, new)
    return new.state


def begin(world: Abstract, row: Row) -> None:
    """OPEN and pinned, or BLOCKED by predecessors that are not DONE."""
    newest = {lineage: world.newest(lineage) for lineage in BEFORE[row.lineage]}
    if all(world.rows[one].state == "DONE" for one in newest.values()):
        row.pins = newest
    else:
        row.state = "BLOCKED"
    world.rows.append(row)


def cancel(world: Abstract, person: str, row: int) -> str:
    refused = _may_prepare(person)
    one = world.rows[row]
    if refused or one.state == "CANCELLED":
        return refused or f"Cancelled {one.cancel}"
    if one.state in ("DONE", "SUPERSEDED"):
        return "TOO_LATE" if one.state == "DONE" else "STALE_STATE"
    one.cancel += 1
    leave(world, row, "CANCELLED", "CANCELLED")
    return f"Cancelled {one.cancel}"


def adjust(world: Abstract, person: str, row: int, is_auto: bool) -> str:
    """A scheduling attribute; one that stands already is no change."""
    refused = _may_prepare(person)
    one = world.rows[row]
    if refused or one.state in ("DONE", "CANCELLED", "SUPERSEDED"):
        return refused or "STALE_STATE"
    if one.is_auto is not is_auto:
        one.is_auto = is_auto
        move(one, one.state)
    return "Adjusted"


def requeue(world: Abstract, person: str, row: int, sighting: Sighting) -> str:
    one = world.rows[row]
    refused = may_operate(person)
    if refused or one.state != "HELD":
        return refused or "NOT_HELD"
    if one.version != sighting.version:
        return "STALE_STATE"
    if not one.is_stale:
        move(one, "OPEN")
        one.attempts_used = 0
        return "Left OPEN"
    move(one, "SUPERSEDED")
    return f"Left {next_revision(world, one, one.variant, one.preparer)}"


def acknowledge(world: Abstract, person: str, row: int, effect: int, counts: bool) -> str:
    """Of an effect of another revision: it counts, or is to be done again."""
    refused = _may_prepare(person)
    one = world.rows[row]
    if refused or one.state in ("DONE", "CANCELLED", "SUPERSEDED"):
        return refused or "STALE_STATE"
    its = world.effects[effect]
    is_earlier = its.row != row and world.rows[its.row].lineage == one.lineage
    if not is_earlier or (its.state != "COMMITTED" and not its.has_happened):
        return "UNPROCESSABLE"
    if (row, effect) in world.acknowledged:
        return "STALE_STATE"
    world.acknowledged[row, effect] = counts
    move(one, one.state)
    return f"Acknowledged {counts}"


def _may_prepare(person: str) -> str:
    if not RIGHTS[person]:
        return "NOT_FOUND"
    return "" if RIGHTS[person] & {"PREPARER", "OPERATOR"} else "FORBIDDEN"


VERBS = (settle, revise, cancel, adjust, requeue, acknowledge)
