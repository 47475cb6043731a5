"""A task whose input is no longer current says so before it says that a fence is lost (claim.v1 section 4)."""

from __future__ import annotations

from claims import decide
from claims.outcomes import Refused, Why
from tests.support.rows import AGENT, GENERATION, a_claimed_task, a_fence, a_held_task


def why(answer: decide.Validated | Refused) -> Why:
    assert isinstance(answer, Refused)
    return answer.why


def test_the_fence_of_a_task_held_as_stale_is_answered_with_stale_input() -> None:
    held = a_held_task(is_stale=True, claim_generation=GENERATION + 1)
    assert why(decide.authority(held, a_fence(), AGENT)) is Why.STALE_INPUT


def test_the_fence_of_a_task_held_for_another_reason_is_fenced() -> None:
    held = a_held_task(claim_generation=GENERATION + 1)
    assert why(decide.authority(held, a_fence(), AGENT)) is Why.FENCED


def test_an_empty_input_digest_is_another_one_and_not_none_at_all() -> None:
    assert why(decide.authority(a_claimed_task(), a_fence(), AGENT, "")) is Why.STALE_INPUT
    assert isinstance(decide.authority(a_claimed_task(), a_fence(), AGENT, None), decide.Validated)
