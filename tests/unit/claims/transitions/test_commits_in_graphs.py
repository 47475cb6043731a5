"""A runner's own commit settles its successors as an acceptance does (claim.v1 section 6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claims import transitions
from claims.callers import SYSTEM, Caller
from claims.inputs import NewTask
from claims.models import Task
from claims.outcomes import Committed, Created
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy, Source, State
from tests.support.records import one_change, verbs_of
from tests.support.world import World, a_specification

pytestmark = pytest.mark.django_db

PLAIN = NewTask("Empty state", a_specification(evidence=[]), review_policy=ReviewPolicy.NONE)


def test_a_runners_commit_of_the_last_predecessor_opens_the_successor_once(sandbox: World) -> None:
    first, last = replace(PLAIN, node_id="first"), replace(PLAIN, node_id="last", depends_on=("first",))
    made = transitions.create(Caller(SYSTEM, Source.COMMAND), sandbox.pool.name, [first, last])
    assert isinstance(made, Created)
    granted = sandbox.claimed(task_id=made.tasks[0].task_id)
    successor = made.tasks[1].task_id
    with one_change(successor, raises=0, to=State.OPEN):
        answer = transitions.commit(
            sandbox.caller(), granted.fence, granted.input_digest, staged=StagedResult({"done": True}, [])
        )
        assert isinstance(answer, Committed), answer
    assert verbs_of(successor) == ["create", "open"]
    assert Task.objects.get(id=successor).input_digest is not None
