"""Handing a delivery on: only what is one's own, to somebody who may decide it, with a reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from claims import decide
from claims.decide import Change
from claims.decide.rows import DeliveryRow, PersonRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.rights import expand
from claims.vocabulary import DeliveryState, Right, Verb
from tests.support.rows import OTHER_DIGEST, OTHER_REVIEWER, OWNER, REVIEWER, a_delivered_task, a_delivery

COLLEAGUE = PersonRow(OTHER_REVIEWER, expand([Right.REVIEWER]))


def named(person_id: int = REVIEWER, *rights: Right, **standing: Any) -> TaskAsRead:
    """A delivered task whose named reviewer is the usual one, read by ``person_id``."""
    person = PersonRow(person_id, expand(rights or [Right.REVIEWER]), **standing)
    return replace(a_delivered_task(reviewer_id=REVIEWER), person=person)


def hand_on(
    seen: TaskAsRead, delivery: DeliveryRow | None = None, to: PersonRow = COLLEAGUE, **posted: str
) -> Change | Refused:
    one = delivery or a_delivery()
    said = {"subject": one.subject_digest, "reason": "I am away tomorrow", **posted}
    return decide.hand_on(seen, one, said["subject"], to, "maya", said["reason"])


def why(answer: Change | Refused) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


def test_the_named_reviewer_hands_on_and_history_says_to_whom_and_why() -> None:
    made = hand_on(named())
    assert isinstance(made, Change)
    assert (made.verb, made.target, made.ends, made.grant) == (Verb.ADJUST, named().task.state, None, None)
    assert made.columns == {"reviewer_id": OTHER_REVIEWER}
    assert made.body["changed"] == {"reviewer_id": [REVIEWER, OTHER_REVIEWER]}
    assert (made.body["handedOn"]["to"], made.body["reason"]) == ("maya", "I am away tomorrow")


def test_what_waits_for_another_is_not_ones_own_to_hand_on() -> None:
    assert why(hand_on(named(77))) is Why.NOT_REVIEWER


def test_a_deputy_hands_on_what_is_theirs_for_today() -> None:
    assert isinstance(hand_on(named(77, deputy_for=frozenset({REVIEWER}))), Change)


def test_a_member_of_the_group_hands_on_and_so_does_anyone_where_nobody_is_named() -> None:
    person = PersonRow(77, expand([Right.REVIEWER]), frozenset({3}))
    grouped = replace(a_delivered_task(reviewer_group_id=3), person=person)
    assert isinstance(hand_on(grouped), Change)
    assert isinstance(hand_on(replace(a_delivered_task(), person=person)), Change)


def test_a_maker_who_is_named_may_hand_on_what_they_cannot_decide() -> None:
    made = a_delivery(makers=frozenset({REVIEWER}))
    assert isinstance(hand_on(named(), made), Change)


@pytest.mark.parametrize(
    ("to", "words"),
    [
        (PersonRow(OTHER_REVIEWER, expand([Right.OPERATOR])), "may not review"),
        (PersonRow(OTHER_REVIEWER), "may not review"),
        (PersonRow(OWNER, expand([Right.ADMIN])), "maker is not checker"),
        (PersonRow(REVIEWER, expand([Right.REVIEWER])), "already"),
    ],
)
def test_only_another_reviewer_who_did_not_make_it_may_be_chosen(to: PersonRow, words: str) -> None:
    answer = hand_on(named(), to=to)
    assert why(answer) is Why.UNPROCESSABLE
    assert isinstance(answer, Refused)
    assert words in answer.sentence


@pytest.mark.parametrize("reason", ["", "  ", "x" * 2_001])
def test_it_needs_a_reason_of_bounded_length(reason: str) -> None:
    assert why(hand_on(named(), reason=reason)) is Why.UNPROCESSABLE


def test_it_is_refused_to_strangers_to_those_who_do_not_review_and_once_decided() -> None:
    assert why(hand_on(replace(named(), person=PersonRow(REVIEWER)))) is Why.NOT_FOUND
    assert why(hand_on(named(REVIEWER, Right.OPERATOR))) is Why.NOT_REVIEWER
    assert why(hand_on(named(), a_delivery(state=DeliveryState.ACCEPTED))) is Why.ALREADY_DECIDED


def test_it_names_the_delivery_that_was_seen() -> None:
    assert why(hand_on(named(), subject=OTHER_DIGEST)) is Why.STALE_DELIVERY
    moved = replace(named(), task=replace(named().task, delivery_id=None))
    assert why(hand_on(moved)) is Why.STALE_DELIVERY
