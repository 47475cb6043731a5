"""A long random life of a pool: every verb, by everybody, in any order; what is refused is refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from claims import decide, transitions
from claims.callers import Caller, sweep_caller
from claims.fences import Fence
from claims.models import Agent, Attempt, Delivery, Effect, Permit, Pool, Task
from claims.models import StagedResult as StagedRow
from claims.outcomes import Refused
from claims.transitions import StagedResult
from claims.vocabulary import EffectState, Gate, ReclaimPolicy, ReviewPolicy, Said, State, Verdict
from tests.support.effects import a_key, a_look, a_slot, approved, fence_of, long_ago, with_slots
from tests.support.walks_of_graphs import graph, revised
from tests.support.world import World, expire, judgement

ARGS = f"sha256:{'a' * 64}"
_ACTIVE = (State.CLAIMED, State.DELIVERED)


@dataclass
class Living:
    """One pool that lives. ``done`` counts what was not refused, by the name of the step."""

    world: World
    random: random.Random
    done: Counter[str] = field(default_factory=Counter)

    def live(self, steps: int) -> None:
        """Take so many random steps."""
        for _ in range(steps):
            step = self.random.choice(STEPS)
            answer = step(self)
            if answer is not None and not isinstance(answer, Refused):
                self.done[step.__name__] += 1

    def task(self, *states: State) -> UUID | None:
        """Some task in one of these states."""
        found = Task.objects.filter(pool=self.world.pool, state__in=states).order_by("number")
        ids = list(found.values_list("id", flat=True))
        return self.random.choice(ids) if ids else None

    def claim(self) -> tuple[Caller, Fence] | None:
        """Some live claim, with its runner; now and then one that is lost."""
        attempts = Attempt.objects.filter(task__pool=self.world.pool)
        living = attempts.filter(outcome=None) if self.random.random() < 0.9 else attempts
        attempt = self.random.choice(list(living.order_by("id")) or [None])
        if attempt is None:
            return None
        numbers = attempt.scheduler_epoch, attempt.claim_generation, attempt.cancel_generation
        return self.runner(attempt.agent_id), Fence(attempt.task_id, attempt.id, *numbers)

    def runner(self, agent_id: int) -> Caller:
        """The agent of this id, with a key nobody used."""
        return self.world.caller(Agent.objects.get(id=agent_id), key=a_key())

    def effect(self, *states: EffectState) -> tuple[Caller, Fence, Effect] | None:
        """Some effect in one of these states whose task is claimed, with the holder."""
        claimed = Effect.objects.filter(pool=self.world.pool, state__in=states, task__state=State.CLAIMED)
        effect = self.random.choice(list(claimed.order_by("id")) or [None])
        if effect is None:
            return None
        fence = fence_of(effect.task_id)
        return self.runner(Attempt.objects.get(id=fence.attempt_id).agent_id), fence, effect

    def sighting(self, task_id: UUID) -> decide.Sighting:
        """What an operator sees, and goes on from whatever the runner did since."""
        return self.world.sighting(task_id, even_if_live=True)


Step = Callable[[Living], object]
STEPS: list[Step] = []


def step(weight: int = 1) -> Callable[[Step], Step]:
    """Register a step of the random life; it is taken as often as its weight says."""

    def keep(function: Step) -> Step:
        STEPS.extend([function] * weight)
        return function

    return keep


@step(3)
def create(life: Living) -> object:
    review = life.random.choice([ReviewPolicy.REVIEW, ReviewPolicy.NONE])
    reclaim = life.random.choice(list(ReclaimPolicy))
    slots = [a_slot("mail"), a_slot("push", mode="RESERVATION"), a_slot("pay", mode="NON_REPLAYABLE")]
    return life.world.task(input=with_slots(*slots), review_policy=review, reclaim_policy=reclaim)


@step()
def create_graph(life: Living) -> object:
    return graph(life.world, first=(), second=("first",), third=("first", "second"))


@step(4)
def claim(life: Living) -> object:
    task_id = life.task(State.OPEN)
    if task_id is None:
        return None
    task, agent = Task.objects.get(id=task_id), life.random.choice(life.world.agents)
    return transitions.claim(life.runner(agent.id), task_id, task.state_version, life.world.epoch)


@step(3)
def claim_next(life: Living) -> object:
    agent = life.random.choice(life.world.agents)
    asked = life.world.pool.name, life.world.epoch
    return transitions.claim_next(life.runner(agent.id), *asked, max_grants=life.random.choice([1, 2]))


@step()
def renew(life: Living) -> object:
    held = life.claim()
    return held and transitions.renew(*held, 60)


@step()
def progress(life: Living) -> object:
    held = life.claim()
    return held and transitions.progress(*held, "halfway", {"seconds": life.random.randint(1, 9)})


@step()
def accept_tool(life: Living) -> object:
    held = life.claim()
    return held and transitions.accept_tool(*held, "git.push", ARGS)


@step()
def release(life: Living) -> object:
    held = life.claim()
    return held and transitions.release(*held, "night")


@step()
def fail(life: Living) -> object:
    held = life.claim()
    return held and transitions.fail(*held, "no network", life.random.random() < 0.7)


@step(2)
def stage(life: Living) -> object:
    held = life.claim()
    return held and transitions.stage(*held, StagedResult({"half": 1.5e300}, []))


@step(4)
def deliver(life: Living) -> object:
    task_id = life.task(State.CLAIMED)
    if task_id is None:
        return None
    granted = life.world.regranted(task_id)
    agent = Agent.objects.get(id=Attempt.objects.get(id=granted.fence.attempt_id).agent_id)
    if Attempt.objects.get(id=granted.fence.attempt_id).scheduler_epoch != life.world.epoch:
        return None
    staged = life.world.staged(granted, agent)
    verb = transitions.commit if life.random.random() < 0.5 else transitions.deliver
    return verb(life.runner(agent.id), granted.fence, granted.input_digest, staged=staged)


@step(4)
def decide_delivery(life: Living) -> object:
    task_id = life.task(State.DELIVERED)
    if task_id is None:
        return None
    delivery = Delivery.objects.get(id=Task.objects.get(id=task_id).delivery_id)
    reviewer = life.world.person(life.world.reviewer)
    answer = life.random.choice(
        [transitions.accept, transitions.accept, transitions.request_changes, transitions.reject]
    )
    verdict = Verdict.MET if answer is transitions.accept else Verdict.NOT_MET
    return answer(reviewer, delivery.id, judgement(delivery, verdict, "again"))


@step()
def operate(life: Living) -> object:
    task_id, operator = life.task(State.CLAIMED), life.world.person(life.world.operator)
    if task_id is None:
        return None
    expire(task_id)
    verb = life.random.choice([transitions.release_quiet, transitions.nudge, transitions.extend_once])
    return verb(operator, task_id, life.sighting(task_id))


@step()
def reassign(life: Living) -> object:
    task_id, agent = life.task(State.CLAIMED, State.OPEN), life.random.choice(life.world.agents)
    operator = life.world.person(life.world.operator)
    return task_id and transitions.reassign(operator, task_id, life.sighting(task_id), agent.name)


@step()
def requeue(life: Living) -> object:
    task_id = life.task(State.HELD)
    return task_id and transitions.requeue(
        life.world.person(life.world.operator), task_id, life.sighting(task_id)
    )


@step(3)
def adopt(life: Living) -> object:
    task_id = life.task(State.DELIVERED, State.OPEN, State.HELD)
    staged = StagedRow.objects.filter(task_id=task_id).values_list("attempt_id", flat=True).first()
    if task_id is None or staged is None:
        return None
    agent, operator = life.random.choice(life.world.agents), life.world.person(life.world.operator)
    return transitions.adopt(operator, task_id, life.sighting(task_id), agent.name, attempt_id=staged)


@step()
def lapse(life: Living) -> object:
    task_id = life.task(State.CLAIMED)
    if task_id is None:
        return None
    expire(task_id)
    return transitions.lapse(sweep_caller(), task_id)


@step()
def adjust(life: Living) -> object:
    task_id = life.task(*State)
    change = {"priority": life.random.randint(0, 4), "max_attempts": 5}
    return task_id and transitions.adjust(life.world.person(life.world.preparer), task_id, change)


@step()
def cancel(life: Living) -> object:
    task_id = life.task(*State) if life.random.random() < 0.4 else None
    return task_id and transitions.cancel(life.world.person(life.world.preparer), task_id, "not wanted")


@step()
def revise(life: Living) -> object:
    tasks = (
        Task.objects.filter(pool=life.world.pool).order_by("lineage_id", "-revision").distinct("lineage_id")
    )
    newest = [task.id for task in tasks if task.state != State.SUPERSEDED]
    if not newest or life.random.random() < 0.5:
        return None
    return revised(life.world, life.random.choice(newest), task=f"Say it louder {life.random.random()}")


@step()
def raise_epoch(life: Living) -> object:
    if life.random.random() < 0.7:
        return None
    return transitions.raise_epoch(
        life.world.person(life.world.operator), life.world.pool.name, life.world.epoch, "a restored backup"
    )


@step()
def gate(life: Living) -> object:
    operator, name = life.world.person(life.world.operator), life.world.pool.name
    is_open = Pool.objects.get(id=life.world.pool.id).gate == Gate.OPEN
    wanted = Gate.DRAINING if is_open and life.random.random() < 0.3 else Gate.OPEN
    return transitions.gate(operator, name, wanted, "a release")


@step(6)
def prepare(life: Living) -> object:
    held, slot = life.claim(), life.random.choice(["mail", "push", "pay"])
    return held and transitions.prepare(*held, slot, {"amount": 0.5, "many": 1e22})


@step(6)
def execute(life: Living) -> object:
    found = life.effect(EffectState.PREPARED)
    if found is None:
        return None
    caller, fence, effect = found
    is_current = fence.scheduler_epoch == life.world.epoch
    if effect.mode == "NON_REPLAYABLE" and is_current and not effect.has_happened:
        approved(life.world, effect.id)
    return transitions.execute(caller, fence, effect.id)


@step()
def abandon(life: Living) -> object:
    found = life.effect(EffectState.PREPARED) if life.random.random() < 0.4 else None
    return found and transitions.abandon(found[0], found[1], found[2].id, "not needed")


@step(5)
def tell(life: Living) -> object:
    found = life.effect(EffectState.EXECUTING)
    if found is None:
        return None
    caller, fence, effect = found
    permit = Permit.objects.get(id=effect.permit_id)
    what = life.random.choice(["confirm", "unknown", "hand-back", "expire"])
    if what == "confirm":
        return transitions.confirm(caller, fence, effect.id, permit.id, {"id": "msg-1"})
    if what == "unknown":
        return transitions.unknown(caller, fence, effect.id, permit.id, "cut off")
    if what == "hand-back":
        return transitions.hand_back(caller, fence, effect.id, permit.key)
    long_ago(effect.id, 600)
    return transitions.expire_permit(sweep_caller(), effect.id)


@step(5)
def reconcile(life: Living) -> object:
    found = life.effect(EffectState.UNKNOWN)
    if found is None:
        return None
    caller, fence, effect = found
    said = life.random.choice(list(Said))
    long_ago(effect.id, 600)
    return transitions.reconcile(caller, fence, effect.id, a_look(effect.id, said))


@step()
def reconcile_as_operator(life: Living) -> object:
    in_doubt = Effect.objects.filter(pool=life.world.pool, state=EffectState.UNKNOWN).order_by("id")
    effect = life.random.choice(list(in_doubt) or [None])
    if effect is None:
        return None
    operator = life.world.person(life.world.operator)
    long_ago(effect.id, 600)
    if life.random.random() < 0.2:
        return transitions.write_off(operator, effect.id, "nobody can tell", effect.version)
    look = a_look(effect.id, life.random.choice(list(Said)))
    return transitions.reconcile_as_operator(operator, effect.id, look, effect.version)
