"""What is said of an outside effect, and whether it settles it (claim.v1 section 5).

Promises: nothing that is said is thrown away. Only the runner with the fence and the live permit
settles its own call; what comes too late, or from a lost fence, is kept and changes no state.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from claims.decide.changes import Change, EffectChange, Validated, refuse
from claims.decide.doubts import as_it_is, how_it_stands, in_doubt, must_reconcile, own_effect
from claims.decide.fence import claimed
from claims.decide.ledger import is_live
from claims.decide.rows import EffectRow, TaskAsRead
from claims.fences import Fence
from claims.outcomes import EffectMoved, Refused, Why
from claims.vocabulary import EffectState, Said, Verb, Via

SAYS = {Via.CONFIRM: Said.HAPPENED, Via.UNKNOWN: Said.CANNOT_TELL, Via.HAND_BACK: Said.CANNOT_TELL}
_VERBS = {Via.CONFIRM: Verb.CONFIRM, Via.UNKNOWN: Verb.UNKNOWN, Via.HAND_BACK: Verb.HAND_BACK}


@dataclass(frozen=True, slots=True)
class PermitRow:
    """A permit that was handed out."""

    id: UUID
    effect_id: str
    attempt_id: UUID
    agent_id: int
    deadline: datetime


@dataclass(frozen=True, slots=True)
class Statement:
    """What a runner says of the one call it was permitted."""

    via: Via
    receipt: Mapping[str, object] | None = None
    resource_etag: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class NewObservation:
    """A row to be kept. ``is_applied``: it moved the effect."""

    said: Said
    via: Via
    is_strong: bool
    is_applied: bool
    permit_id: UUID | None
    attempt_id: UUID | None = None
    look_up: str = ""
    etag: str = ""
    receipt: Mapping[str, object] | None = None
    note: str = ""

    def body(self) -> dict[str, object]:
        """What history tells of it."""
        told: dict[str, object] = {
            "said": self.said.value,
            "via": self.via.value,
            "strong": self.is_strong,
            "applied": self.is_applied,
        }
        told |= {"permitId": str(self.permit_id)} if self.permit_id else {}
        told |= {"attemptId": str(self.attempt_id)} if self.attempt_id else {}
        told |= {"lookUp": self.look_up} if self.look_up else {}
        return told


@dataclass(frozen=True, slots=True)
class Recorded:
    """An observation, the step it comes with, and the refusal that answers it, if it settled nothing."""

    change: Change
    observation: NewObservation
    refusal: Refused | None = None


@dataclass(frozen=True, slots=True)
class Spoken:
    """Who speaks: the permit it is about, whether the attempt is the caller's own, and whether the
    very same was said before (True: it moved the effect; False: it was only kept)."""

    permit: PermitRow | None
    is_own_attempt: bool
    before: bool | None = field(default=None)


def tell(
    seen: TaskAsRead, fence: Fence, agent_id: int, effect_id: str, statement: Statement, spoken: Spoken
) -> Recorded | EffectMoved | Refused:
    """EXECUTING -> COMMITTED by confirm, EXECUTING -> UNKNOWN by unknown and hand-back.

    Without the fence, the live permit or the same attempt it is kept as an observation and
    answered MUST_RECONCILE. NOT_FOUND for what is not the caller's.
    """
    effect, permit = own_effect(seen, effect_id), spoken.permit
    if effect is None or permit is None or not spoken.is_own_attempt or permit.agent_id != agent_id:
        return Refused(Why.NOT_FOUND)
    if spoken.before is not None:
        return as_it_is(seen, effect) if spoken.before else must_reconcile(seen, effect)
    standing = claimed(seen, fence, agent_id)
    if isinstance(standing, Refused) or not _may_settle(seen, fence, effect, permit, statement.via):
        return _kept(seen, effect, _observation(fence, permit, statement, is_applied=False))
    return _settled(
        seen, effect, standing, statement, _observation(fence, permit, statement, is_applied=True)
    )


def kept(seen: TaskAsRead, effect: EffectRow, observation: NewObservation, refusal: Refused) -> Recorded:
    """An observation that moves no state. One that says HAPPENED stands until a person settles it."""
    stands = observation.said is Said.HAPPENED and effect.state is not EffectState.COMMITTED
    step = EffectChange(effect, effect.state, {"has_happened": True} if stands else {})
    change = Change(
        Verb.OBSERVE, seen.task.state, reason=seen.task.reason, body=observation.body(), effect=step
    )
    return Recorded(change, observation, refusal)


def weak(seen: TaskAsRead, effect: EffectRow, observation: NewObservation, detail: str) -> Recorded:
    """An observation that is kept and too weak to settle anything."""
    return kept(seen, effect, observation, in_doubt(seen, effect, Why.WEAK_OBSERVATION, detail, keeps=True))


def _kept(seen: TaskAsRead, effect: EffectRow, observation: NewObservation) -> Recorded:
    detail = f"What you say is kept and settles nothing. {how_it_stands(seen, effect)}"
    return kept(seen, effect, observation, must_reconcile(seen, effect, detail, keeps=True))


def _may_settle(seen: TaskAsRead, fence: Fence, effect: EffectRow, permit: PermitRow, via: Via) -> bool:
    """Whether the permit is the effect's, this attempt's, and live; handing back needs no live one."""
    if effect.permit_id != permit.id or permit.attempt_id != fence.attempt_id:
        return False
    if via is Via.HAND_BACK:
        return effect.state is EffectState.EXECUTING
    return is_live(seen, effect)


def _observation(
    fence: Fence, permit: PermitRow, statement: Statement, *, is_applied: bool
) -> NewObservation:
    return NewObservation(
        SAYS[statement.via],
        statement.via,
        is_strong=is_applied,
        is_applied=is_applied,
        permit_id=permit.id,
        attempt_id=fence.attempt_id,
        receipt=statement.receipt,
        note=statement.note,
    )


def _settled(
    seen: TaskAsRead,
    effect: EffectRow,
    standing: Validated,
    statement: Statement,
    observation: NewObservation,
) -> Recorded:
    if statement.via is Via.CONFIRM:
        columns: dict[str, object] = {"receipt": json.dumps(dict(statement.receipt or {}))}
        if statement.resource_etag:
            columns["resource_etag"] = statement.resource_etag
        step = EffectChange(effect, EffectState.COMMITTED, columns)
    else:
        step = EffectChange(effect, EffectState.UNKNOWN, {"doubts": effect.doubts + 1})
    change = Change(
        _VERBS[statement.via],
        seen.task.state,
        reason=seen.task.reason,
        body=observation.body(),
        validated=standing,
        effect=step,
    )
    return Recorded(change, observation)


def no_such_permit(seen: TaskAsRead, effect_id: str) -> Refused:
    """UNPROCESSABLE for handing back what this agent was never permitted under that key."""
    if own_effect(seen, effect_id) is None:
        return Refused(Why.NOT_FOUND)
    return refuse(seen, Why.UNPROCESSABLE, "You were given no permit for this effect under that key.")
