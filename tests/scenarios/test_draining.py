"""Draining keeps what runs and starts nothing new: B25."""

from __future__ import annotations

import pytest

from claims import transitions
from claims.models import Pool, Task
from claims.outcomes import Committed, Delivered, Renewed, Why
from claims.vocabulary import Gate, ReviewPolicy, State
from tests.support.records import task_row, why
from tests.support.world import World

pytestmark = pytest.mark.django_db


def test_b25_copilotkit_5743_a_draining_pool_lets_running_work_finish_and_grants_nothing(
    sandbox: World,
) -> None:
    delivering, committing = sandbox.claimed(), sandbox.claimed(review_policy=ReviewPolicy.NONE)
    waiting = sandbox.task()
    Pool.objects.filter(id=sandbox.pool.id).update(gate=Gate.DRAINING)

    assert isinstance(transitions.renew(sandbox.caller(), delivering.fence, 60), Renewed)
    for refused in (
        transitions.claim(sandbox.caller(), waiting, 1, sandbox.epoch),
        transitions.claim_next(sandbox.caller(), sandbox.pool.name, sandbox.epoch),
        transitions.reassign(
            sandbox.person(sandbox.operator), waiting, sandbox.sighting(waiting), sandbox.agents[1].name
        ),
    ):
        assert why(refused) is Why.GATE_CLOSED
    delivered = transitions.deliver(
        sandbox.caller(), delivering.fence, delivering.input_digest, staged=sandbox.staged(delivering)
    )
    committed = transitions.commit(
        sandbox.caller(), committing.fence, committing.input_digest, staged=sandbox.staged(committing)
    )
    assert isinstance(delivered, Delivered)
    assert isinstance(committed, Committed)
    assert not Task.objects.filter(pool=sandbox.pool, state=State.CLAIMED).exists()
    assert task_row(waiting).attempts_used == 0
