"""Scheduling attributes may change; nothing that enters the digest, and nothing that is final."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from claims import decide
from claims.decide import Change
from claims.decide.rows import PersonRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.rights import expand
from claims.vocabulary import Right, State
from tests.support.rows import (
    VERSION,
    a_claimed_task,
    a_delivered_task,
    a_done_task,
    a_held_task,
    an_open_task,
)


def adjust(
    seen: TaskAsRead, version: int | None = None, *rights: Right, **attributes: Any
) -> Change | Refused:
    person = PersonRow(51, expand(rights or [Right.PREPARER]))
    return decide.adjust(replace(seen, person=person), attributes, version)


def why(answer: Change | Refused) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


@pytest.mark.parametrize("seen", [an_open_task(), a_claimed_task(), a_delivered_task(), a_held_task()])
def test_an_adjustment_leaves_the_state_its_reason_and_every_authority_alone(seen: TaskAsRead) -> None:
    made = adjust(seen, priority=0)
    assert isinstance(made, Change)
    assert (made.target, made.reason) == (seen.task.state, seen.task.reason)
    assert (made.ends, made.grant, made.expiry) == (None, None, None)
    assert made.columns == {"priority": 0}
    assert made.body == {"changed": {"priority": [2, 0]}}


def test_what_is_already_so_is_no_change() -> None:
    made = adjust(an_open_task(), priority=2, title="Empty state")
    assert isinstance(made, Change)
    assert made.columns == {}


@pytest.mark.parametrize("state", [State.DONE, State.CANCELLED, State.SUPERSEDED])
def test_nothing_about_a_final_task_can_be_adjusted(state: State) -> None:
    assert why(adjust(a_done_task(state=state), priority=0)) is Why.STALE_STATE


def test_an_adjustment_of_another_version_is_stale() -> None:
    assert why(adjust(an_open_task(), VERSION + 1, priority=0)) is Why.STALE_STATE
    assert isinstance(adjust(an_open_task(), VERSION, priority=0), Change)


def test_preparers_and_operators_adjust_and_others_do_not() -> None:
    assert isinstance(adjust(an_open_task(), None, Right.OPERATOR, priority=0), Change)
    assert why(adjust(an_open_task(), None, Right.REVIEWER, priority=0)) is Why.FORBIDDEN
    stranger = replace(an_open_task(), person=PersonRow(51))
    assert why(decide.adjust(stranger, {"priority": 0}, None)) is Why.NOT_FOUND


def test_the_limit_of_attempts_cannot_fall_below_those_made() -> None:
    assert why(adjust(a_claimed_task(attempts_used=2), max_attempts=1)) is Why.UNPROCESSABLE
    assert isinstance(adjust(a_claimed_task(attempts_used=2), max_attempts=2), Change)


def test_an_open_task_keeps_an_attempt_to_be_claimed_with() -> None:
    assert why(adjust(an_open_task(attempts_used=2), max_attempts=2)) is Why.UNPROCESSABLE
    assert why(adjust(an_open_task(attempts_used=0), max_attempts=0)) is Why.UNPROCESSABLE


@pytest.mark.parametrize("name", ["input_digest", "claim_generation", "state", "access", "nonsense"])
def test_what_is_no_scheduling_attribute_cannot_be_adjusted(name: str) -> None:
    assert why(adjust(an_open_task(), **{name: 1})) is Why.MALFORMED
