"""After a failure or a lapse a task waits before it may be claimed again, longer with every attempt."""

from __future__ import annotations

from datetime import timedelta

import pytest

from claims import decide
from claims.vocabulary import ReclaimPolicy, State
from tests.support.rows import AGENT, NOW, a_claimed_task, a_fence, quiet, with_pool

POLICY = {"backoff_seconds": 10, "max_backoff_seconds": 35}


def not_before(change: object) -> object:
    assert isinstance(change, decide.Change), change
    assert change.target is State.OPEN
    return change.columns.get("not_before")


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 10), (2, 20), (3, 35), (40, 35)])
def test_a_failed_task_waits_twice_as_long_with_every_attempt_up_to_the_pools_most(
    attempts: int, seconds: int
) -> None:
    seen = with_pool(a_claimed_task(attempts_used=attempts, max_attempts=50), **POLICY)
    change = decide.fail(seen, a_fence(), AGENT, "no network", retryable=True)
    assert not_before(change) == NOW + timedelta(seconds=seconds)


def test_a_lapsed_task_waits_as_well() -> None:
    seen = with_pool(quiet(a_claimed_task(reclaim_policy=ReclaimPolicy.AUTO)), **POLICY)
    assert not_before(decide.lapse(seen)) == NOW + timedelta(seconds=10)


def test_a_task_waits_no_less_than_it_was_told_to() -> None:
    tomorrow = NOW + timedelta(days=1)
    seen = with_pool(a_claimed_task(not_before=tomorrow), **POLICY)
    change = decide.fail(seen, a_fence(), AGENT, "no network", retryable=True)
    assert not_before(change) == tomorrow


def test_a_task_that_is_given_back_does_not_wait() -> None:
    seen = with_pool(a_claimed_task(), **POLICY)
    assert not_before(decide.release(seen, a_fence(), AGENT, "night")) is None
