"""A fence is compared field by field, and the first check that fails answers (claim.v1 section 4)."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from claims import decide
from claims.fences import Fence
from claims.outcomes import Refused, Why
from claims.vocabulary import State
from tests.support.rows import (
    AGENT,
    ATTEMPT,
    CANCELS,
    COMMIT,
    DELIVERY,
    EPOCH,
    GENERATION,
    INPUT,
    OTHER_AGENT,
    OTHER_DIGEST,
    TASK,
    a_claimed_task,
    a_delivered_task,
    a_fence,
    a_handover,
    an_open_task,
    below_epoch,
)


def lost(refused: decide.Validated | Refused) -> object:
    assert isinstance(refused, Refused)
    assert refused.why is Why.FENCED
    return refused.extra["lost"]


def test_the_fence_of_the_attempt_that_holds_the_task_has_authority() -> None:
    compared = decide.Validated(EPOCH, GENERATION, CANCELS)
    assert decide.authority(a_claimed_task(), a_fence(), AGENT) == compared
    assert decide.authority(a_delivered_task(), a_fence(), AGENT, INPUT) == compared


def test_a_fence_from_an_earlier_scheduler_epoch_is_fenced() -> None:
    refused = decide.authority(a_claimed_task(), a_fence(scheduler_epoch=EPOCH - 1), AGENT)
    assert lost(refused) == ["schedulerEpoch"]


def test_a_fence_from_a_later_scheduler_epoch_is_fenced() -> None:
    refused = decide.authority(a_claimed_task(), a_fence(scheduler_epoch=EPOCH + 1), AGENT)
    assert lost(refused) == ["schedulerEpoch"]


def test_raising_the_epoch_fences_what_was_granted_before() -> None:
    assert lost(decide.authority(below_epoch(a_claimed_task()), a_fence(), AGENT)) == ["schedulerEpoch"]


def test_naming_the_epoch_of_now_gives_an_attempt_of_an_ended_one_no_authority() -> None:
    seen = below_epoch(a_claimed_task())
    refused = decide.authority(seen, a_fence(scheduler_epoch=seen.pool.scheduler_epoch), AGENT)
    assert lost(refused) == ["schedulerEpoch"]
    assert isinstance(refused, Refused)
    assert f"granted under epoch {EPOCH}, which has ended" in refused.detail


def test_a_fence_from_an_earlier_claim_generation_is_fenced() -> None:
    refused = decide.authority(a_claimed_task(), a_fence(claim_generation=GENERATION - 1), AGENT)
    assert lost(refused) == ["claimGeneration"]


def test_a_fence_from_a_later_claim_generation_is_fenced() -> None:
    refused = decide.authority(a_claimed_task(), a_fence(claim_generation=GENERATION + 1), AGENT)
    assert lost(refused) == ["claimGeneration"]


def test_a_fence_of_another_attempt_is_fenced() -> None:
    refused = decide.authority(a_claimed_task(), a_fence(attempt_id=UUID(int=99)), AGENT)
    assert lost(refused) == ["attemptId"]


def test_a_fence_in_the_hands_of_another_runner_is_fenced() -> None:
    assert lost(decide.authority(a_claimed_task(), a_fence(), OTHER_AGENT)) == ["runner"]


def test_a_fence_of_another_cancel_generation_is_answered_with_cancelled() -> None:
    for cancels in (CANCELS - 1, CANCELS + 1):
        refused = decide.authority(a_claimed_task(), a_fence(cancel_generation=cancels), AGENT)
        assert refused is not None
        assert refused.why is Why.CANCELLED


def test_a_fence_of_a_task_that_nobody_holds_is_fenced() -> None:
    assert lost(decide.authority(an_open_task(), a_fence(), AGENT)) == ["attemptId", "runner"]


def test_a_refusal_says_which_epoch_and_generation_are_current() -> None:
    refused = decide.authority(a_claimed_task(), a_fence(claim_generation=GENERATION - 1), AGENT)
    assert refused is not None
    assert refused.current is not None
    assert (refused.current.scheduler_epoch, refused.current.claim_generation) == (EPOCH, GENERATION)
    assert f"generation {GENERATION - 1}" in refused.sentence


def test_cancelled_answers_before_stale_input() -> None:
    cancelled = a_claimed_task(state=State.CANCELLED, attempt_id=None, runner_id=None)
    refused = decide.authority(cancelled, a_fence(), AGENT, OTHER_DIGEST)
    assert refused is not None
    assert refused.why is Why.CANCELLED
    again = decide.authority(a_claimed_task(), a_fence(cancel_generation=CANCELS + 1), AGENT, OTHER_DIGEST)
    assert again is not None
    assert again.why is Why.CANCELLED


def test_stale_input_answers_before_fenced() -> None:
    wrong = a_fence(claim_generation=GENERATION - 1)
    refused = decide.authority(a_claimed_task(), wrong, AGENT, OTHER_DIGEST)
    assert refused is not None
    assert refused.why is Why.STALE_INPUT


def test_a_superseded_task_is_answered_with_stale_input_before_fenced() -> None:
    superseded = a_claimed_task(state=State.SUPERSEDED, attempt_id=None, runner_id=None)
    refused = decide.authority(superseded, a_fence(), AGENT)
    assert refused is not None
    assert refused.why is Why.STALE_INPUT


PERTURBED = [
    pytest.param(a_fence(scheduler_epoch=EPOCH - 1), AGENT, Why.FENCED, id="scheduler-epoch"),
    pytest.param(a_fence(claim_generation=GENERATION - 1), AGENT, Why.FENCED, id="claim-generation"),
    pytest.param(a_fence(attempt_id=UUID(int=99)), AGENT, Why.FENCED, id="attempt"),
    pytest.param(a_fence(), OTHER_AGENT, Why.FENCED, id="runner"),
    pytest.param(a_fence(cancel_generation=CANCELS + 1), AGENT, Why.CANCELLED, id="cancel-generation"),
]


@pytest.mark.parametrize(("fence", "agent_id", "why"), PERTURBED)
def test_every_verb_of_a_runner_compares_every_field_of_the_fence(
    fence: Fence, agent_id: int, why: Why
) -> None:
    seen = a_claimed_task()
    answers = [
        decide.renew(seen, fence, agent_id, 60),
        decide.claimed(seen, fence, agent_id),
        decide.release(seen, fence, agent_id, "done for today"),
        decide.fail(seen, fence, agent_id, "no", True),
        decide.fail(seen, fence, agent_id, "no", False),
        decide.deliver(seen, fence, agent_id, a_handover(), DELIVERY, None),
        decide.commit(seen, fence, agent_id, a_handover(), COMMIT),
    ]
    assert [answer.why for answer in answers if isinstance(answer, Refused)] == [why] * len(answers)


def test_every_verb_but_deliver_and_commit_is_refused_after_the_delivery() -> None:
    seen = a_delivered_task()
    answers = [
        decide.renew(seen, a_fence(), AGENT, 60),
        decide.claimed(seen, a_fence(), AGENT),
        decide.release(seen, a_fence(), AGENT, "done for today"),
        decide.fail(seen, a_fence(), AGENT, "no", True),
        decide.deliver(seen, a_fence(), AGENT, a_handover(result_digest=OTHER_DIGEST), DELIVERY, None),
        decide.commit(seen, a_fence(), AGENT, a_handover(), COMMIT),
    ]
    assert [answer.why for answer in answers if isinstance(answer, Refused)] == [Why.ALREADY_DELIVERED] * len(
        answers
    )


def test_a_fence_reads_back_what_it_wrote() -> None:
    fence = a_fence()
    assert Fence.from_json(fence.as_json()) == fence
    assert fence == Fence(TASK, ATTEMPT, EPOCH, GENERATION, CANCELS)
    assert replace(fence, claim_generation=1) != fence
