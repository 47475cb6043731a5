"""Operators act on what they saw; the sweep acts only where nobody has to decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from claims import decide
from claims.decide import Change, Sighting
from claims.decide.rows import PersonRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.rights import expand
from claims.vocabulary import AttemptOutcome, Gate, ReclaimPolicy, Right, State
from tests.support.rows import (
    AGENT,
    COMMIT,
    NOW,
    a_claimed_task,
    a_delivered_task,
    a_done_task,
    a_fence,
    a_held_task,
    a_sighting,
    an_open_task,
    below_epoch,
    quiet,
    with_agent,
    with_lease,
    with_pool,
)

Operate = Callable[[TaskAsRead, Sighting], Change | Refused]
OF_A_CLAIM: list[Operate] = [decide.release_quiet, decide.reassign, decide.extend_once, decide.nudge]
each_verb = pytest.mark.parametrize(
    "verb", OF_A_CLAIM, ids=["release-quiet", "reassign", "extend-once", "nudge"]
)


def why(answer: Change | Refused) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


def change(answer: Change | Refused | None) -> Change:
    assert isinstance(answer, Change), answer
    return answer


def requeue(seen: TaskAsRead, sighting: Sighting) -> Change | Refused:
    return decide.requeue(seen, sighting, COMMIT)


@each_verb
def test_a_claim_that_was_renewed_since_is_not_quiet(verb: Operate) -> None:
    before = quiet(a_claimed_task())
    assert isinstance(verb(before, a_sighting(before)), Change)
    assert why(verb(a_claimed_task(), a_sighting(before))) is Why.NOT_QUIET


@each_verb
def test_a_claim_that_was_renewed_and_went_quiet_again_is_not_the_one_that_was_seen(verb: Operate) -> None:
    before = quiet(a_claimed_task())
    again = with_lease(before, expires_at=NOW - timedelta(microseconds=1))
    assert why(verb(again, a_sighting(before))) is Why.NOT_QUIET


@each_verb
def test_a_live_claim_is_taken_only_by_a_person_who_says_so(verb: Operate) -> None:
    live = a_claimed_task()
    assert why(verb(live, a_sighting(live))) is Why.NOT_QUIET
    assert isinstance(verb(live, a_sighting(live, even_if_live=True)), Change)


@each_verb
def test_a_task_that_moved_since_it_was_seen_is_stale_also_if_live(verb: Operate) -> None:
    before = quiet(a_claimed_task())
    moved = quiet(a_claimed_task(state_version=before.task.state_version + 1))
    assert why(verb(moved, a_sighting(before))) is Why.STALE_STATE
    assert why(verb(moved, a_sighting(before, even_if_live=True))) is Why.STALE_STATE


@each_verb
def test_a_task_that_is_not_claimed_has_nothing_to_operate_on(verb: Operate) -> None:
    for seen in (a_delivered_task(), a_held_task(), a_done_task()):
        operator = replace(seen, person=an_open_task().person)
        assert why(verb(operator, a_sighting(operator))) is Why.NOT_CLAIMED


@pytest.mark.parametrize("verb", [*OF_A_CLAIM, requeue])
def test_only_an_operator_operates_and_a_stranger_sees_nothing(verb: Operate) -> None:
    seen = quiet(a_claimed_task()) if verb is not requeue else a_held_task()
    for rights, expected in (
        ([], Why.NOT_FOUND),
        ([Right.REVIEWER], Why.FORBIDDEN),
        ([Right.PREPARER], Why.FORBIDDEN),
    ):
        by = replace(seen, person=PersonRow(61, expand(rights)))
        assert why(verb(by, a_sighting(seen))) is expected


@pytest.mark.parametrize("verb", [*OF_A_CLAIM, requeue])
def test_an_operator_must_say_why(verb: Operate) -> None:
    seen = quiet(a_claimed_task()) if verb is not requeue else a_held_task()
    assert why(verb(seen, a_sighting(seen, reason=" "))) is Why.UNPROCESSABLE


def test_a_quiet_claim_is_released_to_open() -> None:
    seen = quiet(a_claimed_task())
    made = change(decide.release_quiet(seen, a_sighting(seen)))
    assert (made.target, made.ends) == (State.OPEN, AttemptOutcome.LAPSED)


def test_a_quiet_claim_of_the_last_attempt_is_released_to_held_with_words() -> None:
    seen = quiet(a_claimed_task(attempts_used=3))
    made = change(decide.release_quiet(seen, a_sighting(seen)))
    assert made.target is State.HELD
    assert made.reason == "3 of 3 attempts are used up (the last one went quiet). An operator can requeue it."


def test_reassigning_is_a_grant_that_counts_an_attempt() -> None:
    seen = quiet(a_claimed_task())
    made = change(decide.reassign(seen, a_sighting(seen)))
    assert (made.target, made.ends) == (State.CLAIMED, AttemptOutcome.LAPSED)
    assert made.grant is not None
    assert made.grant.is_counted


def test_an_open_task_can_be_given_to_a_named_runner() -> None:
    made = change(decide.reassign(an_open_task(), a_sighting(an_open_task())))
    assert (made.target, made.ends) == (State.CLAIMED, None)


def test_reassigning_an_open_task_that_moved_is_stale() -> None:
    answer = decide.reassign(an_open_task(), a_sighting(an_open_task(), expected_state_version=1))
    assert why(answer) is Why.STALE_STATE


def test_reassigning_is_refused_while_the_gate_is_draining() -> None:
    seen = with_pool(quiet(a_claimed_task()), gate=Gate.DRAINING)
    assert why(decide.reassign(seen, a_sighting(seen))) is Why.GATE_CLOSED


def test_a_runner_that_cannot_take_the_task_is_not_given_it() -> None:
    lacking = quiet(a_claimed_task(access=("browser",)))
    disabled = with_agent(quiet(a_claimed_task()), is_disabled=True)
    used_up = quiet(a_claimed_task(attempts_used=3))
    for seen in (lacking, disabled, used_up):
        assert why(decide.reassign(seen, a_sighting(seen))) is Why.NOT_ELIGIBLE
    for nobody in (replace(disabled, agent=None), with_agent(quiet(a_claimed_task()), works_here=False)):
        assert why(decide.reassign(nobody, a_sighting(nobody))) is Why.UNPROCESSABLE


def test_a_claim_is_extended_by_its_own_term_and_only_once() -> None:
    seen = quiet(a_claimed_task())
    made = change(decide.extend_once(seen, a_sighting(seen)))
    assert made.expiry is not None
    assert made.expiry.expires_at == NOW + timedelta(seconds=300)
    again = with_lease(seen, expires_at=NOW - timedelta(seconds=1), extended_at=NOW - timedelta(minutes=9))
    assert why(decide.extend_once(again, a_sighting(again))) is Why.ALREADY_EXTENDED


def test_extending_a_live_claim_never_shortens_it() -> None:
    far = with_lease(a_claimed_task(), expires_at=NOW + timedelta(hours=1))
    made = change(decide.extend_once(far, a_sighting(far, even_if_live=True)))
    assert made.expiry is not None
    assert made.expiry.expires_at == NOW + timedelta(hours=1)


def test_a_claim_is_not_extended_past_its_window() -> None:
    seen = with_lease(
        a_claimed_task(), expires_at=NOW - timedelta(seconds=1), window_ends_at=NOW + timedelta(seconds=299)
    )
    assert why(decide.extend_once(seen, a_sighting(seen))) is Why.WINDOW_EXCEEDED


def test_a_nudge_marks_the_lease_and_leaves_its_end_alone() -> None:
    seen = quiet(a_claimed_task())
    made = change(decide.nudge(seen, a_sighting(seen)))
    assert seen.lease is not None
    assert made.expiry is not None
    assert (made.expiry.expires_at, made.expiry.is_nudge) == (seen.lease.expires_at, True)


def test_a_held_task_is_requeued_and_its_attempts_start_anew() -> None:
    seen = a_held_task(attempts_used=3)
    made = change(requeue(seen, a_sighting(seen)))
    assert (made.target, made.reason, made.columns) == (State.OPEN, "", {"attempts_used": 0})


def test_a_task_that_is_not_held_or_moved_cannot_be_requeued() -> None:
    assert why(requeue(an_open_task(), a_sighting(an_open_task()))) is Why.NOT_HELD
    moved = a_sighting(a_held_task(), expected_state_version=1)
    assert why(requeue(a_held_task(), moved)) is Why.STALE_STATE


def test_the_sweep_opens_an_expired_auto_claim() -> None:
    made = change(decide.lapse(quiet(a_claimed_task(reclaim_policy=ReclaimPolicy.AUTO))))
    assert (made.target, made.ends) == (State.OPEN, AttemptOutcome.LAPSED)


def test_the_sweep_holds_an_expired_auto_claim_once_the_attempts_are_used_up() -> None:
    made = change(decide.lapse(quiet(a_claimed_task(reclaim_policy=ReclaimPolicy.AUTO, attempts_used=3))))
    assert made.target is State.HELD
    assert "the last one lapsed" in made.reason


def test_the_sweep_takes_nothing_from_an_expired_manual_claim() -> None:
    assert decide.lapse(quiet(a_claimed_task())) is None


def test_the_sweep_takes_nothing_from_a_claim_that_was_renewed_or_delivered() -> None:
    assert decide.lapse(a_claimed_task(reclaim_policy=ReclaimPolicy.AUTO)) is None
    for seen in (a_delivered_task(), an_open_task(), a_held_task(), a_done_task()):
        assert decide.lapse(seen) is None


def test_the_sweep_ends_a_claim_of_an_old_epoch_as_fenced() -> None:
    auto = change(decide.lapse(below_epoch(a_claimed_task(reclaim_policy=ReclaimPolicy.AUTO))))
    manual = change(decide.lapse(below_epoch(a_claimed_task())))
    assert (auto.target, auto.ends) == (State.OPEN, AttemptOutcome.FENCED)
    assert (manual.target, manual.ends) == (State.HELD, AttemptOutcome.FENCED)
    assert "epoch" in manual.reason


def test_disabling_an_agent_holds_what_it_claimed_and_nothing_else() -> None:
    made = change(decide.disable_agent(a_claimed_task(), "agent-7"))
    assert (made.target, made.ends) == (State.HELD, AttemptOutcome.FENCED)
    assert "agent-7 was disabled" in made.reason
    assert decide.disable_agent(a_delivered_task(), "agent-7") is None


def test_a_failure_that_another_try_may_help_opens_the_task() -> None:
    made = change(decide.fail(a_claimed_task(), a_fence(), AGENT, "no network", True))
    assert (made.target, made.ends) == (State.OPEN, AttemptOutcome.FAILED)


def test_a_failure_for_good_holds_the_task_in_the_runners_words() -> None:
    made = change(decide.fail(a_claimed_task(), a_fence(), AGENT, "the format is not documented", False))
    assert made.target is State.HELD
    assert made.reason.startswith("agent-7 failed for good: the format is not documented")


def test_a_long_reason_still_fits_the_column_and_names_the_way_out() -> None:
    made = change(decide.fail(a_claimed_task(), a_fence(), AGENT, "x" * 5_000, False))
    assert len(made.reason) <= 500
    assert made.reason.endswith("An operator can requeue it.")


def test_every_edge_to_open_goes_to_held_when_the_attempts_are_used_up() -> None:
    last = a_claimed_task(attempts_used=3)
    given_back = change(decide.release(last, a_fence(), AGENT, "done for today"))
    failed = change(decide.fail(last, a_fence(), AGENT, "no network", True))
    assert [given_back.target, failed.target] == [State.HELD, State.HELD]
    assert "the last one was given back" in given_back.reason
    assert "the last one failed" in failed.reason
