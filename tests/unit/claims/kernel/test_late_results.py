"""A result that came from a lost fence is never found where a hand-in looks for its own (section 4)."""

from __future__ import annotations

import pytest

from claims import kernel, transitions
from claims.outcomes import Staged
from tests.support.twins import twins
from tests.support.world import World

pytestmark = pytest.mark.django_db


def test_a_late_result_is_not_what_its_attempt_could_hand_in(world: World) -> None:
    both = twins(world)
    attempt_id = both.slow.fence.attempt_id
    late = transitions.stage(both.slow_caller, both.slow.fence, world.staged(both.slow))
    assert isinstance(late, Staged)
    assert late.late
    assert kernel.staged(attempt_id, late.result_digest) is None
    assert kernel.staged(attempt_id, None) is None


def test_a_result_of_a_fence_that_stands_is(world: World) -> None:
    granted = world.claimed()
    digest = world.stage(granted)
    assert kernel.staged(granted.fence.attempt_id, digest) == digest
    assert kernel.staged(granted.fence.attempt_id, None) == digest
