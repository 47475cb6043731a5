"""Adoption as a pure decision: in which order it is refused, and how the old attempt ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from claims import decide
from claims.decide import Adoption, Change
from claims.decide.rows import PersonRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.rights import expand
from claims.vocabulary import AttemptOutcome, DeliveryState, Gate, Right, State, Verb
from tests.support.rows import (
    ATTEMPT,
    DELIVERY,
    RESULT,
    a_claimed_task,
    a_delivered_task,
    a_delivery,
    a_held_task,
    a_sighting,
    an_open_task,
    below_epoch,
    with_agent,
    with_pool,
)

OPERATOR = PersonRow(51, expand([Right.OPERATOR]))
STAGED = Adoption(ATTEMPT, RESULT)


def delivered() -> TaskAsRead:
    return replace(a_delivered_task(), person=OPERATOR)


def asked(seen: TaskAsRead, adoption: Adoption | None = STAGED, **sighting: Any) -> Change | Refused:
    return decide.adopt(seen, a_sighting(seen, **sighting), adoption)


def granted(answer: Change | Refused) -> Change:
    assert isinstance(answer, Change), answer
    return answer


@pytest.mark.parametrize(
    "seen", [an_open_task(), a_held_task(), delivered()], ids=["OPEN", "HELD", "DELIVERED"]
)
def test_an_adoption_is_a_counted_grant_that_names_whose_evidence_it_is(seen: TaskAsRead) -> None:
    change = granted(asked(seen))
    assert (change.verb, change.target) == (Verb.ADOPT, State.CLAIMED)
    assert change.grant is not None
    assert (change.grant.adopted_from, change.grant.is_counted) == (ATTEMPT, True)


def test_attempts_that_are_used_up_do_not_stand_in_the_way() -> None:
    granted(asked(a_held_task(attempts_used=3, max_attempts=3)))


@pytest.mark.parametrize(
    ("seen", "ends"),
    [
        (an_open_task(), None),
        (a_held_task(), None),
        (delivered(), AttemptOutcome.SUPERSEDED),
        (below_epoch(delivered()), AttemptOutcome.FENCED),
    ],
    ids=["OPEN", "HELD", "DELIVERED", "DELIVERED below the epoch"],
)
def test_the_old_authority_ends_once_and_by_what_took_it(
    seen: TaskAsRead, ends: AttemptOutcome | None
) -> None:
    assert granted(asked(seen)).ends is ends


def test_a_delivery_that_waited_is_no_longer_the_tasks() -> None:
    assert granted(asked(delivered())).columns["delivery_id"] is None


def test_only_the_waiting_delivery_of_the_current_epoch_is_left_to_its_reviewer() -> None:
    waiting = Adoption(ATTEMPT, RESULT, a_delivery(id=DELIVERY))
    closed = Adoption(ATTEMPT, RESULT, a_delivery(id=DELIVERY, state=DeliveryState.CLOSED))
    refused = asked(delivered(), waiting)
    assert isinstance(refused, Refused)
    assert refused.why is Why.UNPROCESSABLE
    granted(asked(below_epoch(delivered()), waiting))
    granted(asked(an_open_task(), closed))


REFUSALS: list[tuple[str, TaskAsRead, Adoption | None, dict[str, Any], Why]] = [
    ("a stranger", replace(an_open_task(), person=PersonRow(1)), STAGED, {}, Why.NOT_FOUND),
    (
        "a reviewer",
        replace(an_open_task(), person=PersonRow(1, expand([Right.REVIEWER]))),
        STAGED,
        {},
        Why.FORBIDDEN,
    ),
    ("no reason", an_open_task(), STAGED, {"reason": " "}, Why.UNPROCESSABLE),
    ("a closed gate", with_pool(an_open_task(), gate=Gate.DRAINING), STAGED, {}, Why.GATE_CLOSED),
    ("a cancelled task", an_open_task(state=State.CANCELLED), STAGED, {}, Why.CANCELLED),
    ("a task that moved", an_open_task(), STAGED, {"expected_state_version": 1}, Why.STALE_STATE),
    ("a superseded task", an_open_task(state=State.SUPERSEDED), STAGED, {}, Why.STALE_INPUT),
    ("a stale one", a_held_task(is_stale=True), STAGED, {}, Why.STALE_INPUT),
    ("a claimed one", a_claimed_task(), STAGED, {}, Why.NOT_CLAIMABLE),
    ("a blocked one", an_open_task(state=State.BLOCKED), STAGED, {}, Why.NOT_CLAIMABLE),
    ("a done one", an_open_task(state=State.DONE), STAGED, {}, Why.NOT_CLAIMABLE),
    ("another task's evidence", an_open_task(), None, {}, Why.UNPROCESSABLE),
    ("nothing staged", an_open_task(), Adoption(ATTEMPT, None), {}, Why.UNPROCESSABLE),
    ("a stranger to the pool", with_agent(an_open_task(), works_here=False), STAGED, {}, Why.NOT_ELIGIBLE),
    ("a disabled runner", with_agent(an_open_task(), is_disabled=True), STAGED, {}, Why.NOT_ELIGIBLE),
    ("no such runner", replace(an_open_task(), agent=None), STAGED, {}, Why.NOT_ELIGIBLE),
    ("a missing label", an_open_task(access=("gpu",)), STAGED, {}, Why.NOT_ELIGIBLE),
]


@pytest.mark.parametrize(
    ("_", "seen", "adoption", "sighting", "expected"), REFUSALS, ids=[row[0] for row in REFUSALS]
)
def test_each_refusal_has_its_reason(
    _: str, seen: TaskAsRead, adoption: Adoption | None, sighting: dict[str, Any], expected: Why
) -> None:
    answer = asked(seen, adoption, **sighting)
    assert isinstance(answer, Refused)
    assert answer.why is expected


def test_the_first_check_that_fails_answers() -> None:
    seen = replace(
        with_pool(a_held_task(is_stale=True, access=("gpu",)), gate=Gate.DRAINING), person=OPERATOR
    )
    steps = [
        (seen, Why.GATE_CLOSED),
        (with_pool(seen, gate=Gate.OPEN), Why.STALE_STATE),
    ]
    for step, expected in steps:
        answer = asked(step, None, expected_state_version=1)
        assert isinstance(answer, Refused)
        assert answer.why is expected
