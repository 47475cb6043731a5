"""A commit in one round trip compares the attempt, too, where nothing was staged before."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from claims import transitions
from claims.outcomes import Committed, Granted, Why
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy
from tests.support.records import no_change, why
from tests.support.world import World, a_specification

pytestmark = pytest.mark.django_db

NOTHING = StagedResult({"done": True}, [])


def plain(sandbox: World) -> Granted:
    return sandbox.claimed(review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))


def test_nothing_is_committed_under_the_fence_of_another_live_attempt(sandbox: World) -> None:
    granted, elsewhere = plain(sandbox), plain(sandbox)
    other = replace(granted.fence, attempt_id=elsewhere.fence.attempt_id)
    with no_change(granted.fence.task_id), no_change(elsewhere.fence.task_id):
        answer = transitions.commit(sandbox.caller(), other, granted.input_digest, staged=NOTHING)
        assert why(answer) is Why.FENCED


def test_nothing_is_committed_under_the_fence_of_an_attempt_that_never_was(sandbox: World) -> None:
    granted = plain(sandbox)
    other = replace(granted.fence, attempt_id=uuid4())
    with no_change(granted.fence.task_id):
        answer = transitions.commit(sandbox.caller(), other, granted.input_digest, staged=NOTHING)
        assert why(answer) is Why.FENCED


@pytest.mark.parametrize("names_the_new_one", [False, True], ids=["its own", "the new one"])
def test_nothing_is_committed_by_an_attempt_of_an_ended_epoch_whichever_it_names(
    sandbox: World, names_the_new_one: bool
) -> None:
    granted, raised = plain(sandbox), sandbox.raise_epoch()
    other = replace(granted.fence, scheduler_epoch=raised) if names_the_new_one else granted.fence
    with no_change(granted.fence.task_id):
        answer = transitions.commit(sandbox.caller(), other, granted.input_digest, staged=NOTHING)
        assert why(answer) is Why.FENCED


@pytest.mark.parametrize("result", [{"done": True}, {"done": "again"}], ids=["the same", "another one"])
def test_who_has_staged_before_commits_what_it_hands_in(sandbox: World, result: object) -> None:
    granted = plain(sandbox)
    transitions.stage(sandbox.caller(), granted.fence, NOTHING)
    handed_in = StagedResult(result, [])
    answer = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=handed_in)
    assert isinstance(answer, Committed), answer
    assert answer.result_digest == handed_in.digest
