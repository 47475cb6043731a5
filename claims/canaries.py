"""Stale writes, sent on purpose to every acceptance point through the real verbs, to see them refused.

Promises: a canary got through unless it was answered with exactly the refusal that its staleness
has, so a check that is missing is not hidden by another one that happens to refuse. (What is said
of a call is the exception: a permit of an ended epoch is not live, whatever its fence.) Canaries
write only in a pool of their own, made on demand with an agent, its owner and a person; nobody
else has a right in it, so no board, inbox or claim-next of any other pool ever shows it.

The stale epoch is a real one: the claim is granted, the pool's epoch is raised, and the very fence
that was granted is sent. The stale generation is the one before the claim's, in a fence that is
otherwise current.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID, uuid4

from django.contrib.auth.models import User

from claims import decide, evidence, founding, transitions
from claims.callers import SYSTEM, Actor, Caller
from claims.checking import CANARY_POOL, POINTS
from claims.fences import Fence
from claims.inputs import NewTask
from claims.models import Agent, CanaryRun, Delivery, Effect, EvidenceFile, Pool, Task
from claims.outcomes import (
    Created,
    Decided,
    Delivered,
    EffectMoved,
    EpochRaised,
    FileKept,
    Granted,
    Permitted,
    Refused,
    Staged,
    Why,
)
from claims.transitions import StagedResult
from claims.vocabulary import ActorKind, EffectState, ReviewPolicy, Right, Said, Source, Verb, Verdict

EPOCH, GENERATION = "epoch", "generation"
LATE = "LATE"
"""How evidence from a lost fence is answered: kept apart, never canonical (claim.v1 section 4)."""

T = TypeVar("T")
_PERSON, _OWNER, _AGENT = CANARY_POOL, f"{CANARY_POOL}.owner", CANARY_POOL
_BYTES = b"canary\n"
_HEX = hashlib.sha256(_BYTES).hexdigest()
_RESULT = StagedResult({"canary": True}, [])
_SLOTS = ("ready", "sent", "lost", "spare")
_WRITE_OFF = "A canary's effect: nothing was ever sent."


class CanaryFailed(Exception):
    """The scene for the canaries could not be set: a verb refused what it should have accepted."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A live claim with one effect PREPARED and one EXECUTING for each staleness, an open task, and
    two deliveries.

    ``calls`` are the permits and the keys they were got with. ``decided`` is a delivery whose claim
    lost its generation, ``delivered`` one that can be accepted.
    """

    pool: Pool
    agent: Caller
    person: Caller
    claimed: Granted
    ready: str
    calls: Sequence[tuple[Permitted, str]]
    open_task: Task
    decided: Delivered
    delivered: Delivered

    def call(self, fence: Fence) -> tuple[Permitted, str]:
        """A call of which nothing was said yet with this fence: what was said before is not compared again."""
        return self.calls[fence == self.claimed.fence]


@dataclass(frozen=True, slots=True)
class Canary:
    """One acceptance point: how it is written to with a fence, and why it must refuse."""

    point: Verb
    write: Callable[[Scene, Fence], object]
    because: Why = Why.FENCED


def run(points: Collection[Verb] = POINTS) -> list[CanaryRun]:
    """Send the canaries of these points, all by default, and keep how each was answered.

    Raises ``CanaryFailed`` when the scene cannot be set.
    """
    pool, agent, person = _pool()
    scene = _scene(pool, agent, person)
    try:
        fence = scene.claimed.fence
        before = replace(fence, claim_generation=fence.claim_generation - 1)
        runs = [
            _sent(canary, GENERATION, scene, before)
            for canary in (*_OF_FENCES, *_OF_GENERATIONS)
            if canary.point in points
        ]
        _raise_epoch(scene)
        runs += [
            _sent(canary, EPOCH, scene, fence)
            for canary in (*_OF_FENCES, *_OF_EPOCHS)
            if canary.point in points
        ]
    finally:
        _clear(scene)
    return runs


def _sent(canary: Canary, stale: str, scene: Scene, fence: Fence) -> CanaryRun:
    """Write, and judge the answer: nothing but the reason of its staleness is a refusal of it."""
    outcome = canary.write(scene, fence)
    if isinstance(outcome, Refused):
        answer, was_refused = outcome.why.value, outcome.why is canary.because
    elif _is_kept_apart(outcome, fence):
        answer, was_refused = LATE, True
    else:
        answer, was_refused = type(outcome).__name__, False
    return CanaryRun.objects.create(
        point=canary.point.value, stale=stale, answer=answer, was_refused=was_refused
    )


def _is_kept_apart(outcome: object, fence: Fence) -> bool:
    if isinstance(outcome, Staged):
        return outcome.late
    of_fence = EvidenceFile.objects.filter(attempt_id=fence.attempt_id, sha256=_HEX, late=True)
    return isinstance(outcome, FileKept) and of_fence.exists()


def _keyed(caller: Caller) -> Caller:
    return replace(caller, key=f"canary-{uuid4().hex}")


def _add_file(scene: Scene, fence: Fence) -> object:
    evidence.keep([_BYTES], _HEX, len(_BYTES))
    return transitions.add_file(scene.agent, fence, _HEX, len(_BYTES), "text/plain")


def _confirm(scene: Scene, fence: Fence) -> object:
    permit, _ = scene.call(fence)
    return transitions.confirm(scene.agent, fence, permit.effect_id, permit.permit_id, {"canary": True})


def _tell_unknown(scene: Scene, fence: Fence) -> object:
    permit, _ = scene.call(fence)
    return transitions.unknown(scene.agent, fence, permit.effect_id, permit.permit_id, "canary")


def _hand_back(scene: Scene, fence: Fence) -> object:
    permit, key = scene.call(fence)
    return transitions.hand_back(scene.agent, fence, permit.effect_id, key)


def _reconcile(scene: Scene, fence: Fence) -> object:
    permit, _ = scene.call(fence)
    return transitions.reconcile(scene.agent, fence, permit.effect_id, decide.Look(Said.HAPPENED))


def _claim_at(scene: Scene, version: int, epoch: int) -> object:
    return transitions.claim(scene.agent, scene.open_task.pk, version, epoch)


def _accept(scene: Scene, delivery: Delivered) -> object:
    met = decide.Judgement(delivery.subject_digest, {1: decide.VerdictGiven(Verdict.MET)}, "canary")
    return transitions.accept(scene.person, delivery.delivery_id, met)


_OF_FENCES = (
    Canary(Verb.RENEW, lambda scene, fence: transitions.renew(scene.agent, fence, 60)),
    Canary(Verb.PROGRESS, lambda scene, fence: transitions.progress(scene.agent, fence, "canary")),
    Canary(Verb.STAGE, lambda scene, fence: transitions.stage(scene.agent, fence, _RESULT)),
    Canary(Verb.ADD_FILE, _add_file),
    Canary(Verb.RELEASE, lambda scene, fence: transitions.release(scene.agent, fence, "canary")),
    Canary(Verb.FAIL, lambda scene, fence: transitions.fail(scene.agent, fence, "canary", True)),
    Canary(
        Verb.DELIVER,
        lambda scene, fence: transitions.deliver(
            scene.agent, fence, scene.claimed.input_digest, staged=_RESULT
        ),
    ),
    Canary(
        Verb.COMMIT,
        lambda scene, fence: transitions.commit(
            scene.agent, fence, scene.claimed.input_digest, staged=_RESULT
        ),
    ),
    Canary(Verb.PREPARE, lambda scene, fence: transitions.prepare(scene.agent, fence, "spare", "canary")),
    Canary(Verb.EXECUTE, lambda scene, fence: transitions.execute(_keyed(scene.agent), fence, scene.ready)),
    Canary(Verb.ABANDON, lambda scene, fence: transitions.abandon(scene.agent, fence, scene.ready, "canary")),
    Canary(Verb.CONFIRM, _confirm, Why.MUST_RECONCILE),
    Canary(Verb.UNKNOWN, _tell_unknown, Why.MUST_RECONCILE),
    Canary(Verb.HAND_BACK, _hand_back, Why.MUST_RECONCILE),
    Canary(Verb.RECONCILE, _reconcile),
    Canary(
        Verb.ACCEPT_TOOL,
        lambda scene, fence: transitions.accept_tool(scene.agent, fence, "canary", f"sha256:{_HEX}"),
    ),
)
"""What a runner sends with its fence. What it says of a call is kept as an observation and settles nothing."""

_OF_GENERATIONS = (
    Canary(
        Verb.CLAIM,
        lambda scene, fence: _claim_at(scene, scene.open_task.state_version - 1, fence.scheduler_epoch),
        Why.STALE_STATE,
    ),
    Canary(Verb.ACCEPT, lambda scene, fence: _accept(scene, scene.decided), Why.ALREADY_DECIDED),
)
"""A claim names the state version in place of a generation, and claim-next names neither; a decision
names a delivery, whose generation ended with it."""

_OF_EPOCHS = (
    Canary(
        Verb.CLAIM,
        lambda scene, fence: _claim_at(scene, scene.open_task.state_version, fence.scheduler_epoch),
        Why.OLD_EPOCH,
    ),
    Canary(
        Verb.CLAIM_NEXT,
        lambda scene, fence: transitions.claim_next(scene.agent, CANARY_POOL, fence.scheduler_epoch),
        Why.OLD_EPOCH,
    ),
    Canary(Verb.ACCEPT, lambda scene, fence: _accept(scene, scene.delivered)),
)


def _pool() -> tuple[Pool, Caller, Caller]:
    """The canaries' pool, its agent and its person. Nobody can sign in as either of the accounts."""
    pool = founding.found_pool(CANARY_POOL, title="Canaries", allows_unreviewed=True, max_attempts=1_000)
    person, owner = (_account(name) for name in (_PERSON, _OWNER))
    founding.give_rights(pool, {person: Right.ADMIN})
    agent = founding.found_agent(_AGENT, owner, [], [pool])
    return pool, _as_agent(agent), Caller(Actor(ActorKind.PERSON, person.pk, person.username), Source.COMMAND)


def _account(name: str) -> User:
    known = User.objects.filter(username=name).first()
    return known or User.objects.create_user(name)


def _as_agent(agent: Agent) -> Caller:
    return Caller(Actor(ActorKind.AGENT, agent.pk, agent.name), Source.WORKER)


def _scene(pool: Pool, agent: Caller, person: Caller) -> Scene:
    pool.refresh_from_db()
    claimed = _claimed(agent, _new_task(pool, ReviewPolicy.NONE))
    fence = claimed.fence
    ready = _done(EffectMoved, transitions.prepare(agent, fence, "ready", "canary")).effect_id
    calls = [_call(agent, fence, slot) for slot in ("sent", "lost")]
    rejected = _new_task(pool, ReviewPolicy.REVIEW)
    decided = _delivered(agent, rejected)
    judgement = decide.Judgement(decided.subject_digest, note="canary")
    _done(Decided, transitions.reject(person, decided.delivery_id, judgement))
    delivered = _delivered(agent, rejected)
    open_task = _new_task(pool, ReviewPolicy.REVIEW)
    return Scene(pool, agent, person, claimed, ready, calls, open_task, decided, delivered)


def _call(agent: Caller, fence: Fence, slot: str) -> tuple[Permitted, str]:
    """One call that was permitted and never made."""
    effect_id = _done(EffectMoved, transitions.prepare(agent, fence, slot, "canary")).effect_id
    keyed = _keyed(agent)
    return _done(Permitted, transitions.execute(keyed, fence, effect_id)), keyed.key or ""


def _new_task(pool: Pool, review: ReviewPolicy) -> Task:
    body: dict[str, object] = {
        "task": "A canary. There is nothing to do here.",
        "acceptance": [{"text": "It is refused."}],
    }
    if review is ReviewPolicy.NONE:
        body["effects"] = [
            {"slot": slot, "mode": "RESERVATION", "target": f"canary-{slot}"} for slot in _SLOTS
        ]
    new = NewTask("Canary", body, review_policy=review)
    made = _done(Created, transitions.create(Caller(SYSTEM, Source.COMMAND), pool.name, [new]))
    return Task.objects.get(pk=made.tasks[0].task_id)


def _claimed(agent: Caller, task: Task) -> Granted:
    task.refresh_from_db()
    epoch = Pool.objects.values_list("scheduler_epoch", flat=True).get(pk=task.pool_id)
    return _done(Granted, transitions.claim(agent, task.pk, task.state_version, epoch))


def _delivered(agent: Caller, task: Task) -> Delivered:
    granted = _claimed(agent, task)
    return _done(Delivered, transitions.deliver(agent, granted.fence, granted.input_digest, staged=_RESULT))


def _raise_epoch(scene: Scene) -> None:
    raised = transitions.raise_epoch(
        scene.person,
        CANARY_POOL,
        scene.claimed.fence.scheduler_epoch,
        "Canaries send what is stale after it.",
    )
    _done(EpochRaised, raised)


def _clear(scene: Scene) -> None:
    """Leave nothing behind that is open or in doubt; what a canary got through may be final already."""
    for task_id in (scene.claimed.fence.task_id, scene.open_task.pk, _task_of(scene.delivered)):
        transitions.cancel(scene.person, task_id, "The canaries are done.")
    left = Effect.objects.filter(task_id=scene.claimed.fence.task_id, state=EffectState.UNKNOWN)
    for effect_id, version in left.values_list("id", "version"):
        transitions.write_off(scene.person, effect_id, _WRITE_OFF, version)


def _task_of(delivered: Delivered) -> UUID:
    return Delivery.objects.values_list("task_id", flat=True).get(pk=delivered.delivery_id)


def _done(kind: type[T], outcome: object) -> T:
    if not isinstance(outcome, kind):
        raise CanaryFailed(f"The scene could not be set: {outcome}.")
    return outcome
