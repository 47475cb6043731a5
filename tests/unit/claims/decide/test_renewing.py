"""A lease is for reclamation only: renewing never shortens it and never asks it for authority."""

from __future__ import annotations

from datetime import timedelta

import pytest

from claims import decide
from claims.decide.rows import TaskAsRead
from claims.outcomes import Refused, Renewed, Why
from tests.support.rows import (
    AGENT,
    EPOCH,
    GENERATION,
    NOW,
    POOL,
    a_claimed_task,
    a_fence,
    below_epoch,
    quiet,
    with_lease,
)


def renewed(seen: TaskAsRead, seconds: int = 300) -> Renewed:
    answer = decide.renew(seen, a_fence(), AGENT, seconds)
    assert not isinstance(answer, Refused), answer
    told, compared = answer
    assert (compared.scheduler_epoch, compared.claim_generation) == (EPOCH, GENERATION)
    return told


def refusal(seen: TaskAsRead, seconds: int) -> Refused:
    answer = decide.renew(seen, a_fence(), AGENT, seconds)
    assert isinstance(answer, Refused), answer
    return answer


def test_a_renewal_counts_from_now() -> None:
    assert renewed(a_claimed_task(), 300).lease_expires_at == NOW + timedelta(seconds=300)


def test_a_renewal_never_shortens_the_lease() -> None:
    long = with_lease(a_claimed_task(), expires_at=NOW + timedelta(seconds=900))
    answer = renewed(long, 10)
    assert answer.lease_expires_at == NOW + timedelta(seconds=900)
    assert answer.lease_seconds_remaining == 900


def test_a_renewal_in_time_recovers_nothing() -> None:
    assert renewed(a_claimed_task()).recovered is False


def test_a_renewal_after_expiry_succeeds_while_the_generation_is_current() -> None:
    answer = renewed(quiet(a_claimed_task()))
    assert answer.recovered is True
    assert answer.lease_expires_at == NOW + timedelta(seconds=300)


def test_a_lease_that_ends_this_very_instant_has_run_out() -> None:
    assert renewed(with_lease(a_claimed_task(), expires_at=NOW)).recovered is True


def test_a_renewal_after_expiry_fails_once_the_generation_moved() -> None:
    moved = quiet(a_claimed_task(claim_generation=GENERATION + 1))
    assert refusal(moved, 60).why is Why.FENCED


def test_a_renewal_under_an_old_epoch_is_fenced() -> None:
    assert refusal(below_epoch(a_claimed_task()), 60).why is Why.FENCED


def test_a_renewal_up_to_the_end_of_the_window_succeeds() -> None:
    seen = with_lease(a_claimed_task(), window_ends_at=NOW + timedelta(seconds=120))
    assert renewed(seen, 120).lease_expires_at == NOW + timedelta(seconds=120)


def test_a_renewal_past_the_end_of_the_window_is_refused_and_says_when_it_ends() -> None:
    seen = with_lease(a_claimed_task(), window_ends_at=NOW + timedelta(seconds=120))
    refused = refusal(seen, 121)
    assert refused.why is Why.WINDOW_EXCEEDED
    assert refused.extra["windowEndsAt"] == (NOW + timedelta(seconds=120)).isoformat()


@pytest.mark.parametrize("seconds", [0, -1, POOL.max_ttl_seconds + 1])
def test_a_renewal_out_of_the_pools_bounds_is_malformed(seconds: int) -> None:
    assert refusal(a_claimed_task(), seconds).why is Why.MALFORMED


def test_malformed_answers_before_fenced() -> None:
    answer = decide.renew(a_claimed_task(), a_fence(claim_generation=1), AGENT, 0)
    assert isinstance(answer, Refused)
    assert answer.why is Why.MALFORMED


def test_a_renewal_is_told_of_a_nudge() -> None:
    assert renewed(a_claimed_task()).nudged is False
    assert renewed(with_lease(a_claimed_task(), nudged_at=NOW)).nudged is True
