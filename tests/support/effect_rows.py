"""Effects as a transition reads them, for tests of the pure decisions: no database at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from claims import decide
from claims.decide.rows import EffectRow, TaskAsRead
from claims.inputs import Slot
from claims.vocabulary import ApprovalState, EffectMode, EffectState, Via
from tests.support.rows import (
    AGENT,
    ATTEMPT,
    EPOCH,
    GENERATION,
    INPUT,
    NOW,
    OTHER_DIGEST,
    OTHER_REVIEWER,
    TASK,
    a_claimed_task,
)

EFFECT, PERMIT, NEXT_PERMIT, APPROVAL = "e" * 64, UUID(int=71), UUID(int=72), UUID(int=81)
EARLIER_TASK, EARLIER_EFFECT = UUID(int=9), "f" * 64
PAYLOAD, OTHER_PAYLOAD = INPUT, OTHER_DIGEST
SLOT = Slot.model_validate(
    {
        "slot": "mail",
        "mode": "QUERYABLE",
        "target": "https://sink.test/mail",
        "lookup": {"kind": "http", "url": "https://sink.test/calls/{effectId}"},
    }
)

_PREPARED = EffectRow(
    id=EFFECT, task_id=TASK, slot="mail", mode=EffectMode.QUERYABLE, target=SLOT.target, serial_key=SLOT.serial_key,
    is_required=False, permit_seconds=60, settle_seconds=60, payload_digest=PAYLOAD, state=EffectState.PREPARED, version=3,
    permits=0, doubts=0, has_happened=False, resource_etag="",
)  # fmt: skip


def an_effect(state: EffectState = EffectState.PREPARED, **changes: Any) -> EffectRow:
    """The effect of the one slot; past PREPARED it had one permit, live for another half minute."""
    permitted: dict[str, Any] = {
        "permits": 1,
        "permit_id": PERMIT,
        "permit_attempt_id": ATTEMPT,
        "permit_epoch": EPOCH,
        "permit_deadline": NOW + timedelta(seconds=30),
    }
    was_sent = state not in (EffectState.PREPARED, EffectState.ABANDONED)
    return replace(_PREPARED, state=state, **{**(permitted if was_sent else {}), **changes})


def settled(state: EffectState = EffectState.UNKNOWN, **changes: Any) -> EffectRow:
    """The same, its permit's deadline and settle time just passed."""
    return an_effect(state, **{"permit_deadline": NOW - timedelta(seconds=60), **changes})


def once_only(state: EffectState = EffectState.PREPARED, **changes: Any) -> EffectRow:
    """An effect that cannot be replayed."""
    return an_effect(state, mode=EffectMode.NON_REPLAYABLE, **changes)


def earlier(state: EffectState = EffectState.COMMITTED, **changes: Any) -> EffectRow:
    """The same slot's effect in an earlier revision."""
    return an_effect(state, **{"id": EARLIER_EFFECT, "task_id": EARLIER_TASK, **changes})


def with_effects(*effects: EffectRow, seen: TaskAsRead | None = None, **task: Any) -> TaskAsRead:
    """A claimed task with these effects."""
    return replace(seen or a_claimed_task(**task), effects=effects)


def an_approval(**changes: Any) -> decide.ApprovalRow:
    """An approval by another reviewer of exactly what is true."""
    granted = decide.ApprovalRow(
        APPROVAL,
        ApprovalState.GRANTED,
        PAYLOAD,
        GENERATION,
        EPOCH,
        0,
        OTHER_REVIEWER,
        NOW + timedelta(seconds=1),
    )
    return replace(granted, **changes)


def asked(**changes: Any) -> decide.Asked:
    """A first request for a permit, with an approval at hand."""
    return replace(decide.Asked(NEXT_PERMIT, approval=an_approval()), **changes)


def a_permit(**changes: Any) -> decide.PermitRow:
    """The one permit of the effect."""
    return replace(decide.PermitRow(PERMIT, EFFECT, ATTEMPT, AGENT, NOW + timedelta(seconds=30)), **changes)


def spoken(**changes: Any) -> decide.Spoken:
    """The holder of the permit speaks of it for the first time."""
    return replace(decide.Spoken(a_permit(), True), **changes)


def a_statement(via: Via = Via.CONFIRM) -> decide.Statement:
    """What a runner says of its call."""
    return decide.Statement(via, {"id": "msg-1"} if via is Via.CONFIRM else None)
