"""Graphs: made in one call, opened exactly once, pinned, and held when a predecessor moves on."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection

from claims import canonical, sweeps, transitions
from claims.callers import SYSTEM, Caller
from claims.inputs import NewTask
from claims.models import CanonicalCommit, History, Pin, Task
from claims.outcomes import Created, Left, Refused, Why
from claims.vocabulary import AttemptOutcome, Source, State
from tests.support.invariants import check
from tests.support.records import task_row, verbs_of
from tests.support.walks_of_graphs import finish, graph, in_state, revised
from tests.support.world import DIFF, World, a_specification, a_world

pytestmark = pytest.mark.django_db

SERVER = Caller(SYSTEM, Source.COMMAND)


def node(name: str, *before: str) -> NewTask:
    return NewTask(title=name, input=a_specification(), node_id=name, depends_on=before)


def created(world: World, *tasks: NewTask) -> Created | Refused:
    return transitions.create(SERVER, world.pool.name, tasks)


def why(answer: object) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


def test_a_graph_is_made_in_one_call_in_the_order_it_was_sent(world: World) -> None:
    made = created(world, node("last", "first", "other"), node("first"), node("other", "first"))
    assert isinstance(made, Created)
    assert [(task.node_id, task.state) for task in made.tasks] == [
        ("last", State.BLOCKED),
        ("first", State.OPEN),
        ("other", State.BLOCKED),
    ]
    assert [task.input_digest is None for task in made.tasks] == [True, False, True]
    assert [task.number for task in made.tasks] == sorted(task.number for task in made.tasks)


def test_a_blocked_task_names_its_blockers_and_cannot_be_claimed(world: World) -> None:
    nodes = graph(world, first=(), second=("first",))
    blocked, first = task_row(nodes["second"]), task_row(nodes["first"])
    assert f"T-{first.number}" in blocked.reason
    answer = transitions.claim(world.caller(), blocked.id, 1, world.epoch)
    assert why(answer) is Why.NOT_CLAIMABLE
    assert isinstance(answer, Refused)
    assert f"T-{first.number} (open)" in answer.sentence


@pytest.mark.parametrize(
    "tasks",
    [
        (node("a", "b"), node("b", "a")),
        (node("a", "a"),),
        (node("a", "b"), node("b", "c"), node("c", "a")),
        (node("a"), node("a")),
        (node("a", "nowhere"),),
        (node("a", "T-1"),),
        (node("a", "01a00000-0000-7000-8000-000000000000"),),
    ],
    ids=["two", "itself", "three", "one name twice", "no such node", "no such number", "no such id"],
)
def test_a_graph_that_makes_no_sense_is_refused_whole(world: World, tasks: tuple[NewTask, ...]) -> None:
    assert why(created(world, *tasks)) is Why.UNPROCESSABLE
    assert not Task.objects.filter(pool=world.pool).exists()


def test_a_task_of_another_pool_is_no_predecessor(world: World) -> None:
    elsewhere = task_row(a_world().task())
    assert why(created(world, node("a", f"T-{elsewhere.number}"))) is Why.UNPROCESSABLE


def test_a_thousand_nodes_are_taken_and_one_more_is_not(world: World) -> None:
    chain = [node("n0"), *(node(f"n{place}", f"n{place - 1}") for place in range(1, 1_000))]
    made = created(world, *chain)
    assert isinstance(made, Created)
    assert [task.state for task in made.tasks].count(State.BLOCKED) == 999
    assert why(created(world, *chain, node("more"))) is Why.UNPROCESSABLE


def test_a_task_opens_in_its_last_predecessors_commit_and_only_then(world: World) -> None:
    nodes = graph(world, left=(), right=(), both=("left", "right"))
    finish(world, nodes["left"])
    assert task_row(nodes["both"]).state == State.BLOCKED
    finish(world, nodes["right"])
    opened = task_row(nodes["both"])
    assert (opened.state, opened.reason) == (State.OPEN, "")
    assert verbs_of(opened.id) == ["create", "open"]
    for task_id in nodes.values():
        check(task_id)


def test_an_opened_task_is_pinned_to_its_predecessors_results(world: World) -> None:
    nodes = graph(world, left=(), right=(), both=("left", "right"))
    finish(world, nodes["left"])
    finish(world, nodes["right"])
    results = dict(CanonicalCommit.objects.values_list("task_id", "result_digest"))
    pins = {name: results[nodes[name]] for name in ("left", "right")}
    assert dict(Pin.objects.filter(task_id=nodes["both"]).values_list("node_id", "result_digest")) == pins
    assert task_row(nodes["both"]).input_digest == canonical.input_digest(a_specification(), pins)


def test_a_task_whose_predecessors_are_done_already_opens_at_once(world: World) -> None:
    before = world.task()
    finish(world, before)
    made = created(world, node("after", f"T-{task_row(before).number}"), node("too", str(before)))
    assert isinstance(made, Created)
    assert [task.state for task in made.tasks] == [State.OPEN, State.OPEN]
    assert Pin.objects.filter(predecessor_id=before).count() == 2


def test_a_cancelled_predecessor_leaves_its_successor_blocked_until_it_is_revised(world: World) -> None:
    nodes = graph(world, first=(), second=("first",))
    transitions.cancel(world.person(world.preparer), nodes["first"], "not now")
    answer = transitions.claim(world.caller(), nodes["second"], 1, world.epoch)
    assert isinstance(answer, Refused)
    assert "(cancelled)" in answer.sentence
    finish(world, revised(world, nodes["first"]))
    assert task_row(nodes["second"]).state == State.OPEN


def test_a_newer_result_holds_what_was_opened_with_the_older_one(world: World) -> None:
    nodes = graph(world, first=(), second=("first",))
    finish(world, nodes["first"])
    granted = world.claimed(task_id=nodes["second"])
    finish(world, revised(world, nodes["first"], task="Say it better"))
    held = task_row(nodes["second"])
    assert (held.state, held.is_stale) == (State.HELD, True)
    assert held.reason.startswith("STALE_INPUT")
    assert held.claim_generation == granted.fence.claim_generation + 1
    answer = transitions.release(world.caller(), granted.fence, "late")
    assert why(answer) is Why.STALE_INPUT
    check(held.id)


def test_requeueing_a_stale_task_makes_its_next_revision_with_the_new_pins(world: World) -> None:
    nodes = graph(world, first=(), second=("first",))
    finish(world, nodes["first"])
    old = task_row(nodes["second"])
    newer = revised(world, nodes["first"], task="Say it better")
    finish(world, newer, content=DIFF + b"+<p>Better.</p>\n")
    left = transitions.requeue(world.person(world.operator), old.id, world.sighting(old.id))
    assert isinstance(left, Left)
    assert (left.state, left.task_id != old.id) == (State.OPEN, True)
    again = task_row(left.task_id)
    assert (again.lineage_id, again.revision) == (old.lineage_id, 2)
    assert again.input_digest != old.input_digest
    assert Pin.objects.get(task_id=again.id).predecessor_id == newer
    assert task_row(old.id).state == State.SUPERSEDED
    assert task_row(old.id).input_digest == old.input_digest
    assert (
        History.objects.filter(task_id=again.id).values_list("claim_generation", flat=True)[0]
        >= old.claim_generation
    )


def test_a_done_successor_is_marked_as_built_on_old_input(world: World) -> None:
    nodes = graph(world, first=(), second=("first",))
    finish(world, nodes["first"])
    finish(world, nodes["second"])
    finish(world, revised(world, nodes["first"], task="Say it better"))
    done = task_row(nodes["second"])
    assert (done.state, done.is_stale) == (State.DONE, True)
    check(done.id)


def test_a_stale_delivery_ends_undecided(world: World) -> None:
    nodes = graph(world, first=(), second=("first",))
    finish(world, nodes["first"])
    in_state(world, State.DELIVERED, nodes["second"])
    attempt = task_row(nodes["second"]).attempt
    finish(world, revised(world, nodes["first"], task="Say it better"))
    assert task_row(nodes["second"]).state == State.HELD
    attempt.refresh_from_db()
    assert attempt.outcome == AttemptOutcome.SUPERSEDED
    check(nodes["second"])


def test_the_sweep_finds_nothing_on_a_healthy_graph(world: World) -> None:
    nodes = graph(world, first=(), second=("first",), third=("second",))
    finish(world, nodes["first"])
    finish(world, revised(world, nodes["first"], task="Say it better"))
    assert sweeps.settle_graphs() == 0


def test_the_sweep_repairs_a_task_that_was_not_opened(world: World) -> None:
    nodes = graph(world, first=(), second=("first",))
    _without_successors(world, nodes["first"])
    assert task_row(nodes["second"]).state == State.BLOCKED
    assert sweeps.settle_graphs() == 1
    assert task_row(nodes["second"]).state == State.OPEN
    assert sweeps.settle_graphs() == 0
    check(nodes["second"])


def test_the_sweep_repairs_a_task_that_was_not_held(world: World) -> None:
    nodes = graph(world, first=(), second=("first",))
    finish(world, nodes["first"])
    _without_successors(world, revised(world, nodes["first"], task="Say it better"))
    assert task_row(nodes["second"]).state == State.OPEN
    assert sweeps.settle_graphs() == 1
    assert task_row(nodes["second"]).is_stale
    assert sweeps.settle_graphs() == 0


def _without_successors(world: World, task_id: UUID) -> None:
    """Finish a task while its edges cannot be seen: an omission, planted."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE claims_dependency RENAME TO claims_dependency_hidden")
        cursor.execute("CREATE TEMP TABLE claims_dependency (LIKE claims_dependency_hidden)")
        finish(world, task_id)
        cursor.execute("DROP TABLE claims_dependency")
        cursor.execute("ALTER TABLE claims_dependency_hidden RENAME TO claims_dependency")
