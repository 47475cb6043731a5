"""A world with outside effects: slots in the input, and the steps that lead to each state."""

from __future__ import annotations

from itertools import count
from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from claims import decide, transitions
from claims.callers import Caller
from claims.fences import Fence
from claims.inputs import NewTask
from claims.models import Agent, Approval, Effect, Observation, Task
from claims.outcomes import Approved, Created, EffectMoved, Granted, Permitted, Revised
from claims.vocabulary import EffectState, Said
from tests.support.planting import plant
from tests.support.world import World, a_specification

LOOKUP = {"kind": "http", "url": "https://sink.test/calls/{effectId}"}
PAYLOAD: dict[str, Any] = {"to": "ops@example.org", "text": "done"}
OTHER_PAYLOAD: dict[str, Any] = {"to": "ops@example.org", "text": "changed"}
RECEIPT: dict[str, Any] = {"id": "msg-1"}
ONCE_ONLY: dict[str, Any] = {"mode": "NON_REPLAYABLE"}

_keys = count(1)


def a_slot(name: str = "mail", **changes: Any) -> dict[str, Any]:
    """A slot whose doubts can be looked up; its target is its own, so that serial keys do not meet."""
    slot = {
        "slot": name,
        "mode": "QUERYABLE",
        "target": f"https://sink.test/{name}/{uuid4().hex}",
        "lookup": LOOKUP,
        "permitSeconds": 60,
        "settleSeconds": 60,
        **changes,
    }
    return {key: value for key, value in slot.items() if value is not None}


def with_slots(*slots: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The small input with these slots, one queryable one when none are named."""
    return a_specification(effects=list(slots or [a_slot()]), **changes)


def a_key() -> str:
    """An idempotency key that nobody used."""
    return f"key-{next(_keys)}-{uuid4().hex[:8]}"


def with_effect(world: World, agent: Agent | None = None, by_preparer: bool = False, **slot: Any) -> Granted:
    """A claim of a new task with one slot; ``by_preparer``: written by the person, not by the server."""
    specification = with_slots(a_slot(**slot))
    if not by_preparer:
        return world.claimed(agent, input=specification)
    made = transitions.create(
        world.person(world.preparer), world.pool.name, [NewTask("Empty state", specification)]
    )
    assert isinstance(made, Created), made
    return world.claimed(agent, made.tasks[0].task_id)


def prepared(
    world: World, granted: Granted, slot: str = "mail", payload: object = PAYLOAD, agent: Agent | None = None
) -> str:
    """A prepared effect; its id."""
    moved = transitions.prepare(world.caller(agent), granted.fence, slot, payload)
    assert isinstance(moved, EffectMoved), moved
    return moved.effect_id


def permitted(
    world: World, granted: Granted, effect_id: str, agent: Agent | None = None, key: str | None = None
) -> Permitted:
    """A permit for a prepared effect, approved first where it has to be."""
    if effect_row(effect_id).mode == "NON_REPLAYABLE":
        approved(world, effect_id)
    permit = transitions.execute(world.caller(agent, key=key or a_key()), granted.fence, effect_id)
    assert isinstance(permit, Permitted), permit
    return permit


def executing(world: World, granted: Granted, agent: Agent | None = None) -> tuple[str, Permitted]:
    """An effect whose call may be under way."""
    effect_id = prepared(world, granted, agent=agent)
    return effect_id, permitted(world, granted, effect_id, agent)


def unknown(world: World, granted: Granted, agent: Agent | None = None) -> tuple[str, Permitted]:
    """An effect of which the runner said that it cannot tell."""
    effect_id, permit = executing(world, granted, agent)
    moved = transitions.unknown(world.caller(agent), granted.fence, effect_id, permit.permit_id, "cut off")
    assert isinstance(moved, EffectMoved), moved
    return effect_id, permit


def approved(world: World, effect_id: str, **changes: Any) -> Approved:
    """An approval by the reviewer of what is true now."""
    effect, task = effect_row(effect_id), Task.objects.get(id=effect_row(effect_id).task_id)
    seen: dict[str, Any] = {
        "payload_digest": effect.payload_digest,
        "claim_generation": task.claim_generation,
        "scheduler_epoch": world.epoch,
        "doubt": effect.doubts,
    }
    answer = transitions.approve(world.person(world.reviewer), effect_id, **{**seen, **changes})
    assert isinstance(answer, Approved), answer
    return answer


def a_look(effect_id: str, said: Said = Said.HAPPENED, **changes: Any) -> decide.Look:
    """What the declared look-up saw, begun with the etag that the effect has now."""
    return decide.Look(
        **{"said": said, "look_up": "http", "etag": etag_of(effect_id), "receipt": RECEIPT, **changes}
    )


def etag_of(effect_id: str) -> str:
    """The effect's etag as the database's clock has it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.version || '.' || (CASE WHEN p.deadline + make_interval(secs => e.settle_seconds) > clock_timestamp()"
            " THEN '0' ELSE '1' END) FROM claims_effect e LEFT JOIN claims_permit p ON p.id = e.permit_id WHERE e.id = %s",
            [effect_id],
        )
        return str(cursor.fetchone()[0])


def long_ago(effect_id: str, seconds: int) -> None:
    """Let the permits of an effect have been handed out some seconds earlier, without waiting for it.

    A permit is append-only; the guard steps aside for this one statement.
    """
    plant(
        "permit",
        "UPDATE claims_permit SET granted_at = granted_at - make_interval(secs => %s),"
        " deadline = deadline - make_interval(secs => %s) WHERE effect_id = %s",
        seconds,
        seconds,
        effect_id,
    )


def revised(world: World, task_id: UUID, specification: dict[str, Any], **changes: Any) -> UUID:
    """The next revision of a task, by its preparer; its id."""
    version = Task.objects.values_list("state_version", flat=True).get(id=task_id)
    answer = transitions.revise(world.person(world.preparer), task_id, version, specification, **changes)
    assert isinstance(answer, Revised), answer
    return answer.task.task_id


def effect_row(effect_id: str) -> Effect:
    """The effect now."""
    return Effect.objects.get(id=effect_id)


def state_of(effect_id: str) -> EffectState:
    """The state that is written down."""
    return EffectState(effect_row(effect_id).state)


def observations(effect_id: str) -> list[tuple[str, str, bool, bool]]:
    """What was said of an effect, oldest first: what, how, strong, applied."""
    rows = Observation.objects.filter(effect_id=effect_id).order_by("at", "id")
    return list(rows.values_list("said", "via", "is_strong", "is_applied"))


def approvals(effect_id: str) -> list[str]:
    """The states of the answers about an effect, oldest first."""
    return list(
        Approval.objects.filter(effect_id=effect_id).order_by("at", "id").values_list("state", flat=True)
    )


def keyed(world: World, agent: Agent | None = None) -> Caller:
    """A call with a key of its own."""
    return world.caller(agent, key=a_key())


def fence_of(task_id: UUID) -> Fence:
    """The fence of the attempt that holds the task now."""
    task = Task.objects.get(id=task_id)
    attempt = task.attempt
    assert attempt is not None
    return Fence(
        task_id,
        attempt.id,
        attempt.scheduler_epoch,
        attempt.claim_generation,
        attempt.cancel_generation,
    )
