"""What runners say of the calls they were permitted to make. None of it is thrown away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from claims import decide, kernel
from claims.callers import Caller
from claims.decide.rows import EffectRow, TaskAsRead
from claims.fences import Fence
from claims.models import Attempt, Observation, Permit
from claims.outcomes import EffectMoved, Refused, Why
from claims.transitions.payloads import RECEIPT_BYTES, flaw_of, flaw_of_words
from claims.vocabulary import Verb, Via


@kernel.verb(Verb.CONFIRM, "CLAIMED -> CLAIMED")
def confirm(
    caller: Caller,
    fence: Fence,
    effect_id: str,
    permit_id: UUID,
    receipt: Mapping[str, object],
    resource_etag: str = "",
) -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED. The call was made and answered: the effect is COMMITTED.

    Without the fence, the live permit or the same attempt it is kept as an observation, and the
    answer is MUST_RECONCILE. A repeat is answered as the first one was.
    """
    flawed = flaw_of(receipt, "receipt", RECEIPT_BYTES) or flaw_of_words("", resource_etag)
    if flawed:
        return flawed
    said = decide.Statement(Via.CONFIRM, dict(receipt), resource_etag)
    return _tell(caller, fence, effect_id, said, {"id": permit_id})


@kernel.verb(Verb.UNKNOWN, "CLAIMED -> CLAIMED")
def unknown(
    caller: Caller, fence: Fence, effect_id: str, permit_id: UUID, note: str = ""
) -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED. The runner cannot tell whether its call was made: the effect is UNKNOWN.

    Kept and answered as ``confirm`` is, where the fence or the permit is lost.
    """
    flawed = flaw_of_words(note)
    if flawed:
        return flawed
    return _tell(caller, fence, effect_id, decide.Statement(Via.UNKNOWN, note=note), {"id": permit_id})


@kernel.verb(Verb.HAND_BACK, "CLAIMED -> CLAIMED")
def hand_back(caller: Caller, fence: Fence, effect_id: str, execute_key: str) -> EffectMoved | Refused:
    """CLAIMED -> CLAIMED. An attempt never got its permit's answer, and names that execute's key.

    The effect is UNKNOWN, for a paused twin of the runner may have got it. Refused with
    UNPROCESSABLE where no permit was made under that key.
    """
    return _tell(caller, fence, effect_id, decide.Statement(Via.HAND_BACK), {"key": execute_key})


def _tell(
    caller: Caller, fence: Fence, effect_id: str, said: decide.Statement, of_permit: Mapping[str, Any]
) -> EffectMoved | Refused:
    """Lock, then look for the permit: one that is just being made must not be taken for none."""
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    permit = _permit_of(caller, effect_id, of_permit)
    is_own = Attempt.objects.filter(
        id=fence.attempt_id, task_id=fence.task_id, agent_id=caller.actor.id
    ).exists()
    if permit is None and is_own and said.via is Via.HAND_BACK:
        return decide.no_such_permit(seen, effect_id)
    before = _said_before(fence, permit, said) if permit else None
    spoken = decide.Spoken(permit, is_own, before)
    return record(caller, seen, decide.tell(seen, fence, caller.actor.id, effect_id, said, spoken))


def record(
    caller: Caller, seen: TaskAsRead, told: decide.Recorded | EffectMoved | Refused
) -> EffectMoved | Refused:
    """Write an observation with the step it makes, and answer with the step or with why there is none."""
    if not isinstance(told, decide.Recorded):
        return told
    step = told.change.effect
    if step is None:
        raise AssertionError(f"an observation of task {seen.task.id} is of no effect")
    _keep(caller, seen, step.effect.id, told.observation)
    advanced = kernel.advance(caller, seen, told.change)
    if told.refusal is None:
        return EffectMoved(step.effect.id, step.target, advanced.state_version)
    current = seen.current()
    return replace(told.refusal, current=replace(current, state_version=advanced.state_version))


def _keep(caller: Caller, seen: TaskAsRead, effect_id: str, observation: decide.NewObservation) -> None:
    Observation.objects.create(
        effect_id=effect_id,
        task_id=seen.task.id,
        permit_id=observation.permit_id,
        attempt_id=observation.attempt_id,
        said=observation.said.value,
        via=observation.via.value,
        look_up=observation.look_up,
        is_strong=observation.is_strong,
        is_applied=observation.is_applied,
        etag=observation.etag,
        receipt=None if observation.receipt is None else dict(observation.receipt),
        note=observation.note,
        actor_kind=caller.actor.kind.value,
        actor_id=caller.actor.id,
        actor_name=caller.actor.name,
        at=seen.now,
    )


def _permit_of(caller: Caller, effect_id: str, named: Mapping[str, Any]) -> decide.PermitRow | None:
    """A permit that this agent was given for the effect; None for anybody else's."""
    permit = Permit.objects.filter(effect_id=effect_id, agent_id=caller.actor.id, **named).first()
    if permit is None:
        return None
    return decide.PermitRow(permit.id, effect_id, permit.attempt_id, permit.agent_id, permit.deadline)


def _said_before(fence: Fence, permit: decide.PermitRow, said: decide.Statement) -> bool | None:
    """Whether this attempt said the very same of this permit, and whether that moved the effect."""
    same = Observation.objects.filter(
        permit_id=permit.id,
        attempt_id=fence.attempt_id,
        via=said.via.value,
        note=said.note,
        **_same_receipt(said.receipt),
    )
    return same.order_by("-is_applied").values_list("is_applied", flat=True).first()


def is_kept(fence: Fence, effect: EffectRow, look: decide.Look) -> bool:
    """Whether this attempt brought this very observation before."""
    return Observation.objects.filter(
        effect_id=effect.id,
        permit_id=effect.permit_id,
        attempt_id=fence.attempt_id,
        via=Via.LOOK_UP.value,
        said=look.said.value,
        look_up=look.look_up,
        etag=look.etag,
        note=look.note,
        **_same_receipt(look.receipt),
    ).exists()


def _same_receipt(receipt: Mapping[str, object] | None) -> dict[str, Any]:
    return {"receipt__isnull": True} if receipt is None else {"receipt": dict(receipt)}
