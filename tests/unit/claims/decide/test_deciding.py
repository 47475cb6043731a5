"""Decisions: maker is not checker, one decision for each delivery, on exactly what was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from claims import decide
from claims.decide import Change, Judgement
from claims.decide.rows import DeliveryRow, PersonRow, TaskAsRead
from claims.inputs import parse_input
from claims.outcomes import Refused, Why
from claims.rights import expand
from claims.vocabulary import AttemptOutcome, DeliveryState, Gate, Right, SelfReview, State, Verdict
from tests.support.rows import (
    AGENT,
    COMMIT,
    EPOCH,
    GENERATION,
    GROUP,
    OTHER_DIGEST,
    OTHER_REVIEWER,
    OWNER,
    REVIEWER,
    a_claimed_task,
    a_delivered_task,
    a_delivery,
    a_judgement,
    below_epoch,
    with_agent,
    with_pool,
)

Decide = Callable[[TaskAsRead, DeliveryRow, Judgement], Change | Refused]


TWO_CRITERIA = parse_input({"task": "Say it", "acceptance": [{"text": "one"}, {"text": "two"}]})


def accept(seen: TaskAsRead, delivery: DeliveryRow, judgement: Judgement) -> Change | Refused:
    return decide.accept(seen, delivery, judgement, TWO_CRITERIA, COMMIT)


DECISIONS: list[Decide] = [accept, decide.request_changes, decide.reject]
each_decision = pytest.mark.parametrize("decision", DECISIONS, ids=["accept", "request-changes", "reject"])


def by(person_id: int, *rights: Right, seen: TaskAsRead | None = None, **standing: Any) -> TaskAsRead:
    return replace(seen or a_delivered_task(), person=PersonRow(person_id, expand(rights), **standing))


def why(answer: Change | Refused) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


def change(answer: Change | Refused) -> Change:
    assert isinstance(answer, Change), answer
    return answer


@each_decision
def test_a_person_without_rights_in_the_pool_sees_nothing(decision: Decide) -> None:
    answer = decision(
        by(REVIEWER), a_delivery(state=DeliveryState.ACCEPTED, makers=frozenset({REVIEWER})), a_judgement()
    )
    assert why(answer) is Why.NOT_FOUND
    assert isinstance(answer, Refused)
    assert (answer.current, answer.detail) == (None, "")


@each_decision
@pytest.mark.parametrize("right", [Right.VIEWER, Right.PREPARER, Right.OPERATOR])
def test_only_a_reviewer_decides(decision: Decide, right: Right) -> None:
    assert why(decision(by(REVIEWER, right), a_delivery(), a_judgement())) is Why.NOT_REVIEWER


@each_decision
def test_the_right_to_review_answers_before_self_review(decision: Decide) -> None:
    answer = decision(by(OWNER, Right.VIEWER), a_delivery(), a_judgement())
    assert why(answer) is Why.NOT_REVIEWER


@each_decision
def test_self_review_answers_before_already_decided(decision: Decide) -> None:
    decided = a_delivery(state=DeliveryState.REJECTED)
    assert why(decision(by(OWNER, Right.REVIEWER), decided, a_judgement())) is Why.SELF_REVIEW


@each_decision
def test_already_decided_answers_before_stale_delivery(decision: Decide) -> None:
    decided = a_delivery(state=DeliveryState.ACCEPTED, decided_by="maya")
    answer = decision(a_delivered_task(), decided, a_judgement(subject_digest=OTHER_DIGEST))
    assert why(answer) is Why.ALREADY_DECIDED
    assert isinstance(answer, Refused)
    assert "already accepted by maya" in answer.sentence


def test_stale_delivery_answers_before_the_fence() -> None:
    seen = below_epoch(a_delivered_task())
    assert why(accept(seen, a_delivery(), a_judgement(subject_digest=OTHER_DIGEST))) is Why.STALE_DELIVERY


@each_decision
def test_a_decision_must_repeat_the_subject_digest_that_was_seen(decision: Decide) -> None:
    answer = decision(a_delivered_task(), a_delivery(), a_judgement(subject_digest=OTHER_DIGEST))
    assert why(answer) is Why.STALE_DELIVERY
    assert isinstance(answer, Refused)
    assert answer.extra["subjectDigest"] == a_delivery().subject_digest


@each_decision
def test_the_owner_of_the_agent_may_not_decide_not_even_as_administrator(decision: Decide) -> None:
    for right in (Right.REVIEWER, Right.ADMIN):
        assert why(decision(by(OWNER, right), a_delivery(), a_judgement())) is Why.SELF_REVIEW


@each_decision
def test_every_owner_that_was_recorded_is_a_maker(decision: Decide) -> None:
    delivery = a_delivery(makers=frozenset({OWNER, REVIEWER}))
    assert why(decision(a_delivered_task(), delivery, a_judgement())) is Why.SELF_REVIEW


@each_decision
def test_a_pool_of_one_may_allow_self_review_and_the_record_is_marked(decision: Decide) -> None:
    alone = with_pool(by(OWNER, Right.ADMIN), self_review=SelfReview.MARKED)
    assert isinstance(decision(alone, a_delivery(), a_judgement()), Change)
    assert decide.marks(alone, a_delivery()) == ["SELF_REVIEW"]


@each_decision
def test_stepping_in_for_the_named_reviewer_needs_a_reason_and_is_marked(decision: Decide) -> None:
    seen = a_delivered_task(reviewer_id=OTHER_REVIEWER)
    assert why(decision(seen, a_delivery(), a_judgement(reason="  "))) is Why.NOT_REVIEWER
    assert isinstance(decision(seen, a_delivery(), a_judgement(reason="she is on leave")), Change)
    assert decide.marks(seen, a_delivery()) == ["STEPPED_IN"]


@each_decision
def test_the_named_reviewer_and_the_members_of_the_named_group_do_not_step_in(decision: Decide) -> None:
    named = a_delivered_task(reviewer_id=REVIEWER, reviewer_group_id=GROUP)
    member = by(
        REVIEWER, Right.REVIEWER, seen=a_delivered_task(reviewer_group_id=GROUP), groups=frozenset({GROUP})
    )
    for seen in (named, member):
        assert isinstance(decision(seen, a_delivery(), a_judgement()), Change)
        assert decide.marks(seen, a_delivery()) == []


def test_accepting_commits_with_the_delivered_attempts_fence() -> None:
    made = change(accept(a_delivered_task(), a_delivery(), a_judgement()))
    assert (made.target, made.ends) == (State.DONE, AttemptOutcome.COMMITTED)
    assert made.columns == {"delivery_id": None, "result_commit_id": COMMIT}


@pytest.mark.parametrize(
    ("moved", "expected"),
    [
        ({"claim_generation": 99}, Why.FENCED),
        ({"scheduler_epoch": EPOCH - 1}, Why.FENCED),
        ({"attempt_id": COMMIT}, Why.FENCED),
        ({"agent_id": 99}, Why.FENCED),
        ({"cancel_generation": 99}, Why.CANCELLED),
        ({"input_digest": OTHER_DIGEST}, Why.STALE_INPUT),
    ],
)
def test_accepting_compares_every_field_of_the_delivered_fence(moved: dict[str, Any], expected: Why) -> None:
    assert why(accept(a_delivered_task(), a_delivery(**moved), a_judgement())) is expected


def test_a_delivery_of_an_old_epoch_can_be_sent_back_or_rejected_but_not_accepted() -> None:
    seen = below_epoch(a_delivered_task())
    assert why(accept(seen, a_delivery(), a_judgement())) is Why.FENCED
    assert isinstance(decide.request_changes(seen, a_delivery(), a_judgement(Verdict.NOT_MET)), Change)
    assert isinstance(decide.reject(seen, a_delivery(), a_judgement()), Change)


@each_decision
def test_a_delivery_that_was_closed_undecided_is_answered_as_its_fence_is(decision: Decide) -> None:
    closed, said = a_delivery(state=DeliveryState.CLOSED), a_judgement(Verdict.NOT_MET)
    cancelled = a_delivered_task(state=State.CANCELLED, delivery_id=None)
    superseded = a_delivered_task(state=State.SUPERSEDED, delivery_id=None)
    taken = a_delivered_task(claim_generation=GENERATION + 1, delivery_id=None)
    assert why(decision(cancelled, closed, said)) is Why.CANCELLED
    assert why(decision(superseded, closed, said)) is Why.STALE_INPUT
    assert why(decision(taken, closed, said)) is Why.FENCED


@pytest.mark.parametrize("decision", [decide.request_changes, decide.reject])
def test_a_delivery_that_the_task_no_longer_carries_cannot_be_sent_back(decision: Decide) -> None:
    elsewhere = replace(a_claimed_task(), person=a_delivered_task().person)
    assert why(decision(elsewhere, a_delivery(), a_judgement())) is Why.STALE_DELIVERY


@pytest.mark.parametrize("verdict", [Verdict.NOT_MET, Verdict.CANNOT_TELL])
def test_accepting_needs_every_criterion_met(verdict: Verdict) -> None:
    one = {1: decide.VerdictGiven(Verdict.MET), 2: decide.VerdictGiven(verdict, "no")}
    answer = accept(a_delivered_task(), a_delivery(), a_judgement(verdicts=one))
    assert why(answer) is Why.CRITERIA_UNMET
    assert isinstance(answer, Refused)
    assert answer.reasons == ("criterion 2",)


def test_accepting_needs_a_verdict_on_every_criterion() -> None:
    answer = accept(a_delivered_task(), a_delivery(), a_judgement(verdicts={}))
    assert why(answer) is Why.CRITERIA_UNMET
    assert isinstance(answer, Refused)
    assert "1, 2 still open" in answer.sentence


def test_the_fence_answers_before_unmet_criteria() -> None:
    assert why(accept(below_epoch(a_delivered_task()), a_delivery(), a_judgement(verdicts={}))) is Why.FENCED


def test_accepting_an_excluded_file_needs_a_reason_and_is_marked_for_ever() -> None:
    delivery = a_delivery(excluded_files=("secret/key.html",))
    answer = accept(a_delivered_task(), delivery, a_judgement())
    assert why(answer) is Why.SCOPE_VIOLATION
    assert isinstance(answer, Refused)
    assert answer.reasons == ("secret/key.html",)
    assert isinstance(
        accept(a_delivered_task(), delivery, a_judgement(reason="agreed with security")), Change
    )
    assert decide.marks(a_delivered_task(), delivery) == ["SCOPE_VIOLATION"]


def test_unmet_criteria_answer_before_a_scope_violation() -> None:
    delivery = a_delivery(excluded_files=("secret/key.html",))
    assert why(accept(a_delivered_task(), delivery, a_judgement(verdicts={}))) is Why.CRITERIA_UNMET


def test_requested_changes_go_to_the_same_runner_and_are_not_counted() -> None:
    used_up = a_delivered_task(attempts_used=3)
    made = change(decide.request_changes(used_up, a_delivery(), a_judgement(Verdict.NOT_MET)))
    assert made.target is State.CLAIMED
    assert made.grant is not None
    assert made.grant.agent.id == AGENT
    assert made.grant.is_counted is False


CANNOT_TAKE_IT = [
    pytest.param(with_agent(a_delivered_task(), is_disabled=True), id="disabled"),
    pytest.param(with_agent(a_delivered_task(), works_here=False), id="left-the-pool"),
    pytest.param(a_delivered_task(access=("browser",)), id="lacks-a-label"),
    pytest.param(with_pool(a_delivered_task(), gate=Gate.DRAINING), id="draining"),
    pytest.param(replace(a_delivered_task(), agent=None), id="gone"),
]


@pytest.mark.parametrize("seen", CANNOT_TAKE_IT)
def test_requested_changes_open_the_task_for_its_runner_when_that_cannot_take_it(seen: TaskAsRead) -> None:
    made = change(decide.request_changes(seen, a_delivery(), a_judgement(Verdict.NOT_MET)))
    assert (made.target, made.grant) == (State.OPEN, None)
    assert made.columns == {"delivery_id": None, "preferred_runner_id": AGENT}


def test_requested_changes_that_nobody_can_take_are_held_once_the_attempts_are_used_up() -> None:
    seen = with_pool(a_delivered_task(attempts_used=3), gate=Gate.DRAINING)
    made = change(decide.request_changes(seen, a_delivery(), a_judgement(Verdict.NOT_MET)))
    assert made.target is State.HELD
    assert "3 of 3 attempts are used up" in made.reason


def test_sending_back_must_say_what_to_change() -> None:
    silent = a_judgement(note=" ")
    assert why(decide.request_changes(a_delivered_task(), a_delivery(), silent)) is Why.UNPROCESSABLE
    assert why(decide.reject(a_delivered_task(), a_delivery(), silent)) is Why.UNPROCESSABLE


def test_a_rejected_delivery_opens_the_task() -> None:
    made = change(decide.reject(a_delivered_task(), a_delivery(), a_judgement()))
    assert (made.target, made.ends) == (State.OPEN, AttemptOutcome.DELIVERED)


def test_a_rejected_delivery_holds_the_task_once_the_attempts_are_used_up() -> None:
    made = change(decide.reject(a_delivered_task(attempts_used=3), a_delivery(), a_judgement()))
    assert made.target is State.HELD
    assert "An operator can requeue it." in made.reason
