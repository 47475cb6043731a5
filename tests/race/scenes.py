"""One task in the state that a verb is for, and the call of each verb on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from claims import transitions
from claims.callers import SYSTEM, Caller
from claims.fences import Fence
from claims.inputs import NewTask
from claims.models import Agent, Delivery, Effect, Task
from claims.outcomes import Created, Delivered, Granted, Permitted, Refused
from claims.transitions import StagedResult
from claims.vocabulary import Gate, ReclaimPolicy, ReviewPolicy, Said, Source, Verdict
from tests.support.effects import ONCE_ONLY, PAYLOAD, RECEIPT, a_key, a_look, a_slot, approved, long_ago
from tests.support.world import World, expire, judgement

RESULT = StagedResult({"done": True}, [])
SETTLED_AFTER = 240
"""Seconds after which the permits and settle times of ``a_slot`` have long passed."""


@dataclass
class Scene:
    """A task, what the callers saw of it beforehand, and an effect where a verb needs one."""

    world: World
    task_id: UUID
    granted: Granted
    first: Agent
    second: Agent
    delivery: Delivery | None = None
    effect_id: str = ""
    permit_id: UUID | None = None
    newer: Delivery | None = None

    @property
    def fence(self) -> Fence:
        return self.granted.fence

    @property
    def runner(self) -> Caller:
        return self.world.caller(self.first)


def stage(world: World, state: str, effect: str, is_successor: bool) -> Scene:
    """A new task: ``expired``, ``quiet``, ``open``, ``delivered`` or freshly ``claimed``.

    ``effect`` names a slot and how far its effect has come. A successor's predecessor has a newer
    revision, delivered and not yet accepted.
    """
    transitions.gate(world.person(world.operator), world.pool.name, Gate.OPEN, "the next scene")
    policy = ReclaimPolicy.AUTO if state == "expired" else ReclaimPolicy.MANUAL
    task_id, newer = _made(world, policy, is_successor)
    first, second = world.agents[0], world.agents[1]
    granted = world.claimed(first, task_id)
    scene = Scene(world, task_id, granted, first, second, newer=newer)
    _prepare_effect(scene, effect)
    match state:
        case "expired" | "quiet":
            expire(task_id)
        case "open":
            transitions.stage(scene.runner, scene.fence, RESULT)
            transitions.release(scene.runner, scene.fence, "no time")
        case "delivered":
            _settle_effect(scene, effect)
            scene.delivery = _delivered(world, granted, first)
    return scene


def _made(world: World, policy: ReclaimPolicy, is_successor: bool) -> tuple[UUID, Delivery | None]:
    """The task alone, or behind a predecessor with two revisions."""
    task = NewTask(
        title="Count",
        input=_input("Count"),
        review_policy=ReviewPolicy.NONE,
        reclaim_policy=policy,
        max_attempts=5,
        node_id="task",
        depends_on=("before",) if is_successor else (),
    )
    before = [NewTask(title="Before", input={"task": "Before"}, node_id="before")] if is_successor else []
    made = transitions.create(Caller(SYSTEM, Source.COMMAND), world.pool.name, [*before, task])
    assert isinstance(made, Created), made
    if not before:
        return made.tasks[0].task_id, None
    old = made.tasks[0].task_id
    _accept(world, _delivered(world, world.claimed(task_id=old), world.agents[0]))()
    version = Task.objects.values_list("state_version", flat=True).get(id=old)
    revised = transitions.revise(world.person(world.preparer), old, version, {"task": "Before, better"})
    assert not isinstance(revised, Refused), revised
    granted = world.claimed(task_id=revised.task.task_id)
    return made.tasks[1].task_id, _delivered(world, granted, world.agents[0])


def _input(task: str) -> dict[str, Any]:
    slots = [a_slot("mail"), a_slot("wire", **ONCE_ONLY)]
    return {"task": task, "acceptance": [{"text": "Done"}, {"text": "Well done"}], "effects": slots}


def _delivered(world: World, granted: Granted, agent: Agent) -> Delivery:
    answer = transitions.deliver(world.caller(agent), granted.fence, granted.input_digest, staged=RESULT)
    assert isinstance(answer, Delivered), answer
    return Delivery.objects.get(id=answer.delivery_id)


def _prepare_effect(scene: Scene, effect: str) -> None:
    slot, _, how_far = effect.partition(" ")
    if not slot:
        return
    moved = transitions.prepare(scene.runner, scene.fence, slot, PAYLOAD)
    assert not isinstance(moved, Refused), moved
    scene.effect_id = moved.effect_id
    if how_far == "approved":
        approved(scene.world, scene.effect_id)
    if how_far not in ("executing", "unknown"):
        return
    permit = transitions.execute(scene.world.caller(scene.first, a_key()), scene.fence, scene.effect_id)
    assert isinstance(permit, Permitted), permit
    scene.permit_id = permit.permit_id
    if how_far == "unknown":
        transitions.unknown(scene.runner, scene.fence, scene.effect_id, permit.permit_id)
        long_ago(scene.effect_id, SETTLED_AFTER)


def _settle_effect(scene: Scene, effect: str) -> None:
    """Nothing is delivered while an effect is open."""
    if effect.endswith("executing"):
        _confirm(scene, scene.first)()
    elif effect.endswith("unknown"):
        _reconcile(scene, scene.first)()
    elif effect:
        transitions.abandon(scene.runner, scene.fence, scene.effect_id)


Call = Callable[[], Any]


def _version(scene: Scene) -> int:
    return int(Task.objects.values_list("state_version", flat=True).get(id=scene.task_id))


def _claim(scene: Scene, who: Agent) -> Call:
    return partial(
        transitions.claim, scene.world.caller(who), scene.task_id, _version(scene), scene.world.epoch
    )


def _of_runner(verb: Callable[..., Any], *given: object) -> Callable[[Scene, Agent], Call]:
    return lambda scene, _: partial(verb, scene.runner, scene.fence, *given)


def _hand_in(verb: Callable[..., Any]) -> Callable[[Scene, Agent], Call]:
    return lambda scene, _: partial(
        verb, scene.runner, scene.fence, scene.granted.input_digest, staged=RESULT
    )


def _decision(verb: Callable[..., Any], verdict: Verdict) -> Callable[[Scene, Agent], Call]:
    def call(scene: Scene, _: Agent) -> Call:
        assert scene.delivery is not None
        reviewer = scene.world.person(scene.world.reviewer)
        return partial(verb, reviewer, scene.delivery.id, judgement(scene.delivery, verdict, "louder"))

    return call


def _accept(world: World, delivery: Delivery) -> Call:
    return partial(transitions.accept, world.person(world.reviewer), delivery.id, judgement(delivery))


def _operate(verb: Callable[..., Any]) -> Callable[[Scene, Agent], Call]:
    def call(scene: Scene, _: Agent) -> Call:
        world = scene.world
        return partial(verb, world.person(world.operator), scene.task_id, world.sighting(scene.task_id))

    return call


def _reassign(scene: Scene, _: Agent) -> Call:
    return partial(_operate(transitions.reassign)(scene, _), scene.second.name)


def _adopt(scene: Scene, _: Agent) -> Call:
    call = _operate(transitions.adopt)(scene, _)
    return partial(call, scene.second.name, attempt_id=scene.fence.attempt_id)


def _lapse(scene: Scene, _: Agent) -> Call:
    return partial(transitions.lapse, Caller(SYSTEM, Source.SWEEP), scene.task_id)


def _adjust(scene: Scene, who: Agent) -> Call:
    preparer = scene.world.person(scene.world.preparer)
    return partial(transitions.adjust, preparer, scene.task_id, {"title": f"Changed by {who.name}"})


def _cancel(scene: Scene, _: Agent) -> Call:
    return partial(transitions.cancel, scene.world.person(scene.world.preparer), scene.task_id, "not wanted")


def _revise(scene: Scene, _: Agent) -> Call:
    preparer = scene.world.person(scene.world.preparer)
    return partial(transitions.revise, preparer, scene.task_id, _version(scene), _input("Count twice"))


def _raise_epoch(scene: Scene, _: Agent) -> Call:
    world = scene.world
    operator = world.person(world.operator)
    return partial(transitions.raise_epoch, operator, world.pool.name, world.epoch, "restored")


def _gate(scene: Scene, _: Agent) -> Call:
    world = scene.world
    return partial(
        transitions.gate, world.person(world.operator), world.pool.name, Gate.DRAINING, "an upgrade"
    )


def _execute(scene: Scene, who: Agent) -> Call:
    caller = scene.world.caller(scene.first, f"{scene.task_id} by {who.name}")
    return partial(transitions.execute, caller, scene.fence, scene.effect_id)


def _confirm(scene: Scene, _: Agent) -> Call:
    permit_id = scene.permit_id or uuid4()
    return partial(transitions.confirm, scene.runner, scene.fence, scene.effect_id, permit_id, RECEIPT)


def _reconcile(scene: Scene, _: Agent) -> Call:
    look = a_look(scene.effect_id, Said.HAPPENED)
    return partial(transitions.reconcile, scene.runner, scene.fence, scene.effect_id, look)


def _approve(scene: Scene, _: Agent) -> Call:
    effect = Effect.objects.get(id=scene.effect_id)
    seen = (effect.payload_digest, scene.fence.claim_generation, scene.world.epoch, effect.doubts)
    reviewer = scene.world.person(scene.world.reviewer)
    return partial(transitions.approve, reviewer, scene.effect_id, *seen)


def _outdate(scene: Scene, _: Agent) -> Call:
    """The commit of the predecessor's newer revision, which holds what was opened with the older one."""
    assert scene.newer is not None
    return _accept(scene.world, scene.newer)


@dataclass(frozen=True)
class Verb:
    """How a verb is called, in which state it is at home, and which effect it needs there."""

    call: Callable[[Scene, Agent], Call]
    state: str = "claimed"
    effect: str = ""
    is_of_the_pool: bool = False


VERBS: dict[str, Verb] = {
    "claim": Verb(_claim, "expired"),
    "renew": Verb(_of_runner(transitions.renew, 60)),
    "release": Verb(_of_runner(transitions.release, "no time")),
    "fail": Verb(_of_runner(transitions.fail, "broken", True)),
    "deliver": Verb(_hand_in(transitions.deliver)),
    "commit": Verb(_hand_in(transitions.commit)),
    "accept": Verb(_decision(transitions.accept, Verdict.MET), "delivered"),
    "request-changes": Verb(_decision(transitions.request_changes, Verdict.NOT_MET), "delivered"),
    "reject": Verb(_decision(transitions.reject, Verdict.NOT_MET), "delivered"),
    "release-quiet": Verb(_operate(transitions.release_quiet), "quiet"),
    "reassign": Verb(_reassign, "quiet"),
    "extend-once": Verb(_operate(transitions.extend_once), "quiet"),
    "lapse": Verb(_lapse, "expired"),
    "adopt": Verb(_adopt, "open"),
    "cancel": Verb(_cancel),
    "revise": Verb(_revise),
    "adjust": Verb(_adjust),
    "outdate": Verb(_outdate),
    "raise-epoch": Verb(_raise_epoch, is_of_the_pool=True),
    "gate": Verb(_gate, is_of_the_pool=True),
    "prepare": Verb(_of_runner(transitions.prepare, "mail", PAYLOAD)),
    "execute": Verb(_execute, effect="wire approved"),
    "confirm": Verb(_confirm, effect="mail executing"),
    "reconcile": Verb(_reconcile, effect="mail unknown"),
    "approve": Verb(_approve, effect="wire prepared"),
}

Setting = tuple[str, str]


def settings_of(one: str, other: str) -> list[Setting]:
    """Where two verbs can meet: a decision needs a delivery, what is quiet or expired is claimed, too."""
    first, second = VERBS[one], VERBS[other]
    states = list(dict.fromkeys((first.state, second.state)))
    if "delivered" in states:
        states = ["delivered"]
    elif len(states) == 2 and "claimed" in states and "open" not in states:
        states.remove("claimed")
    effects = list(dict.fromkeys(effect for effect in (first.effect, second.effect) if effect)) or [""]
    return [(state, effect) for state in states for effect in effects]


_ENDING = """SELECT json_build_array(
 (SELECT json_agg(json_build_array(t.state, t.state_version, t.claim_generation, t.cancel_generation, t.is_stale, t.runner_id) ORDER BY t.revision)
  FROM claims_task t WHERE t.lineage_id = %(task)s),
 (SELECT json_agg(a.outcome ORDER BY a.claim_generation) FROM claims_attempt a WHERE a.task_id = %(task)s),
 (SELECT json_agg(d.state ORDER BY d.round) FROM claims_delivery d WHERE d.task_id = %(task)s),
 (SELECT json_agg(json_build_array(e.slot, e.state, e.version, e.permits, e.doubts, e.has_happened) ORDER BY e.slot)
  FROM claims_effect e WHERE e.task_id = %(task)s),
 (SELECT json_agg(x.state ORDER BY x.at, x.id) FROM claims_approval x WHERE x.task_id = %(task)s),
 (SELECT count(*) FROM claims_canonicalcommit c WHERE c.task_id = %(task)s),
 (SELECT count(*) FROM claims_observation o WHERE o.task_id = %(task)s),
 (SELECT p.gate FROM claims_pool p WHERE p.id = %(pool)s))"""


def ending(scene: Scene, answers: list[Any]) -> list[Any]:
    """What can be told apart of an ending: the answers, and where task, attempts and effects are."""
    with connection.cursor() as cursor:
        cursor.execute(_ENDING, {"task": scene.task_id, "pool": scene.world.pool.id})
        return [*map(said, answers), cursor.fetchone()[0]]


def said(answer: Any) -> str:
    if isinstance(answer, Refused):
        return answer.why.value
    return type(answer).__name__
