"""How the edges of revisions, cancellations and graphs are walked."""

from __future__ import annotations

from uuid import UUID

from claims import transitions
from claims.callers import SYSTEM, Caller
from claims.inputs import NewTask
from claims.models import Effect, Task
from claims.outcomes import Created, Refused, Revised
from claims.transitions import Answer
from claims.vocabulary import EffectState, Source, State, Verb
from tests.support.walks import Walk, walks
from tests.support.world import DIFF, World, a_specification, judgement


def graph(world: World, **edges: tuple[str, ...]) -> dict[str, UUID]:
    """A graph made in one call: each node and what it depends on."""
    tasks = [
        NewTask(title=node, input=a_specification(), node_id=node, depends_on=before)
        for node, before in edges.items()
    ]
    made = transitions.create(Caller(SYSTEM, Source.COMMAND), world.pool.name, tasks)
    assert isinstance(made, Created), made
    return {task.node_id: task.task_id for task in made.tasks}


def finish(world: World, task_id: UUID, content: bytes = DIFF) -> None:
    """Claim, deliver and accept a task."""
    delivery = world.delivered(granted=world.claimed(task_id=task_id), content=content)
    answer = transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert not isinstance(answer, Refused), answer


def revised(world: World, task_id: UUID, **changes: object) -> UUID:
    """The next revision of a task, by its preparer."""
    version = Task.objects.values_list("state_version", flat=True).get(id=task_id)
    answer = transitions.revise(
        world.person(world.preparer), task_id, version, a_specification(**changes), answers=()
    )
    assert isinstance(answer, Revised), answer
    return answer.task.task_id


def in_state(world: World, state: State, task_id: UUID | None = None) -> UUID:
    """A task that is where it is wanted; one that is made already is brought there from OPEN."""
    match state:
        case State.BLOCKED:
            return graph(world, first=(), second=("first",))["second"]
        case State.OPEN:
            return task_id or world.task()
        case State.CLAIMED:
            return world.claimed(task_id=task_id).fence.task_id
        case State.DELIVERED:
            return world.delivered(granted=world.claimed(task_id=task_id)).task_id
        case State.HELD:
            granted = world.claimed(task_id=task_id)
            transitions.fail(world.caller(), granted.fence, "no way", False)
            return granted.fence.task_id
        case State.DONE:
            done = task_id or world.task()
            finish(world, done)
            return done
        case State.CANCELLED:
            gone = task_id or world.task()
            transitions.cancel(world.person(world.preparer), gone, "not wanted")
            return gone
        case State.SUPERSEDED:
            old = task_id or world.task()
            revised(world, old)
            return old


NOT_FINAL = (State.BLOCKED, State.OPEN, State.CLAIMED, State.DELIVERED, State.HELD)


def _cancels(state: State) -> None:
    @walks(state, Verb.CANCEL, State.CANCELLED)
    def _(world: World) -> Walk:
        task_id = in_state(world, state)
        return task_id, lambda: transitions.cancel(world.person(world.preparer), task_id, "not wanted")


def _revises(state: State, target: State) -> None:
    @walks(state, Verb.REVISE, target)
    def _(world: World) -> Walk:
        task_id = in_state(world, state)
        return task_id, lambda: revised(world, task_id, task="Say it louder")


def _outdates(state: State) -> None:
    @walks(state, Verb.OUTDATE, State.DONE if state is State.DONE else State.HELD)
    def _(world: World) -> Walk:
        task_id, newer = _opened_with_a_newer_predecessor(world, state)
        return task_id, lambda: finish(world, newer)


def _opened_with_a_newer_predecessor(world: World, state: State) -> tuple[UUID, UUID]:
    nodes = graph(world, first=(), second=("first",))
    finish(world, nodes["first"])
    task_id = in_state(world, state, nodes["second"])
    return task_id, revised(world, nodes["first"], task="Say it better")


def _adjusts_and_acknowledges(state: State) -> None:
    @walks(state, Verb.ACKNOWLEDGE, state)
    def _(world: World) -> Walk:
        task_id = in_state(world, state)
        effect_id = _earlier_effect(world, task_id)
        return task_id, lambda: transitions.acknowledge(
            world.person(world.preparer), task_id, Answer(effect_id, True, "the mail is out")
        )


def _earlier_effect(world: World, task_id: UUID) -> str:
    """An effect that an earlier revision of the lineage left behind, COMMITTED."""
    task = Task.objects.get(id=task_id)
    old = Task.objects.create(
        id=UUID(int=task_id.int ^ 1), number=0, pool=world.pool, lineage_id=task.lineage_id, revision=0, title="before",
        state=State.SUPERSEDED, state_since=task.created_at, input_digest=task.input_digest or "sha256:", ttl_seconds=60,
        max_attempts=1, review_policy="REVIEW", reclaim_policy="MANUAL", created_by="test", created_at=task.created_at,
        history_hash=bytes(32), declares_effects=True,
    )  # fmt: skip
    effect = Effect.objects.create(
        id=old.id.hex * 2, task=old, pool=world.pool, lineage_id=task.lineage_id, slot="mail", mode="QUERYABLE", target="mail",
        serial_key="mail", is_required=False, permit_seconds=60, settle_seconds=0, payload_digest="sha256:", payload={},
        prepared_by=old.id, prepared_at=task.created_at, state=EffectState.COMMITTED, state_since=task.created_at,
    )  # fmt: skip
    return effect.id


for _state in NOT_FINAL:
    _cancels(_state)
    _revises(_state, State.SUPERSEDED)
    _adjusts_and_acknowledges(_state)
for _state in (State.OPEN, State.CLAIMED, State.DELIVERED, State.HELD, State.DONE):
    _outdates(_state)
_revises(State.CANCELLED, State.SUPERSEDED)
_revises(State.DONE, State.DONE)


@walks(State.BLOCKED, Verb.OPEN, State.OPEN)
def _(world: World) -> Walk:
    nodes = graph(world, first=(), second=("first",))
    delivery = world.delivered(granted=world.claimed(task_id=nodes["first"]))
    return nodes["second"], lambda: transitions.accept(
        world.person(world.reviewer), delivery.id, judgement(delivery)
    )


@walks(State.BLOCKED, Verb.ADJUST, State.BLOCKED)
def _(world: World) -> Walk:
    task_id = in_state(world, State.BLOCKED)
    return task_id, lambda: transitions.adjust(world.person(world.preparer), task_id, {"priority": 0})


@walks(State.HELD, Verb.REQUEUE, State.SUPERSEDED)
def _(world: World) -> Walk:
    task_id, newer = _opened_with_a_newer_predecessor(world, State.OPEN)
    finish(world, newer)
    return task_id, lambda: transitions.requeue(
        world.person(world.operator), task_id, world.sighting(task_id)
    )


def _adopts(state: State) -> None:
    @walks(state, Verb.ADOPT, State.CLAIMED)
    def _(world: World) -> Walk:
        late = world.claimed()
        task_id = late.fence.task_id
        world.stage(late)
        transitions.release(world.caller(), late.fence, "night")
        in_state(world, state, task_id)
        return task_id, lambda: transitions.adopt(
            world.person(world.operator),
            task_id,
            world.sighting(task_id),
            world.agents[1].name,
            attempt_id=late.fence.attempt_id,
        )


for _state in (State.OPEN, State.DELIVERED, State.HELD):
    _adopts(_state)
