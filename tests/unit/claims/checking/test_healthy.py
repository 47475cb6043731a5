"""A long random life is certified, and all that was accepted in it had been validated."""

from __future__ import annotations

import random

import pytest

from claims import checking
from claims.checking import Certificate
from tests.support.world import a_world
from tests.unit.claims.checking.living import Living

pytestmark = pytest.mark.django_db


def lives_and_holds(seed: int, steps: int) -> None:
    """Live so many steps; what is stored afterwards is certified, as a pool and task by task."""
    world = a_world(allows_unreviewed=True, max_attempts=4)
    Living(world, random.Random(seed)).live(steps)
    found = checking.check(world.pool.name)
    assert isinstance(found, Certificate), (seed, found)
    assert found.rows >= found.tasks > 0
    covered = checking.coverage(world.pool.name)
    assert [point for point in covered if point.accepted != point.validated] == []


def test_a_random_life_is_certified_and_was_validated() -> None:
    lives_and_holds(seed=1, steps=150)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 8))
def test_a_long_random_life_is_certified_and_was_validated(seed: int) -> None:
    lives_and_holds(seed, steps=1_500)
