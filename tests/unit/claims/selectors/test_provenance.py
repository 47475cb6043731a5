"""The record of every task that a random life brings to an end holds, by the client's own reckoning."""

from __future__ import annotations

import random

import pytest

from claims import transitions
from claims.models import CanonicalCommit, Task
from claims.selectors import provenance
from claims.vocabulary import State
from client.records import parsed
from client.verifying import verify
from tests.support.world import a_world, judgement
from tests.unit.claims.checking.living import Living

pytestmark = pytest.mark.django_db


def lives_and_is_recorded(seed: int, steps: int) -> int:
    """Live so many steps; how many records were verified afterwards."""
    world = a_world(allows_unreviewed=True, max_attempts=4)
    Living(world, random.Random(seed)).live(steps)
    done = list(Task.objects.filter(pool=world.pool, state=State.DONE).values_list("pk", flat=True))
    for task_id in done:
        record = provenance.record_of(task_id)
        assert record is not None
        verify(parsed(provenance.written(record)))
    return len(done)


def test_the_records_of_a_random_life_hold() -> None:
    assert lives_and_is_recorded(seed=1, steps=150) >= 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
def test_the_records_of_a_long_random_life_hold(seed: int) -> None:
    assert lives_and_is_recorded(seed, steps=1_500) > 0


def test_only_a_task_with_a_canonical_result_has_a_record() -> None:
    world = a_world()
    task_id = world.delivered().task_id
    assert not CanonicalCommit.objects.filter(task_id=task_id).exists()
    assert provenance.record_of(task_id) is None


def test_the_same_task_has_the_same_file_twice() -> None:
    world = a_world()
    delivery = world.delivered()
    transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    one, other = provenance.record_of(delivery.task_id), provenance.record_of(delivery.task_id)
    assert one is not None
    assert other is not None
    assert provenance.written(one) == provenance.written(other)
