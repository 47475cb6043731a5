"""A small model of claim.v1 sections 2 and 4: what each verb answers, and what is true afterwards.

Written from the contract, not from the code: it shares no function and no value with it. Every verb
is total. It changes the world it is given and answers with the kind of a success, with what can be
told apart of it, or with the code of a refusal; ``step`` makes a pure function of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.stateful import graph, ledger, operating
from tests.stateful.abstract import RIGHTS, SETTLED, SLOTS, Abstract, Delivery, Fence, Row
from tests.stateful.authority import authority, claimed, give_back, grant, is_used_up, lose, move

Verb = Callable[..., str]


@dataclass(frozen=True)
class Command:
    """One call: the verb, who makes it, and what it names."""

    verb: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.verb}({', '.join(f'{name}={value}' for name, value in self.arguments.items())})"


def step(before: Abstract, command: Command) -> tuple[Abstract, str]:
    """What the world is after a command, and how it is answered."""
    after = before.copy()
    return after, VERBS[command.verb](after, **command.arguments)


def claim(world: Abstract, runner: int, row: int, version: int, epoch: int) -> str:
    one = world.rows[row]
    if epoch != world.epoch:
        return "OLD_EPOCH"
    if world.gate == "DRAINING":
        return "GATE_CLOSED"
    if one.state == "CANCELLED":
        return "CANCELLED"
    if version != one.version:
        return "STALE_STATE"
    if not _is_claimable(world, one):
        return "NOT_CLAIMABLE"
    if runner in world.disabled:
        return "NOT_ELIGIBLE"
    grant(world, row, runner)
    return "Granted"


def _is_claimable(world: Abstract, row: Row) -> bool:
    if is_used_up(row):
        return False
    return row.state == "OPEN" or (row.state == "CLAIMED" and row.is_auto and world.is_expired(row))


def claim_next(world: Abstract, runner: int, epoch: int, most: int) -> str:
    if epoch != world.epoch:
        return "OLD_EPOCH"
    if world.gate == "DRAINING":
        return "GATE_CLOSED"
    claimable = [
        number for number, row in enumerate(world.rows) if row.state == "OPEN" and not is_used_up(row)
    ]
    claimable.sort(key=lambda number: (world.rows[number].preferred != runner, number))
    if claimable and runner in world.disabled:
        return "NOT_ELIGIBLE"
    for number in claimable[:most]:
        grant(world, number, runner)
    return f"Grants {len(claimable[:most])}"


def renew(world: Abstract, runner: int, fence: Fence) -> str:
    refused = claimed(world, fence, runner)
    lease = world.rows[fence.row].lease
    if refused or lease is None:
        return refused
    if lease.is_at_its_window:
        return "WINDOW_EXCEEDED"
    said = f"Renewed recovered={lease.is_expired} nudged={lease.is_nudged}"
    lease.is_expired, lease.is_nudged, lease.token = False, False, world.next_token()
    return said


def progress(world: Abstract, runner: int, fence: Fence) -> str:
    return claimed(world, fence, runner) or "Progressed"


def accept_tool(world: Abstract, runner: int, fence: Fence) -> str:
    return claimed(world, fence, runner) or "ToolAccepted"


def stage(world: Abstract, runner: int, fence: Fence, result: int) -> str:
    """From a lost fence it is kept apart, if that fence was granted once."""
    attempt = world.attempts[fence.attempt]
    if attempt.runner != runner or attempt.row != fence.row:
        return "NOT_FOUND"
    refused = claimed(world, fence, runner)
    if refused and (refused == "ALREADY_DELIVERED" or fence != world.fence(fence.attempt)):
        return refused
    if result not in attempt.staged + attempt.late:
        (attempt.late if refused else attempt.staged).append(result)
    return f"Staged late={bool(refused)}"


def release(world: Abstract, runner: int, fence: Fence) -> str:
    return claimed(world, fence, runner) or f"Left {give_back(world, fence.row, 'RELEASED')}"


def fail(world: Abstract, runner: int, fence: Fence, retryable: bool) -> str:
    refused = claimed(world, fence, runner)
    if refused:
        return refused
    if retryable:
        return f"Left {give_back(world, fence.row, 'FAILED')}"
    lose(world, fence.row, "HELD", "FAILED")
    return "Left HELD"


def deliver(
    world: Abstract, runner: int, fence: Fence, result: int | None, is_digest: bool, is_inline: bool
) -> str:
    """A repeat of what was delivered is answered as before; ``result`` None names the last one staged."""
    attempt = world.attempts[fence.attempt]
    named = _handed_in(world, fence, result, is_inline)
    same = next((one for one in world.deliveries if one.attempt == fence.attempt), None)
    repeats = same is not None and fence == world.fence(fence.attempt) and runner == attempt.runner
    if (
        same is not None
        and repeats
        and is_digest
        and (result if result is not None else named) == same.result
    ):
        return "Delivered"
    refused = claimed(world, fence, runner, is_digest and _is_pinned(world, fence))
    if refused:
        return refused
    if named is None:
        return "NOT_STAGED"
    if not _are_settled(world, fence.row):
        return "EFFECTS_UNRESOLVED"
    _keep(world, fence, named)
    world.deliveries.append(Delivery(fence.row, fence.attempt, named))
    row = world.rows[fence.row]
    move(row, "DELIVERED")
    row.delivery, row.lease, row.rounds = len(world.deliveries) - 1, None, row.rounds + 1
    attempt.outcome = "DELIVERED"
    return "Delivered"


def commit(
    world: Abstract, runner: int, fence: Fence, result: int | None, is_digest: bool, is_inline: bool
) -> str:
    """Without review, where the task says so. The fence that committed is recognised for ever."""
    row = world.rows[fence.row]
    is_its = fence == world.fence(fence.attempt) and runner == world.attempts[fence.attempt].runner
    if row.commit and is_digest and is_its and row.commit[0] == fence.attempt:
        return "Committed" if result in (None, row.commit[1]) else "ALREADY_COMMITTED"
    refused = claimed(world, fence, runner, is_digest and _is_pinned(world, fence))
    if refused:
        return refused
    if not row.is_unreviewed:
        return "REVIEW_REQUIRED"
    named = _handed_in(world, fence, result, is_inline)
    if named is None:
        return "NOT_STAGED"
    if not _are_settled(world, fence.row):
        return "EFFECTS_UNRESOLVED"
    _keep(world, fence, named)
    row.commit = fence.attempt, named
    lose(world, fence.row, "DONE", "COMMITTED")
    graph.settle_successors(world, row.lineage)
    return "Committed"


def _is_pinned(world: Abstract, fence: Fence) -> bool:
    """A row that has not opened yet has no input digest that anybody could name."""
    return world.rows[fence.row].state != "BLOCKED"


def _handed_in(world: Abstract, fence: Fence, result: int | None, is_inline: bool) -> int | None:
    """Which result a hand-in is about: the inline one, the named one, or the last one staged."""
    if is_inline:
        return result
    staged = world.attempts[fence.attempt].staged
    if result is not None:
        return result if result in staged else None
    return staged[-1] if staged else None


def _keep(world: Abstract, fence: Fence, result: int) -> None:
    attempt = world.attempts[fence.attempt]
    if result not in attempt.staged + attempt.late:
        attempt.staged.append(result)


def _are_settled(world: Abstract, number: int) -> bool:
    """Every effect settled, and each required slot done, acknowledged, or written off."""
    own = {world.effects[one].slot: world.effects[one] for one in world.own(number)}
    if any(world.reads(effect) not in SETTLED for effect in own.values()):
        return False
    required = [slot for slot, is_required in SLOTS[world.rows[number].variant].items() if is_required]
    return all(
        (slot in own and own[slot].state != "ABANDONED") or ledger.is_counted(world, number, slot)
        for slot in required
    )


def _may_decide(world: Abstract, person: str, delivery: int, is_subject: bool) -> str:
    if not RIGHTS[person]:
        return "NOT_FOUND"
    if "REVIEWER" not in RIGHTS[person]:
        return "NOT_REVIEWER"
    if person == "owner":
        return "SELF_REVIEW"
    if world.deliveries[delivery].state not in ("PENDING", "CLOSED"):
        return "ALREADY_DECIDED"
    return "" if is_subject else "STALE_DELIVERY"


def accept(world: Abstract, person: str, delivery: int, is_subject: bool, is_met: bool) -> str:
    one = world.deliveries[delivery]
    fence = world.fence(one.attempt)
    refused = _may_decide(world, person, delivery, is_subject)
    refused = refused or authority(world, fence, world.attempts[one.attempt].runner)
    if refused:
        return refused
    if not is_met:
        return "CRITERIA_UNMET"
    row = world.rows[one.row]
    one.state, row.commit = "ACCEPTED", (one.attempt, one.result)
    lose(world, one.row, "DONE", "COMMITTED")
    graph.settle_successors(world, row.lineage)
    return "Committed"


def request_changes(world: Abstract, person: str, delivery: int, is_subject: bool) -> str:
    """By the same runner; to OPEN, that one preferred, where it cannot take it."""
    refused = _may_send_back(world, person, delivery, is_subject)
    if refused:
        return refused
    one = world.deliveries[delivery]
    one.state, runner = "CHANGES_REQUESTED", world.attempts[one.attempt].runner
    if world.gate == "OPEN" and runner not in world.disabled:
        grant(world, one.row, runner, "DELIVERED", is_counted=False)
        return "Decided CLAIMED"
    state = give_back(world, one.row, "DELIVERED")
    world.rows[one.row].preferred = runner
    return f"Decided {state}"


def reject(world: Abstract, person: str, delivery: int, is_subject: bool) -> str:
    refused = _may_send_back(world, person, delivery, is_subject)
    if refused:
        return refused
    world.deliveries[delivery].state = "REJECTED"
    return f"Decided {give_back(world, world.deliveries[delivery].row, 'DELIVERED')}"


def _may_send_back(world: Abstract, person: str, delivery: int, is_subject: bool) -> str:
    """As for the fence, but an old epoch does not stand in the way."""
    refused = _may_decide(world, person, delivery, is_subject)
    if refused:
        return refused
    one = world.deliveries[delivery]
    return authority(world, world.fence(one.attempt), world.attempts[one.attempt].runner, in_any_epoch=True)


VERBS: dict[str, Verb] = {
    verb.__name__: verb
    for verb in (
        claim, claim_next, renew, progress, accept_tool, stage, release, fail, deliver, commit, accept, request_changes,
        reject, *operating.VERBS, *graph.VERBS, *ledger.VERBS,
    )
}  # fmt: skip
