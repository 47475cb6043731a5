"""How the edges on which outside effects move are walked. They leave the task's state alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from claims import transitions
from claims.callers import sweep_caller
from claims.decide import Look
from claims.models import Approval, Effect, Permit, Task
from claims.outcomes import Granted
from claims.vocabulary import ApprovalState, EffectMode, EffectState, Said, State, Verb
from tests.support.effects import (
    ONCE_ONLY,
    PAYLOAD,
    RECEIPT,
    approved,
    effect_row,
    executing,
    keyed,
    long_ago,
    permitted,
    prepared,
    with_effect,
)
from tests.support.walks import Walk, walks
from tests.support.walks_of_graphs import in_state
from tests.support.world import World

Step = Callable[[World, Granted], Callable[[], object]]


def _by_the_holder(verb: Verb, step: Step, **slot: str) -> None:
    """Register a verb of the claim's holder: the step is made ready on a claim of a task with one slot."""

    @walks(State.CLAIMED, verb, State.CLAIMED)
    def _(world: World) -> Walk:
        granted = with_effect(world, **slot)
        return granted.fence.task_id, step(world, granted)


def _prepare(world: World, granted: Granted) -> Callable[[], object]:
    return lambda: transitions.prepare(world.caller(), granted.fence, "mail", PAYLOAD)


def _execute(world: World, granted: Granted) -> Callable[[], object]:
    effect_id = prepared(world, granted)
    return lambda: transitions.execute(keyed(world), granted.fence, effect_id)


def _confirm(world: World, granted: Granted) -> Callable[[], object]:
    effect_id, permit = executing(world, granted)
    return lambda: transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)


def _unknown(world: World, granted: Granted) -> Callable[[], object]:
    effect_id, permit = executing(world, granted)
    return lambda: transitions.unknown(world.caller(), granted.fence, effect_id, permit.permit_id, "cut off")


def _hand_back(world: World, granted: Granted) -> Callable[[], object]:
    effect_id = prepared(world, granted)
    permitted(world, granted, effect_id, key="lost-answer")
    return lambda: transitions.hand_back(world.caller(), granted.fence, effect_id, "lost-answer")


def _abandon(world: World, granted: Granted) -> Callable[[], object]:
    effect_id = prepared(world, granted)
    return lambda: transitions.abandon(world.caller(), granted.fence, effect_id, "not needed")


def _expire(world: World, granted: Granted) -> Callable[[], object]:
    effect_id, _ = executing(world, granted)
    long_ago(effect_id, 61)
    return lambda: transitions.expire_permit(sweep_caller(), effect_id)


def _approve(world: World, granted: Granted) -> Callable[[], object]:
    effect_id = prepared(world, granted)
    return lambda: approved(world, effect_id)


def _refuse(world: World, granted: Granted) -> Callable[[], object]:
    effect_id = prepared(world, granted)
    digest = effect_row(effect_id).payload_digest
    return lambda: transitions.refuse(world.person(world.reviewer), effect_id, digest, "no")


def _planted(world: World, task_id: UUID, state: EffectState, mode: EffectMode) -> Effect:
    """An effect of a task in any state, as a database would hold it: some of them no verb leaves behind."""
    task = Task.objects.get(id=task_id)
    at = task.created_at
    effect = Effect.objects.create(
        id=task_id.hex * 2, task_id=task_id, pool=world.pool, lineage_id=task.lineage_id, slot="mail", mode=mode, target="mail",
        serial_key=task_id.hex, is_required=False, permit_seconds=60, settle_seconds=0, payload_digest="sha256:", payload={},
        prepared_by=task_id, prepared_at=at, state=state, state_since=at, permits=1, permit_id=task_id,
    )  # fmt: skip
    Permit.objects.create(
        id=task_id, effect=effect, task_id=task_id, attempt_id=task_id, agent_id=world.agents[0].id, number=1, key="k",
        mode=EffectMode.QUERYABLE, claim_generation=1, scheduler_epoch=1, cancel_generation=0, granted_at=at, deadline=at,
    )  # fmt: skip
    return effect


def _in_every_state(state: State) -> None:
    look = Look(Said.HAPPENED, receipt=RECEIPT)

    @walks(state, Verb.OBSERVE, state)
    def _(world: World) -> Walk:
        task_id = in_state(world, state)
        effect = _planted(world, task_id, EffectState.UNKNOWN, EffectMode.QUERYABLE)
        return task_id, lambda: transitions.observe(world.person(world.operator), effect.id, look, True)

    @walks(state, Verb.RECONCILE, state)
    def _(world: World) -> Walk:
        task_id = in_state(world, state)
        effect = _planted(world, task_id, EffectState.UNKNOWN, EffectMode.QUERYABLE)
        operator = world.person(world.operator)
        return task_id, lambda: transitions.reconcile_as_operator(operator, effect.id, look, effect.version)

    @walks(state, Verb.REVOKE, state)
    def _(world: World) -> Walk:
        task_id = in_state(world, state)
        effect = _planted(world, task_id, EffectState.PREPARED, EffectMode.NON_REPLAYABLE)
        at = effect.prepared_at
        Approval.objects.create(
            effect=effect, task_id=task_id, state=ApprovalState.GRANTED, payload_digest="sha256:", claim_generation=1,
            scheduler_epoch=1, doubt=0, person=world.reviewer, at=at, expires_at=at + timedelta(hours=1),
        )  # fmt: skip
        return task_id, lambda: transitions.revoke(world.person(world.reviewer), effect.id, "too early")


_by_the_holder(Verb.PREPARE, _prepare)
_by_the_holder(Verb.EXECUTE, _execute)
_by_the_holder(Verb.CONFIRM, _confirm)
_by_the_holder(Verb.UNKNOWN, _unknown)
_by_the_holder(Verb.HAND_BACK, _hand_back)
_by_the_holder(Verb.ABANDON, _abandon)
_by_the_holder(Verb.EXPIRE_PERMIT, _expire)
_by_the_holder(Verb.APPROVE, _approve, **ONCE_ONLY)
_by_the_holder(Verb.REFUSE, _refuse, **ONCE_ONLY)
for _state in State:
    _in_every_state(_state)
