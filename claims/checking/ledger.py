"""Invariants of outside effects: one payload, one permit at a time, nothing repeated on a guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

from claims import canonical
from claims.checking.results import as_written
from claims.checking.rows import EffectNow, Found, Life, PermitNow, Told
from claims.lifecycle import EFFECT_EDGES
from claims.vocabulary import ApprovalState, EffectMode, EffectState, Said, Verb

_STEPS = {(edge.source, edge.verb, edge.target) for edge in EFFECT_EDGES}


def an_effect_has_one_payload(life: Life) -> Found:
    """Bound when it was prepared, and the same in every row since (section 5)."""
    for slot, number in Counter(effect.slot for effect in life.effects).items():
        if number > 1:
            yield f"Slot {slot} has {number} effects."
    for effect in life.effects:
        if canonical.digest(as_written(effect.payload)) != effect.payload_digest:
            yield f"The payload of slot {effect.slot} has another digest than it was prepared with."
        for row in _rows_of(life, effect):
            told = row.body.get("payloadDigest", effect.payload_digest)
            if told != effect.payload_digest:
                yield f"{row} tells of the payload {told}; slot {effect.slot} is bound to {effect.payload_digest}."


def an_effect_is_named_by_its_task_and_slot(life: Life) -> Found:
    """Its effectId, computed again (section 1)."""
    for effect in life.effects:
        if canonical.effect_id(life.task.id, life.task.node_id, effect.slot) != effect.id:
            yield f"The effectId of slot {effect.slot} is not that of its task and slot."


def every_step_of_an_effect_is_an_edge_or_a_loss_of_authority(life: Life) -> Found:
    """Section 5: there are no other steps, and each begins where the one before ended."""
    stands: dict[str, str] = {}
    for row, step in _steps(life):
        source, target, effect_id = step.get("from"), step.get("to"), str(step.get("effectId"))
        loses = row.edge is not None and row.edge.raises
        is_loss = loses and (source, target) == (EffectState.EXECUTING, EffectState.UNKNOWN)
        if not is_loss and (source, row.verb, target) not in _STEPS:
            yield f"{row} takes slot {step.get('slot')} from {source} to {target}, which is no edge of an effect."
        if stands.get(effect_id) != source:
            yield f"{row} takes slot {step.get('slot')} from {source}; it was {stands.get(effect_id)}."
        stands[effect_id] = str(target)


def a_loss_of_authority_leaves_nothing_executing(life: Life) -> Found:
    """EXECUTING becomes UNKNOWN in the transaction of every loss of authority (section 5)."""
    stands: dict[str, str] = {}
    for row in life.rows:
        for step in row.body.get("effects", ()):
            stands[str(step.get("effectId"))] = str(step.get("to"))
        if row.edge is not None and row.edge.raises and EffectState.EXECUTING in stands.values():
            yield f"{row} ended an authority and left an effect EXECUTING."


def an_effect_is_where_its_steps_lead(life: Life) -> Found:
    """State, version and doubts, rebuilt from history (invariant 13)."""
    steps: dict[str, list[tuple[Told, Any]]] = {effect.id: [] for effect in life.effects}
    for row, step in _steps(life):
        if step.get("effectId") not in steps:
            yield f"{row} tells of an effect of slot {step.get('slot')} that is not there."
            continue
        steps[step["effectId"]].append((row, step))
    for effect in life.effects:
        taken = steps[effect.id]
        if not taken:
            yield f"Slot {effect.slot} has an effect of which the history knows nothing."
            continue
        led = (taken[-1][1].get("to"), len(taken), sum(_is_doubt(*each) for each in taken))
        if led != (effect.state, effect.version, effect.doubts):
            yield (
                f"Slot {effect.slot} is {effect.state}, version {effect.version}, {effect.doubts} doubts;"
                f" its history leads to {led[0]}, version {led[1]}, {led[2]} doubts."
            )


def permits_are_numbered_each_with_its_row(life: Life) -> Found:
    """Committed before the call, with the fence of the attempt that asked (section 5)."""
    told = {row.body.get("permitId"): row for row in life.rows_of(Verb.EXECUTE)}
    for effect in life.effects:
        permits = _permits_of(life, effect)
        numbers = [permit.number for permit in permits]
        if numbers != list(range(1, effect.permits + 1)):
            yield f"Slot {effect.slot} counts {effect.permits} permits; there are those numbered {numbers}."
        if permits and permits[-1].id != effect.permit_id:
            yield f"Slot {effect.slot} does not name its last permit."
        for permit in permits:
            row = told.get(str(permit.id))
            if row is None:
                yield f"Permit {permit.number} of slot {effect.slot} was handed out by no row of the history."
            elif (row.body.get("permit"), row.attempt_id, row.validated) != (
                permit.number,
                permit.attempt_id,
                permit.fence,
            ):
                yield f"{row} handed out another permit than number {permit.number} of slot {effect.slot}."
    if len(told) != len(life.permits):
        yield f"The history hands out {len(told)} permits; there are {len(life.permits)}."


def between_two_permits_it_was_seen_not_to_have_happened(life: Life) -> Found:
    """An applied DID_NOT_HAPPEN about the first one, after its deadline and the settle time (invariant 9)."""
    for effect in life.effects:
        settling = timedelta(seconds=effect.settle_seconds)
        for first, second in pairwise(_permits_of(life, effect)):
            seen = [
                one
                for one in life.observations
                if one.permit_id == first.id
                and one.said == Said.DID_NOT_HAPPEN
                and one.is_applied
                and one.at >= first.deadline + settling
            ]
            if not seen:
                yield (
                    f"Permit {second.number} of slot {effect.slot} was handed out, and nothing says that"
                    f" permit {first.number} did not happen."
                )


def what_cannot_be_replayed_was_approved(life: Life) -> Found:
    """Each permit consumed an approval of its own, bound to all that was true (invariant 9)."""
    approvals = {approval.id: approval for approval in life.approvals}
    payloads = {effect.id: effect.payload_digest for effect in life.effects}
    used = Counter(permit.approval_id for permit in life.permits if permit.approval_id)
    for permit in life.permits:
        if permit.mode != EffectMode.NON_REPLAYABLE:
            continue
        approval = approvals.get(permit.approval_id) if permit.approval_id else None
        if approval is None or used[approval.id] != 1 or approval.state != ApprovalState.CONSUMED:
            yield f"Permit {permit.number} of a NON_REPLAYABLE effect consumed no approval of its own."
            continue
        bound = (
            approval.effect_id,
            approval.payload_digest,
            approval.claim_generation,
            approval.scheduler_epoch,
        )
        needed = (
            permit.effect_id,
            payloads[permit.effect_id],
            permit.claim_generation,
            permit.scheduler_epoch,
        )
        if bound != needed:
            yield f"The approval of permit {permit.number} was given for something else."
        if approval.expires_at is None or approval.expires_at <= permit.granted_at:
            yield f"The approval of permit {permit.number} had run out."


def an_approver_has_no_part_in_it(life: Life) -> Found:
    """Neither the runner's owner nor the preparer approves (section 5)."""
    approvals = {approval.id: approval for approval in life.approvals}
    for permit in life.permits:
        approval = approvals.get(permit.approval_id) if permit.approval_id else None
        attempt = life.attempts.get(permit.attempt_id)
        owner = attempt.owner_id if attempt else None
        if approval and approval.person_id in {owner, life.task.preparer_id} - {None}:
            yield f"Permit {permit.number} was approved by the runner's owner or the task's preparer."


def _steps(life: Life) -> Iterator[tuple[Told, Any]]:
    return ((row, step) for row in life.rows for step in row.body.get("effects", ()))


def _rows_of(life: Life, effect: EffectNow) -> list[Told]:
    """The rows that take this effect a step, and it alone."""
    return [row for row, step in _steps(life) if step.get("effectId") == effect.id and row.verb in _BOUND]


_BOUND = (Verb.PREPARE, Verb.EXECUTE)


def _permits_of(life: Life, effect: EffectNow) -> list[PermitNow]:
    return [permit for permit in life.permits if permit.effect_id == effect.id]


def _is_doubt(row: Told, step: Any) -> bool:
    """Whether the step put a call in doubt; settling one whose permit ran out unnoticed does, too."""
    return step.get("from") == EffectState.EXECUTING and row.verb not in (Verb.CONFIRM, Verb.OBSERVE)


INVARIANTS = (
    an_effect_is_named_by_its_task_and_slot,
    an_effect_has_one_payload,
    every_step_of_an_effect_is_an_edge_or_a_loss_of_authority,
    a_loss_of_authority_leaves_nothing_executing,
    an_effect_is_where_its_steps_lead,
    permits_are_numbered_each_with_its_row,
    between_two_permits_it_was_seen_not_to_have_happened,
    what_cannot_be_replayed_was_approved,
    an_approver_has_no_part_in_it,
)
