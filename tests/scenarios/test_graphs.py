"""Graphs: B27, B51, B52."""

from __future__ import annotations

import os
from functools import partial
from uuid import UUID

import pytest

from claims import decide, transitions
from claims.models import History
from claims.outcomes import Committed, Refused, Why
from claims.vocabulary import State, Verdict
from tests.race.meeting import blocked_pool, race
from tests.support import invariants
from tests.support.records import task_row, verbs_of
from tests.support.walks_of_graphs import finish, graph, in_state
from tests.support.world import World, judgement

pytestmark = pytest.mark.django_db

ROUNDS = 2_000 if os.environ.get("FENCEPOST_LONG") else 8


def blockers(world: World, task_id: UUID) -> str:
    """What whoever wants to claim a blocked task is told."""
    answer = transitions.claim(world.caller(), task_id, task_row(task_id).state_version, world.epoch)
    assert isinstance(answer, Refused)
    assert answer.why is Why.NOT_CLAIMABLE
    return f"{answer.sentence} {' '.join(answer.reasons)}"


def test_b27_awx_15474_a_successor_of_a_cancelled_task_stays_blocked_and_names_it(world: World) -> None:
    nodes = graph(world, a=(), b=(), c=(), last=("a", "b", "c"))
    finish(world, nodes["a"])
    in_state(world, State.DELIVERED, nodes["c"])
    transitions.cancel(world.person(world.preparer), nodes["c"], "nobody wants it")
    finish(world, nodes["b"])
    assert task_row(nodes["last"]).state == State.BLOCKED
    told = blockers(world, nodes["last"])
    assert f"T-{task_row(nodes['c']).number} (cancelled)" in told
    assert f"T-{task_row(nodes['a']).number}" not in told


def test_b51_apalis_673_two_parents_that_end_together_open_their_successor_once(open_world: World) -> None:
    world = open_world
    for _ in range(ROUNDS):
        nodes = graph(world, a=(), b=(), last=("a", "b"))
        pending = [world.delivered(granted=world.claimed(task_id=nodes[name])) for name in ("a", "b")]
        contenders = [
            partial(transitions.accept, world.person(world.reviewer), each.id, judgement(each))
            for each in pending
        ]
        with blocked_pool(world.pool.id) as meeting:
            answers = race(meeting, contenders)
        assert all(isinstance(answer, Committed) for answer in answers), answers
        assert task_row(nodes["last"]).state == State.OPEN
        assert History.objects.filter(task_id=nodes["last"], verb="open").count() == 1
        for task_id in nodes.values():
            invariants.check(task_id)


@pytest.mark.parametrize("state", [State.HELD, State.CANCELLED, State.CLAIMED, State.DELIVERED, State.OPEN])
def test_b52_mofa_1678_a_predecessor_that_did_not_succeed_opens_nothing(world: World, state: State) -> None:
    nodes = graph(world, a=(), b=(), last=("a", "b"))
    in_state(world, state, nodes["a"])
    finish(world, nodes["b"])
    assert task_row(nodes["last"]).state == State.BLOCKED
    assert f"T-{task_row(nodes['a']).number} ({state.lower()})" in blockers(world, nodes["last"])
    assert "open" not in verbs_of(nodes["last"])


def test_b52_mofa_1678_a_predecessor_that_was_sent_back_opens_nothing(world: World) -> None:
    nodes = graph(world, a=(), last=("a",))
    delivery = world.delivered(granted=world.claimed(task_id=nodes["a"]))
    judged: decide.Judgement = judgement(delivery, Verdict.NOT_MET, "once more")
    transitions.reject(world.person(world.reviewer), delivery.id, judged)
    assert task_row(nodes["last"]).state == State.BLOCKED
