"""Who may be granted a task: the order of checks, and every reason at once (claim.v1 section 4)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from claims import decide
from claims.decide import Change
from claims.decide.rows import TaskAsRead
from claims.outcomes import Refused, Why
from claims.vocabulary import AttemptOutcome, Gate, ReclaimPolicy, State, Verb
from tests.support.rows import (
    EPOCH,
    NOW,
    POOL,
    VERSION,
    a_claimed_task,
    a_delivered_task,
    a_done_task,
    a_held_task,
    an_open_task,
    below_epoch,
    quiet,
    with_agent,
    with_pool,
)

AUTO = {"reclaim_policy": ReclaimPolicy.AUTO}


def claim(
    seen: TaskAsRead, version: int | None = VERSION, epoch: int = EPOCH, ttl: int | None = None
) -> Change | Refused:
    return decide.claim(seen, version, epoch, ttl)


def why(answer: Change | Refused) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


def change(answer: Change | Refused) -> Change:
    assert isinstance(answer, Change), answer
    return answer


def broken(*faults: str) -> TaskAsRead:
    """A task that cannot be claimed, for each of the reasons named."""
    seen = a_claimed_task(access=("browser",)) if "taken" in faults else an_open_task(access=("browser",))
    seen = seen if "unfit" in faults else with_agent(seen, labels=frozenset({"browser"}))
    seen = with_pool(seen, gate=Gate.DRAINING) if "gate" in faults else seen
    if "cancelled" in faults:
        seen = replace(seen, task=replace(seen.task, state=State.CANCELLED))
    return seen


ORDER = [
    ("ttl", Why.MALFORMED),
    ("epoch", Why.OLD_EPOCH),
    ("gate", Why.GATE_CLOSED),
    ("cancelled", Why.CANCELLED),
    ("version", Why.STALE_STATE),
    ("taken", Why.NOT_CLAIMABLE),
    ("unfit", Why.NOT_ELIGIBLE),
]


@pytest.mark.parametrize(
    ("first", "expected", "second"),
    [(first, expected, second) for (first, expected), (second, _) in pairwise(ORDER)],
)
def test_of_two_neighbouring_checks_of_a_claim_the_first_answers(
    first: str, expected: Why, second: str
) -> None:
    faults = {first, second}
    answer = decide.claim(
        broken(*faults),
        VERSION + 1 if "version" in faults else VERSION,
        EPOCH - 1 if "epoch" in faults else EPOCH,
        0 if "ttl" in faults else None,
    )
    assert why(answer) is expected


@pytest.mark.parametrize(("fault", "expected"), ORDER)
def test_each_check_of_a_claim_answers_alone(fault: str, expected: Why) -> None:
    answer = decide.claim(
        broken(fault),
        VERSION + 1 if fault == "version" else VERSION,
        EPOCH + 1 if fault == "epoch" else EPOCH,
        POOL.max_ttl_seconds + 1 if fault == "ttl" else None,
    )
    assert why(answer) is expected


def test_an_agent_that_does_not_work_in_the_pool_sees_nothing() -> None:
    answer = claim(with_agent(an_open_task(), works_here=False), epoch=EPOCH - 1)
    assert why(answer) is Why.NOT_FOUND
    assert isinstance(answer, Refused)
    assert answer.current is None
    assert why(claim(replace(an_open_task(), agent=None))) is Why.NOT_FOUND


def test_an_open_task_is_granted_and_the_attempt_is_counted() -> None:
    made = change(claim(an_open_task()))
    assert (made.verb, made.target, made.ends) == (Verb.CLAIM, State.CLAIMED, None)
    assert made.grant is not None
    assert made.grant.is_counted
    assert made.grant.ttl_seconds == 300


def test_the_lease_asked_for_is_the_lease_granted() -> None:
    made = change(claim(an_open_task(), ttl=77))
    assert made.grant is not None
    assert made.grant.ttl_seconds == 77


def test_a_task_with_a_longer_lease_than_its_pool_now_allows_gets_the_pools() -> None:
    made = change(claim(an_open_task(ttl_seconds=POOL.max_ttl_seconds + 100)))
    assert made.grant is not None
    assert made.grant.ttl_seconds == POOL.max_ttl_seconds


def test_an_expired_auto_claim_may_be_taken_in_the_same_transaction() -> None:
    made = change(claim(quiet(a_claimed_task(**AUTO))))
    assert (made.target, made.ends) == (State.CLAIMED, AttemptOutcome.LAPSED)


def test_an_auto_claim_below_the_epoch_may_be_taken_and_its_attempt_ends_as_fenced() -> None:
    seen = below_epoch(a_claimed_task(**AUTO))
    made = change(claim(seen, epoch=EPOCH + 1))
    assert (made.target, made.ends) == (State.CLAIMED, AttemptOutcome.FENCED)


def test_an_expired_manual_claim_is_quiet_and_nothing_takes_it_away() -> None:
    answer = claim(quiet(a_claimed_task()))
    assert why(answer) is Why.NOT_CLAIMABLE
    assert isinstance(answer, Refused)
    assert "agent-7 is quiet" in answer.reasons[0]


def test_a_live_auto_claim_is_not_taken_and_says_by_whom_and_until_when() -> None:
    answer = claim(a_claimed_task(**AUTO))
    assert why(answer) is Why.NOT_CLAIMABLE
    assert isinstance(answer, Refused)
    assert answer.reasons == ("It is claimed by agent-7 until 2026-03-01 12:01:00 UTC.",)


def test_not_claimable_says_every_reason_at_once() -> None:
    seen = an_open_task(not_before=NOW + timedelta(hours=1), attempts_used=3)
    answer = claim(seen)
    assert isinstance(answer, Refused)
    assert answer.reasons == (
        "It may not be claimed before 2026-03-01 13:00:00 UTC.",
        "Its 3 attempts are used up.",
    )


def test_not_claimable_says_that_a_task_is_delivered_held_blocked_or_done() -> None:
    blocked = an_open_task(state=State.BLOCKED, reason="T-1001 is not done.")
    answers = [claim(seen) for seen in (a_delivered_task(), a_held_task(), blocked, a_done_task())]
    assert [why(answer) for answer in answers] == [Why.NOT_CLAIMABLE] * 4
    sentences = [answer.sentence for answer in answers if isinstance(answer, Refused)]
    assert "waits for a decision" in sentences[0]
    assert "agent-7 failed for good" in sentences[1]
    assert "T-1001 is not done" in sentences[2]
    assert "DONE" in sentences[3]


def test_not_before_is_a_condition_until_its_very_instant() -> None:
    assert isinstance(claim(an_open_task(not_before=NOW)), Change)
    assert isinstance(claim(an_open_task(not_before=NOW + timedelta(microseconds=1))), Refused)


def test_an_agent_without_a_label_is_told_which() -> None:
    seen = with_agent(an_open_task(access=("browser", "gpu")), labels=frozenset({"gpu"}))
    answer = claim(seen)
    assert why(answer) is Why.NOT_ELIGIBLE
    assert isinstance(answer, Refused)
    assert answer.reasons == ("The agent agent-7 lacks the label browser.",)


def test_a_disabled_agent_is_not_eligible() -> None:
    assert why(claim(with_agent(an_open_task(), is_disabled=True))) is Why.NOT_ELIGIBLE


def test_a_grant_clears_whom_the_task_was_kept_for() -> None:
    made = change(claim(an_open_task(preferred_runner_id=99)))
    assert made.columns == {"preferred_runner_id": None}


def test_a_claim_next_names_no_state_version() -> None:
    made = change(decide.claim(an_open_task(), None, EPOCH, None, Verb.CLAIM_NEXT))
    assert made.verb is Verb.CLAIM_NEXT
