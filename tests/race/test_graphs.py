"""Commits that meet along the edges of a graph: each successor opens once, and only when it may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from claims import transitions
from claims.callers import SYSTEM, Caller
from claims.inputs import NewTask
from claims.models import History, Pin, Task
from claims.outcomes import Committed, Created, Granted, Left, Refused, Revised
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy, Source, State
from tests.race.meeting import Meeting, blocked, in_turn, race
from tests.support import invariants
from tests.support.world import World, a_world

RESULT = StagedResult({"done": True}, [])
SERVER = Caller(SYSTEM, Source.COMMAND)
Call = Callable[[], Any]


@pytest.fixture
def world(transactional_db: None) -> World:
    return a_world(allows_unreviewed=True)


def node(name: str, *before: str) -> NewTask:
    """A task that asks for no review, so that its runner commits."""
    return NewTask(name, {"task": name}, name, review_policy=ReviewPolicy.NONE, depends_on=before)


def created(world: World, *nodes: NewTask) -> dict[str, UUID]:
    made = transitions.create(SERVER, world.pool.name, nodes)
    assert isinstance(made, Created), made
    return {task.node_id: task.task_id for task in made.tasks}


def committing(world: World, task_id: UUID) -> Call:
    """A claim of the task, and the commit that is still to come.

    It tells a cost: a commit in one round trip would give the row back once, and come second.
    """
    granted = world.claimed(task_id=task_id)
    given = {"staged": RESULT, "cost": {"tokens": 1}}
    return partial(transitions.commit, world.caller(), granted.fence, granted.input_digest, **given)


def revising(world: World, task_id: UUID) -> Call:
    version = Task.objects.values_list("state_version", flat=True).get(id=task_id)
    preparer = world.person(world.preparer)
    return partial(transitions.revise, preparer, task_id, version, {"task": "Better"})


@contextmanager
def blocked_tasks(*task_ids: UUID) -> Iterator[Meeting]:
    statement = "SELECT 1 FROM claims_task WHERE id = ANY(%s) ORDER BY id FOR UPDATE"
    with blocked(statement, [list(task_ids)]) as meeting:
        yield meeting


def check(*task_ids: UUID) -> None:
    for task_id in task_ids:
        invariants.check(task_id)


def opened(task_id: UUID) -> int:
    """How often a task was opened."""
    return History.objects.filter(task_id=task_id, verb="open").count()


@pytest.mark.parametrize("where", ["at their own rows", "at the successor"])
def test_two_predecessors_that_commit_at_once_open_the_successor_exactly_once(
    world: World, where: str
) -> None:
    for _ in range(5):
        nodes = created(world, node("left"), node("right"), node("both", "left", "right"))
        commits = [committing(world, nodes[name]) for name in ("left", "right")]
        rows = (nodes["left"], nodes["right"]) if where == "at their own rows" else (nodes["both"],)
        with blocked_tasks(*rows) as meeting:
            answers = race(meeting, commits)
        assert all(isinstance(answer, Committed) for answer in answers), answers
        assert Task.objects.get(id=nodes["both"]).state == State.OPEN
        assert opened(nodes["both"]) == 1
        assert Pin.objects.filter(task_id=nodes["both"]).count() == 2
        check(*nodes.values())


@pytest.mark.parametrize("is_commit_first", [True, False])
def test_a_task_created_while_its_predecessor_commits_opens_exactly_once(
    world: World, is_commit_first: bool
) -> None:
    before = created(world, node("before"))["before"]
    commit = committing(world, before)
    create = partial(transitions.create, SERVER, world.pool.name, [node("after", str(before))])
    with blocked_tasks(before) as meeting:
        calls = [commit, create] if is_commit_first else [create, commit]
        answers = in_turn(meeting, calls)
    committed, made = answers if is_commit_first else answers[::-1]
    assert isinstance(committed, Committed), committed
    assert isinstance(made, Created), made
    after = made.tasks[0].task_id
    assert made.tasks[0].state is (State.OPEN if is_commit_first else State.BLOCKED)
    assert Task.objects.get(id=after).state == State.OPEN
    assert opened(after) == (0 if is_commit_first else 1)
    check(before, after)


@pytest.mark.parametrize("is_revision_first", [True, False])
def test_a_predecessor_revised_while_its_held_successor_is_requeued(
    world: World, is_revision_first: bool
) -> None:
    nodes = created(world, node("before"), node("after", "before"))
    newer = _with_a_newer_predecessor(world, nodes)
    assert Task.objects.get(id=nodes["after"]).is_stale
    sighting, operator = world.sighting(nodes["after"]), world.person(world.operator)
    requeue = partial(transitions.requeue, operator, nodes["after"], sighting)
    revise = revising(world, newer)
    with blocked_tasks(newer) as meeting:
        answers = in_turn(meeting, [revise, requeue] if is_revision_first else [requeue, revise])
    revised, requeued = answers if is_revision_first else answers[::-1]
    assert isinstance(revised, Revised), revised
    assert isinstance(requeued, Left), requeued
    # What is requeued after the revision waits for it; before it, it is pinned to what was newest then.
    assert requeued.state is (State.BLOCKED if is_revision_first else State.OPEN)
    committing(world, revised.task.task_id)()
    ended = Task.objects.get(id=requeued.task_id)
    assert ended.state == (State.OPEN if is_revision_first else State.HELD)
    assert ended.is_stale is not is_revision_first
    check(*nodes.values(), newer, revised.task.task_id, requeued.task_id)


def _with_a_newer_predecessor(world: World, nodes: dict[str, UUID]) -> UUID:
    """The successor was opened with the first revision, and the second one has been committed since."""
    assert isinstance(committing(world, nodes["before"])(), Committed)
    revised = revising(world, nodes["before"])()
    assert isinstance(revised, Revised), revised
    assert isinstance(committing(world, revised.task.task_id)(), Committed)
    return revised.task.task_id


@pytest.mark.parametrize("is_commit_first", [True, False])
def test_a_successor_claimed_while_its_predecessors_newer_revision_commits_cannot_deliver(
    world: World, is_commit_first: bool
) -> None:
    nodes = created(world, node("before"), node("after", "before"))
    assert isinstance(committing(world, nodes["before"])(), Committed)
    revised = revising(world, nodes["before"])()
    assert isinstance(revised, Revised), revised
    commit = committing(world, revised.task.task_id)
    version = Task.objects.values_list("state_version", flat=True).get(id=nodes["after"])
    other = world.caller(world.agents[1])
    claim = partial(transitions.claim, other, nodes["after"], version, world.epoch)
    with blocked_tasks(nodes["after"]) as meeting:
        answers = in_turn(meeting, [commit, claim] if is_commit_first else [claim, commit])
    committed, granted = answers if is_commit_first else answers[::-1]
    assert isinstance(committed, Committed), committed
    assert isinstance(granted, Refused if is_commit_first else Granted), granted
    row = Task.objects.get(id=nodes["after"])
    assert (row.state, row.is_stale, row.attempt_id) == (State.HELD, True, None)
    check(*nodes.values(), revised.task.task_id)


def test_a_revision_and_a_commit_of_one_predecessor_leave_its_successor_one_way_forward(
    world: World,
) -> None:
    for is_commit_first in (True, False):
        nodes = created(world, node("before"), node("after", "before"))
        commit = committing(world, nodes["before"])
        revise = revising(world, nodes["before"])
        with blocked_tasks(nodes["before"]) as meeting:
            in_turn(meeting, [commit, revise] if is_commit_first else [revise, commit])
        # A revise names the version it saw, so of the two only the first one happens.
        is_done = Task.objects.get(id=nodes["before"]).state == State.DONE
        assert is_done is is_commit_first
        assert Task.objects.get(id=nodes["after"]).state == (State.OPEN if is_done else State.BLOCKED)
        check(*nodes.values())
