"""Corruptions planted past every guard of the database: each is found, and named by one sentence."""

from __future__ import annotations

import pytest

from claims import checking
from claims.checking import Certificate, Violation
from claims.checking.running import names
from tests.support.effects import ONCE_ONLY, executing, with_effect
from tests.support.world import World
from tests.unit.claims.checking import planted_in_histories, planted_in_records  # noqa: F401 - each registers its own
from tests.unit.claims.checking.corrupting import PLANTED, done, released, sent_twice, successor

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_corruption_is_found_and_named(world: World, name: str) -> None:
    invariant, sentence, corrupt = PLANTED[name]
    corrupt(world)
    found = checking.check()
    assert isinstance(found, Violation), found
    assert (found.invariant, sentence in found.sentence) == (invariant, True), found


def test_what_the_corruptions_begin_with_is_certified(world: World) -> None:
    for begin in (done, released, sent_twice, successor):
        begin(world)
    executing(world, with_effect(world, **ONCE_ONLY))
    found = checking.check()
    assert isinstance(found, Certificate), found


def test_there_are_at_least_twenty() -> None:
    assert len(PLANTED) >= 20
    assert not {invariant for invariant, _, _ in PLANTED.values()} - set(names(True))
