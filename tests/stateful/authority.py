"""What the contract says of a fence, of a grant and of the loss of one (claim.v1 sections 2 and 4)."""

from __future__ import annotations

from tests.stateful.abstract import AUTHORITY, MOST_ATTEMPTS, Abstract, Attempt, Effect, Fence, Lease, Row


def is_outdated(row: Row) -> bool:
    return row.state == "SUPERSEDED" or (row.state == "HELD" and row.is_stale)


def authority(
    world: Abstract, fence: Fence, runner: int, is_digest: bool = True, in_any_epoch: bool = False
) -> str:
    """CANCELLED, then STALE_INPUT, then FENCED; empty where the fence may write."""
    row = world.rows[fence.row]
    if row.state == "CANCELLED" or fence.cancel != row.cancel:
        return "CANCELLED"
    if is_outdated(row) or not is_digest:
        return "STALE_INPUT"
    presented = (fence.epoch, fence.generation, fence.attempt)
    holder = world.attempts[row.attempt].runner if row.attempt is not None else None
    if presented[1:] != (row.generation, row.attempt) or runner != holder:
        return "FENCED"
    is_of_now = fence.epoch == world.epoch and not world.is_below_epoch(row)
    return "" if in_any_epoch or is_of_now else "FENCED"


def claimed(world: Abstract, fence: Fence, runner: int, is_digest: bool = True) -> str:
    """The same, and the work is not handed in yet."""
    refused = authority(world, fence, runner, is_digest)
    is_delivered = world.rows[fence.row].state == "DELIVERED"
    return refused or ("ALREADY_DELIVERED" if is_delivered else "")


def is_used_up(row: Row) -> bool:
    return row.attempts_used >= MOST_ATTEMPTS


def ending(world: Abstract, row: Row) -> str:
    """How an attempt ends that somebody else's grant or an operator ended."""
    return "FENCED" if world.is_below_epoch(row) else "LAPSED"


def grant(
    world: Abstract, number: int, runner: int, outcome: str | None = None, is_counted: bool = True
) -> int:
    """A new attempt under a new generation; whatever authority there was ends in the same step."""
    row = world.rows[number]
    lose(world, number, "CLAIMED", outcome or ending(world, row))
    attempt = Attempt(number, runner, world.epoch, row.generation, row.cancel)
    world.attempts.append(attempt)
    row.attempt = len(world.attempts) - 1
    row.attempts_used += int(is_counted)
    row.preferred = None
    row.lease = Lease(world.next_token())
    return row.attempt


def lose(world: Abstract, number: int, state: str, outcome: str) -> None:
    """One step that raises the generation: attempt, lease, delivery, permits and approvals end with it."""
    row = world.rows[number]
    row.generation += 1
    move(row, state)
    if row.attempt is not None:
        ended = world.attempts[row.attempt]
        ended.outcome = outcome
    row.attempt, row.lease = None, None
    if row.delivery is not None:
        delivery = world.deliveries[row.delivery]
        delivery.state = "CLOSED" if delivery.state == "PENDING" else delivery.state
        row.delivery = None
    for effect in (world.effects[one] for one in world.own(number)):
        if effect.state == "EXECUTING":
            effect.state, effect.doubts, effect.version = "UNKNOWN", effect.doubts + 1, effect.version + 1
        end_approval(effect)


def end_approval(effect: Effect, state: str = "VOID") -> None:
    """The granted approval of an effect ends, if there is one."""
    for approval in effect.approvals:
        if approval.state == "GRANTED":
            approval.state = state


def move(row: Row, state: str) -> None:
    """One recorded change."""
    row.state, row.version = state, row.version + 1


def give_back(world: Abstract, number: int, outcome: str) -> str:
    """To OPEN, or to HELD where the attempts are used up."""
    state = "HELD" if is_used_up(world.rows[number]) else "OPEN"
    lose(world, number, state, outcome)
    return state


def leave(world: Abstract, number: int, state: str, outcome: str) -> None:
    """Out of wherever the row is: the generation rises only where an authority ends."""
    row = world.rows[number]
    if row.state in AUTHORITY:
        lose(world, number, state, outcome)
    else:
        move(row, state)
