"""Handing in: the first answer for a repeat, and thin evidence before a reviewer has to look."""

from __future__ import annotations

from uuid import UUID

import pytest

from claims import decide
from claims.decide import Change
from claims.inputs import parse_input
from claims.outcomes import Committed, Delivered, Refused, Why
from claims.vocabulary import AttemptOutcome, DeliveryState, ReviewPolicy, State
from tests.support.rows import (
    AGENT,
    CANCELS,
    COMMIT,
    DELIVERY,
    EPOCH,
    GENERATION,
    INPUT,
    OTHER_AGENT,
    OTHER_DIGEST,
    RESULT,
    SUBJECT,
    VERSION,
    a_claimed_task,
    a_delivered_task,
    a_delivery,
    a_done_task,
    a_fence,
    a_handover,
    an_item,
    below_epoch,
    with_pool,
)

UNREVIEWED = with_pool(a_claimed_task(review_policy=ReviewPolicy.NONE), allows_unreviewed=True)


def test_a_delivery_ends_the_attempt_and_counts_the_round() -> None:
    change = decide.deliver(a_claimed_task(rounds=2), a_fence(), AGENT, a_handover(), DELIVERY, None)
    assert isinstance(change, Change)
    assert (change.target, change.ends) == (State.DELIVERED, AttemptOutcome.DELIVERED)
    assert change.columns == {"delivery_id": DELIVERY, "rounds": 3}


@pytest.mark.parametrize("state", list(DeliveryState))
def test_a_repeated_delivery_has_its_first_answer_whatever_became_of_it(state: DeliveryState) -> None:
    earlier = a_delivery(state=state)
    for seen in (a_delivered_task(state_version=VERSION + 7), a_done_task(), below_epoch(a_delivered_task())):
        answer = decide.deliver(seen, a_fence(), AGENT, a_handover(), UUID(int=8), earlier)
        assert answer == Delivered(DELIVERY, 1, RESULT, SUBJECT, VERSION)


def test_a_repeated_delivery_may_leave_the_result_digest_out() -> None:
    answer = decide.deliver(
        a_delivered_task(), a_fence(), AGENT, a_handover(result_digest=None), UUID(int=8), a_delivery()
    )
    assert isinstance(answer, Delivered)


@pytest.mark.parametrize(
    ("fence", "agent_id", "handover", "why"),
    [
        (a_fence(claim_generation=GENERATION - 1), AGENT, a_handover(), Why.FENCED),
        (a_fence(scheduler_epoch=EPOCH - 1), AGENT, a_handover(), Why.FENCED),
        (a_fence(attempt_id=UUID(int=99)), AGENT, a_handover(), Why.FENCED),
        (a_fence(cancel_generation=CANCELS + 1), AGENT, a_handover(), Why.CANCELLED),
        (a_fence(), OTHER_AGENT, a_handover(), Why.FENCED),
        (a_fence(), AGENT, a_handover(input_digest=OTHER_DIGEST), Why.STALE_INPUT),
        (a_fence(), AGENT, a_handover(result_digest=OTHER_DIGEST), Why.ALREADY_DELIVERED),
    ],
)
def test_what_differs_in_any_part_is_no_repeat(
    fence: object, agent_id: int, handover: object, why: Why
) -> None:
    answer = decide.deliver(a_delivered_task(), fence, agent_id, handover, UUID(int=8), a_delivery())  # type: ignore[arg-type]
    assert isinstance(answer, Refused)
    assert answer.why is why


def test_a_result_that_was_not_staged_cannot_be_handed_in() -> None:
    handover = a_handover(staged_digest=None)
    for answer in (
        decide.deliver(a_claimed_task(), a_fence(), AGENT, handover, DELIVERY, None),
        decide.commit(UNREVIEWED, a_fence(), AGENT, handover, COMMIT),
    ):
        assert isinstance(answer, Refused)
        assert answer.why is Why.NOT_STAGED


def test_thin_evidence_lists_each_missing_item() -> None:
    handover = a_handover(missing=("evidence of kind diff", "screenshot billing-390"))
    for answer in (
        decide.deliver(a_claimed_task(), a_fence(), AGENT, handover, DELIVERY, None),
        decide.commit(UNREVIEWED, a_fence(), AGENT, handover, COMMIT),
    ):
        assert isinstance(answer, Refused)
        assert answer.why is Why.THIN_EVIDENCE
        assert answer.reasons == ("evidence of kind diff", "screenshot billing-390")


def test_what_is_required_by_name_is_missing_by_name() -> None:
    asked = parse_input(
        {
            "task": "Do it",
            "evidence": [
                {"kind": "diff"},
                {"kind": "command", "name": "tests"},
                {"kind": "screenshot", "name": "billing", "widths": [390, 1280]},
                {"kind": "screenshot", "widths": [800]},
            ],
        }
    )
    have = [an_item("tests", "log"), an_item("billing-390", "screenshot", width=390)]
    assert decide.missing_evidence(asked, have) == (
        "evidence of kind diff",
        "command tests",
        "screenshot billing-1280",
        "screenshot at 800 px",
    )


def test_nothing_is_missing_when_everything_asked_for_is_there() -> None:
    asked = parse_input(
        {"task": "Do it", "evidence": [{"kind": "diff"}, {"kind": "screenshot", "widths": [390]}]}
    )
    assert decide.missing_evidence(asked, [an_item("any"), an_item("shot", "screenshot", width=390)]) == ()


def test_an_unreviewed_task_is_committed_by_its_runner() -> None:
    change = decide.commit(UNREVIEWED, a_fence(), AGENT, a_handover(), COMMIT)
    assert isinstance(change, Change)
    assert (change.target, change.ends) == (State.DONE, AttemptOutcome.COMMITTED)
    assert change.columns == {"result_commit_id": COMMIT}


def test_a_commit_needs_both_the_pool_and_the_task_to_ask_for_no_review() -> None:
    only_the_task = a_claimed_task(review_policy=ReviewPolicy.NONE)
    only_the_pool = with_pool(a_claimed_task(), allows_unreviewed=True)
    for seen in (only_the_task, only_the_pool):
        answer = decide.commit(seen, a_fence(), AGENT, a_handover(), COMMIT)
        assert isinstance(answer, Refused)
        assert answer.why is Why.REVIEW_REQUIRED


def test_a_repeated_commit_is_answered_committed() -> None:
    answer = decide.commit(a_done_task(), a_fence(), AGENT, a_handover(result_digest=None), UUID(int=8))
    assert isinstance(answer, Committed)
    assert (answer.result_commit_id, answer.result_digest) == (COMMIT, RESULT)


def test_the_committing_fence_with_another_result_is_already_committed() -> None:
    answer = decide.commit(
        a_done_task(), a_fence(), AGENT, a_handover(result_digest=OTHER_DIGEST), UUID(int=8)
    )
    assert isinstance(answer, Refused)
    assert answer.why is Why.ALREADY_COMMITTED
    assert answer.extra["resultDigest"] == RESULT


def test_stale_input_answers_before_already_committed() -> None:
    answer = decide.commit(
        a_done_task(), a_fence(), AGENT, a_handover(input_digest=OTHER_DIGEST), UUID(int=8)
    )
    assert isinstance(answer, Refused)
    assert answer.why is Why.STALE_INPUT


@pytest.mark.parametrize(
    ("fence", "agent_id", "why"),
    [
        (a_fence(claim_generation=GENERATION + 1), AGENT, Why.FENCED),
        (a_fence(scheduler_epoch=EPOCH + 1), AGENT, Why.FENCED),
        (a_fence(attempt_id=UUID(int=99)), AGENT, Why.FENCED),
        (a_fence(cancel_generation=CANCELS + 1), AGENT, Why.CANCELLED),
        (a_fence(), OTHER_AGENT, Why.FENCED),
    ],
)
def test_only_the_fence_and_runner_that_committed_hear_of_the_commit(
    fence: object, agent_id: int, why: Why
) -> None:
    answer = decide.commit(a_done_task(), fence, agent_id, a_handover(), UUID(int=8))  # type: ignore[arg-type]
    assert isinstance(answer, Refused)
    assert answer.why is why


def test_state_is_checked_before_policy() -> None:
    answer = decide.commit(a_delivered_task(), a_fence(), AGENT, a_handover(), COMMIT)
    assert isinstance(answer, Refused)
    assert answer.why is Why.ALREADY_DELIVERED


def test_the_subject_of_a_delivery_is_that_of_the_attempt_that_holds_the_task() -> None:
    first = decide.subject_of(a_claimed_task(), DELIVERY, 1, RESULT)
    assert first != decide.subject_of(a_claimed_task(), DELIVERY, 2, RESULT)
    assert first != decide.subject_of(a_claimed_task(), DELIVERY, 1, OTHER_DIGEST)
    assert first != decide.subject_of(a_claimed_task(), COMMIT, 1, RESULT)
    assert first != decide.subject_of(a_claimed_task(input_digest=OTHER_DIGEST), DELIVERY, 1, RESULT)
    assert INPUT != OTHER_DIGEST
