"""A small model of claim.v1 section 5: outside effects, permits, observations and approvals."""

from __future__ import annotations

from dataclasses import dataclass

from tests.stateful.abstract import (
    IN_DOUBT,
    RIGHTS,
    SETTLED,
    SLOTS,
    Abstract,
    Approval,
    Effect,
    Fence,
    Permit,
)
from tests.stateful.authority import claimed, end_approval, move
from tests.stateful.operating import may_operate


@dataclass(frozen=True)
class Seen:
    """What stood on the page when a person answered for an effect."""

    payload: int
    generation: int
    epoch: int
    doubt: int


def prepare(world: Abstract, runner: int, fence: Fence, slot: str, payload: int) -> str:
    refused = claimed(world, fence, runner)
    if refused:
        return refused
    declared = SLOTS[world.rows[fence.row].variant]
    if slot not in declared:
        return "SLOT_MISMATCH"
    for bound in (world.effects[one] for one in world.own(fence.row)):
        if bound.slot == slot:
            return f"EffectMoved {world.reads(bound)}" if bound.payload == payload else "PAYLOAD_CONFLICT"
    refused = _stands_before(world, fence.row, slot)
    if refused:
        return refused
    world.effects.append(Effect(fence.row, slot, payload, declared[slot]))
    move(world.rows[fence.row], "CLAIMED")
    return "EffectMoved PREPARED"


def execute(world: Abstract, runner: int, fence: Fence, effect: int, key: str) -> str:
    """Only ever one permit for one key; none while the effect may have happened."""
    one = world.effects[effect]
    is_own = one.row == fence.row
    used = [each.request for each in world.permits if (each.runner, each.key) == (runner, key)]
    if used:
        return "MUST_RECONCILE" if used == [(fence, effect)] else "KEY_REUSED"
    refused = claimed(world, fence, runner)
    if refused or not is_own:
        return refused or "NOT_FOUND"
    if one.state != "PREPARED" or one.has_happened:
        return "MUST_RECONCILE"
    refused = _stands_before(world, one.row, one.slot)
    if refused:
        return refused
    if one.mode == "NON_REPLAYABLE":
        if _is_busy(world, effect):
            return "SERIAL_BUSY"
        if not _is_approved(world, one):
            return "APPROVAL_REQUIRED"
        end_approval(one, "CONSUMED")
    world.permits.append(Permit(effect, fence.attempt, runner, world.epoch, key, (fence, effect)))
    one.permit, one.permits = len(world.permits) - 1, one.permits + 1
    _become(world, one, "EXECUTING")
    return "Permitted"


def _is_busy(world: Abstract, effect: int) -> bool:
    """One serial key for all tasks of the pool."""
    return any(
        one.mode == "NON_REPLAYABLE" and one.state in IN_DOUBT and number != effect
        for number, one in enumerate(world.effects)
    )


def _is_approved(world: Abstract, effect: Effect) -> bool:
    if not effect.approvals:
        return False
    last = effect.approvals[-1]
    bound = last.payload, last.generation, last.epoch, last.doubt
    true_now = effect.payload, world.rows[effect.row].generation, world.epoch, effect.doubts
    return last.state == "GRANTED" and not last.has_run_out and bound == true_now


def _stands_before(world: Abstract, row: int, slot: str) -> str:
    """Whether what another revision of the lineage did forbids sending this."""
    for number, effect in enumerate(world.effects):
        is_earlier = effect.row != row and world.rows[effect.row].lineage == world.rows[row].lineage
        if not is_earlier or effect.slot != slot:
            continue
        if world.reads(effect) in IN_DOUBT or (effect.state == "PREPARED" and effect.has_happened):
            return "MUST_RECONCILE"
        if effect.state != "COMMITTED" and not effect.has_happened:
            continue
        if (row, number) not in world.acknowledged:
            return "MUST_RECONCILE"
        if world.acknowledged[row, number]:
            return "SLOT_MISMATCH"
    return ""


def is_counted(world: Abstract, row: int, slot: str) -> bool:
    """Whether another revision's effect was acknowledged as this slot's."""
    return any(
        effect.row != row
        and world.rows[effect.row].lineage == world.rows[row].lineage
        and effect.slot == slot
        and world.acknowledged.get((row, number), False)
        and effect.state in SETTLED
        and (effect.state != "ABANDONED" or effect.has_happened)
        for number, effect in enumerate(world.effects)
    )


def abandon(world: Abstract, runner: int, fence: Fence, effect: int) -> str:
    one = world.effects[effect]
    refused = claimed(world, fence, runner)
    if refused or one.row != fence.row:
        return refused or "NOT_FOUND"
    if one.state == "ABANDONED":
        return "EffectMoved ABANDONED"
    if one.state != "PREPARED" or one.has_happened:
        return "MUST_RECONCILE"
    if one.is_required and not is_counted(world, one.row, one.slot):
        return "SLOT_MISMATCH"
    end_approval(one)
    _become(world, one, "ABANDONED")
    return "EffectMoved ABANDONED"


def confirm(world: Abstract, runner: int, fence: Fence, effect: int, permit: int, receipt: int) -> str:
    return _tell(world, runner, fence, effect, permit, ("CONFIRM", receipt))


def unknown(world: Abstract, runner: int, fence: Fence, effect: int, permit: int) -> str:
    return _tell(world, runner, fence, effect, permit, ("UNKNOWN", None))


def hand_back(world: Abstract, runner: int, fence: Fence, effect: int, key: str) -> str:
    """Names the key of the execute whose answer never came."""
    found = [
        number
        for number, one in enumerate(world.permits)
        if (one.effect, one.runner, one.key) == (effect, runner, key)
    ]
    is_own = world.attempts[fence.attempt].row == fence.row and world.attempts[fence.attempt].runner == runner
    if not found and is_own:
        return "UNPROCESSABLE" if world.effects[effect].row == fence.row else "NOT_FOUND"
    return _tell(world, runner, fence, effect, found[0] if found else None, ("HAND_BACK", None))


def _tell(
    world: Abstract, runner: int, fence: Fence, effect: int, permit: int | None, said: tuple[str, int | None]
) -> str:
    """The holder with the live permit settles its call; whatever else is said is kept."""
    one, attempt = world.effects[effect], world.attempts[fence.attempt]
    is_own = one.row == fence.row and attempt.row == fence.row and attempt.runner == runner
    its = world.permits[permit] if permit is not None else None
    if not is_own or its is None or its.runner != runner or its.effect != effect:
        return "NOT_FOUND"
    same = [bool(kept[-1]) for kept in one.said if kept[:4] == (permit, fence.attempt, *said)]
    if same:
        return f"EffectMoved {world.reads(one)}" if any(same) else "MUST_RECONCILE"
    settles = not claimed(world, fence, runner) and one.permit == permit and its.attempt == fence.attempt
    settles = settles and (one.state == "EXECUTING" if said[0] == "HAND_BACK" else world.is_live(one))
    one.said.append((permit, fence.attempt, *said, settles))
    if not settles:
        _observe(world, one, says_happened=said[0] == "CONFIRM")
        return "MUST_RECONCILE"
    if said[0] != "CONFIRM":
        one.doubts += 1
    _become(world, one, "COMMITTED" if said[0] == "CONFIRM" else "UNKNOWN")
    return f"EffectMoved {one.state}"


def _observe(world: Abstract, effect: Effect, says_happened: bool) -> None:
    """Kept, and one that says HAPPENED stands until somebody settles it."""
    if says_happened and effect.state != "COMMITTED":
        effect.has_happened = True
    _become(world, effect, effect.state)


def _become(world: Abstract, effect: Effect, state: str) -> None:
    effect.state, effect.version = state, effect.version + 1
    row = world.rows[effect.row]
    move(row, row.state)


def reconcile(
    world: Abstract, runner: int, fence: Fence, effect: int, said: str, etag: str, is_declared: bool
) -> str:
    """The holder's look-up: strong only when it was begun after the settle time, by the effect's own etag."""
    one = world.effects[effect]
    refused = claimed(world, fence, runner)
    if refused or one.row != fence.row:
        return refused or "NOT_FOUND"
    if one.mode == "NON_REPLAYABLE":
        return "FORBIDDEN"
    refused = _nothing_to_settle(world, one)
    if refused or not is_declared:
        return refused or "SLOT_MISMATCH"
    if not world.has_settled(one) or etag != world.etag(one):
        kept = (one.permit, fence.attempt, "LOOK_UP", said, etag, False)
        if kept not in one.said:
            one.said.append(kept)
            _observe(world, one, said == "HAPPENED")
        return "WEAK_OBSERVATION"
    one.said.append((one.permit, fence.attempt, "LOOK_UP", said, etag, said != "CANNOT_TELL"))
    return _settled(world, one, said)


def reconcile_as_operator(
    world: Abstract, person: str, effect: int, said: str, version: int, etag: str
) -> str:
    """Also of final tasks, and from PREPARED while HAPPENED stands; DID_NOT_HAPPEN only by an etag of the settled time."""
    one = world.effects[effect]
    refused = may_operate(person)
    if refused or one.version != version:
        return refused or "STALE_STATE"
    refused = "" if _is_contested(one) else _nothing_to_settle(world, one)
    if refused:
        return refused
    end_approval(one)
    if said == "DID_NOT_HAPPEN" and not (world.has_settled(one) and etag == world.etag(one)):
        _observe(world, one, says_happened=False)
        return "WEAK_OBSERVATION"
    if said == "DID_NOT_HAPPEN":
        one.has_happened = False
    return _settled(world, one, said)


def write_off(world: Abstract, person: str, effect: int, version: int) -> str:
    one = world.effects[effect]
    refused = may_operate(person)
    if refused or one.version != version:
        return refused or "STALE_STATE"
    refused = _nothing_to_settle(world, one)
    if refused:
        return refused
    one.doubts += int(one.state == "EXECUTING")
    _become(world, one, "WRITTEN_OFF")
    return "EffectMoved WRITTEN_OFF"


def _settled(world: Abstract, effect: Effect, said: str) -> str:
    effect.doubts += int(effect.state == "EXECUTING")
    stays = "PREPARED" if effect.state == "PREPARED" else "UNKNOWN"
    _become(world, effect, {"HAPPENED": "COMMITTED", "DID_NOT_HAPPEN": "PREPARED"}.get(said, stays))
    return f"EffectMoved {effect.state}"


def _is_contested(effect: Effect) -> bool:
    return effect.state == "PREPARED" and effect.has_happened


def _nothing_to_settle(world: Abstract, effect: Effect) -> str:
    if world.is_live(effect) or _is_contested(effect):
        return "MUST_RECONCILE"
    return "STALE_STATE" if effect.state in (*SETTLED, "PREPARED") else ""


def expire_permit(world: Abstract, effect: int) -> str:
    """The sweep writes down what reads as UNKNOWN already."""
    one = world.effects[effect]
    is_due = one.state == "EXECUTING" and one.permit is not None and world.permits[one.permit].age > 0
    if not is_due or world.rows[one.row].state != "CLAIMED":
        return "None"
    one.doubts += 1
    _become(world, one, "UNKNOWN")
    return "EffectMoved UNKNOWN"


def approve(world: Abstract, person: str, effect: int, seen: Seen) -> str:
    one = world.effects[effect]
    refused = _may_answer(world, person, one, seen.payload)
    if refused:
        return refused
    true_now = Seen(one.payload, world.rows[one.row].generation, world.epoch, one.doubts)
    if seen != true_now:
        return "STALE_STATE"
    if one.has_happened:
        return "MUST_RECONCILE"
    _answer(world, one, "GRANTED")
    return "Approved GRANTED"


def refuse(world: Abstract, person: str, effect: int, payload: int) -> str:
    one = world.effects[effect]
    refused = _may_answer(world, person, one, payload)
    if refused:
        return refused
    _answer(world, one, "REFUSED")
    return "Approved REFUSED"


def revoke(world: Abstract, person: str, effect: int) -> str:
    one = world.effects[effect]
    refused = _may_review(world, person, one)
    if refused:
        return refused
    if not one.approvals or one.approvals[-1].state != "GRANTED":
        return "STALE_STATE"
    end_approval(one, "REVOKED")
    row = world.rows[one.row]
    move(row, row.state)
    return "Approved REVOKED"


def _answer(world: Abstract, effect: Effect, state: str) -> None:
    end_approval(effect)
    row = world.rows[effect.row]
    effect.approvals.append(Approval(state, effect.payload, row.generation, world.epoch, effect.doubts))
    move(row, row.state)


def _may_answer(world: Abstract, person: str, effect: Effect, payload: int) -> str:
    refused = _may_review(world, person, effect)
    if refused:
        return refused
    if effect.mode != "NON_REPLAYABLE":
        return "UNPROCESSABLE"
    row = world.rows[effect.row]
    is_open = row.state == "CLAIMED" and not world.is_below_epoch(row) and effect.state == "PREPARED"
    return "" if is_open and payload == effect.payload else "STALE_STATE"


def _may_review(world: Abstract, person: str, effect: Effect) -> str:
    """Neither the runner's owner nor the preparer: all agents here have one owner."""
    if not RIGHTS[person]:
        return "NOT_FOUND"
    if "REVIEWER" not in RIGHTS[person]:
        return "NOT_REVIEWER"
    row = world.rows[effect.row]
    is_maker = (person == "owner" and row.attempt is not None) or person == row.preparer
    return "SELF_REVIEW" if is_maker else ""


VERBS = (
    prepare, execute, abandon, confirm, unknown, hand_back, reconcile, reconcile_as_operator, write_off, expire_permit,
    approve, refuse, revoke,
)  # fmt: skip
