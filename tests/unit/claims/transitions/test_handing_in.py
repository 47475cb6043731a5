"""Evidence and results on their way in: what was uploaded, what is missing, what came too late."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from uuid import uuid4

import pytest

from claims import evidence, transitions
from claims.canonical import Item
from claims.evidence import EvidenceMismatch
from claims.fences import Fence
from claims.models import Attempt, CanonicalCommit, Delivery, EvidenceFile, StagedResult
from claims.outcomes import Committed, Delivered, FileKept, Granted, Refused, Staged, Why
from claims.transitions import Account
from claims.transitions import StagedResult as NewStaged
from claims.vocabulary import AttemptOutcome, ReviewPolicy, Verdict
from tests.support.records import no_change, task_row, why
from tests.support.world import DIFF, World, a_specification, expire, fence_but, judgement

pytestmark = pytest.mark.django_db


def unreviewed(world: World) -> Granted:
    return world.claimed(review_policy=ReviewPolicy.NONE)


def lost_to_another(world: World) -> Granted:
    """A claim that an operator released and another agent holds now."""
    granted = world.claimed()
    expire(granted.fence.task_id)
    transitions.release_quiet(
        world.person(world.operator), granted.fence.task_id, world.sighting(granted.fence.task_id)
    )
    world.claimed(world.agents[1], granted.fence.task_id)
    return granted


def test_a_repeated_delivery_is_answered_with_the_first_answer_without_a_key(world: World) -> None:
    granted = world.claimed()
    staged = world.staged(granted)
    first = transitions.deliver(world.caller(), granted.fence, granted.input_digest, staged=staged)
    assert isinstance(first, Delivered)
    with no_change(granted.fence.task_id):
        again = transitions.deliver(world.caller(), granted.fence, granted.input_digest, staged=staged)
        by_digest = transitions.deliver(
            world.caller(), granted.fence, granted.input_digest, first.result_digest
        )
    assert again == by_digest == first


def test_a_repeated_delivery_has_its_first_answer_also_after_the_decision(world: World) -> None:
    granted = world.claimed()
    staged = world.staged(granted)
    first = transitions.deliver(world.caller(), granted.fence, granted.input_digest, staged=staged)
    assert isinstance(first, Delivered)
    delivery = Delivery.objects.get(id=first.delivery_id)
    transitions.adjust(world.person(world.preparer), delivery.task_id, {"priority": 0})
    transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    again = transitions.deliver(world.caller(), granted.fence, granted.input_digest, staged=staged)
    assert again == first


def test_another_result_under_a_delivered_fence_is_already_delivered(world: World) -> None:
    granted = world.claimed()
    world.delivered(granted=granted)
    other = NewStaged({"done": "again"}, world_items(granted))
    answer = transitions.deliver(world.caller(), granted.fence, granted.input_digest, staged=other)
    assert why(answer) is Why.ALREADY_DELIVERED


def test_a_delivered_attempt_shown_as_another_tasks_fence_is_no_repeat(world: World) -> None:
    granted, other = world.claimed(), world.claimed(world.agents[1])
    delivery = world.delivered(granted=granted)
    assert other.input_digest == granted.input_digest
    crossed = fence_but(granted.fence, task_id=other.fence.task_id)
    answer = transitions.deliver(world.caller(), crossed, other.input_digest, delivery.result_digest)
    assert why(answer) is Why.FENCED


def test_a_repeated_commit_is_answered_with_the_first_answer_without_a_key(sandbox: World) -> None:
    granted = unreviewed(sandbox)
    staged = sandbox.staged(granted)
    first = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=staged)
    assert isinstance(first, Committed)
    again = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=staged)
    bare = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest)
    assert again == bare == first
    assert CanonicalCommit.objects.filter(task_id=granted.fence.task_id).count() == 1


def test_the_accepted_attempts_own_fence_is_answered_committed(world: World) -> None:
    granted = world.claimed()
    delivery = world.delivered(granted=granted)
    accepted = transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    answer = transitions.commit(world.caller(), granted.fence, granted.input_digest, delivery.result_digest)
    assert answer == accepted


def test_another_result_after_the_commit_is_already_committed(sandbox: World) -> None:
    granted = unreviewed(sandbox)
    staged = sandbox.staged(granted)
    transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=staged)
    other = NewStaged({"done": "otherwise"}, staged.evidence)
    answer = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=other)
    assert why(answer) is Why.ALREADY_COMMITTED


def test_another_agent_does_not_hear_of_the_commit_through_a_fence_it_found(sandbox: World) -> None:
    granted = unreviewed(sandbox)
    transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, staged=sandbox.staged(granted))
    answer = transitions.commit(sandbox.caller(sandbox.agents[1]), granted.fence, granted.input_digest)
    assert why(answer) is Why.FENCED


def test_a_task_under_review_is_not_committed_by_its_runner(world: World) -> None:
    granted = world.claimed()
    staged = world.staged(granted)
    with no_change(granted.fence.task_id):
        answer = transitions.commit(world.caller(), granted.fence, granted.input_digest, staged=staged)
    assert why(answer) is Why.REVIEW_REQUIRED


def test_an_unreviewed_task_that_was_delivered_all_the_same_waits_for_its_decision(sandbox: World) -> None:
    granted = unreviewed(sandbox)
    delivery = sandbox.delivered(granted=granted)
    answer = transitions.commit(sandbox.caller(), granted.fence, granted.input_digest, delivery.result_digest)
    assert why(answer) is Why.ALREADY_DELIVERED


def test_thin_evidence_lists_each_missing_item_and_changes_nothing(world: World) -> None:
    asked = [{"kind": "diff"}, {"kind": "screenshot", "name": "billing", "widths": [390, 1280]}]
    granted = world.claimed(input=a_specification(evidence=asked))
    with no_change(granted.fence.task_id):
        answer = transitions.deliver(
            world.caller(), granted.fence, granted.input_digest, staged=NewStaged({}, [])
        )
    assert isinstance(answer, Refused)
    assert answer.why is Why.THIN_EVIDENCE
    assert answer.reasons == ("evidence of kind diff", "screenshot billing-390", "screenshot billing-1280")
    assert not StagedResult.objects.filter(attempt_id=granted.fence.attempt_id).exists()


def test_evidence_that_was_not_uploaded_by_this_attempt_is_malformed(world: World) -> None:
    first = world.claimed()
    theirs = world.staged(first)
    granted = world.claimed(world.agents[1])
    caller = world.caller(world.agents[1])
    for answer in (
        transitions.stage(caller, granted.fence, theirs),
        transitions.deliver(caller, granted.fence, granted.input_digest, staged=theirs),
    ):
        assert isinstance(answer, Refused)
        assert (answer.why, answer.reasons) == (Why.MALFORMED, ("diff",))


def test_evidence_of_another_size_than_its_bytes_is_malformed(world: World) -> None:
    granted = world.claimed()
    staged = world.staged(granted)
    longer = NewStaged(staged.result, [replace(staged.evidence[0], size=staged.evidence[0].size + 1)])
    assert why(transitions.stage(world.caller(), granted.fence, longer)) is Why.MALFORMED


def test_bytes_are_kept_only_under_their_own_digest() -> None:
    with pytest.raises(EvidenceMismatch):
        evidence.keep([b"other"], hashlib.sha256(b"these").hexdigest(), 100)
    with pytest.raises(EvidenceMismatch):
        evidence.keep([b"too many"], hashlib.sha256(b"too many").hexdigest(), 3)


def test_a_result_digest_is_recomputed_and_compared(world: World) -> None:
    granted = world.claimed()
    staged, wrong = world.staged(granted), f"sha256:{'0' * 64}"
    for answer in (
        transitions.stage(world.caller(), granted.fence, staged, wrong),
        transitions.deliver(world.caller(), granted.fence, granted.input_digest, wrong, staged=staged),
    ):
        assert isinstance(answer, Refused)
        assert answer.why is Why.MALFORMED
        assert staged.digest in answer.sentence


def test_a_result_that_was_never_staged_cannot_be_delivered(world: World) -> None:
    granted = world.claimed()
    for digest in (None, f"sha256:{'0' * 64}"):
        answer = transitions.deliver(world.caller(), granted.fence, granted.input_digest, digest)
        assert why(answer) is Why.NOT_STAGED


def test_a_result_that_another_attempt_staged_cannot_be_delivered(world: World) -> None:
    digest = world.stage(world.claimed())
    granted = world.claimed(world.agents[1])
    answer = transitions.deliver(world.caller(world.agents[1]), granted.fence, granted.input_digest, digest)
    assert why(answer) is Why.NOT_STAGED


def test_a_staged_result_is_delivered_by_its_digest_or_as_the_last_one(world: World) -> None:
    granted = world.claimed()
    digest = world.stage(granted)
    answer = transitions.deliver(world.caller(), granted.fence, granted.input_digest)
    assert isinstance(answer, Delivered)
    assert answer.result_digest == digest


def test_another_input_digest_is_stale_input(world: World) -> None:
    granted = world.claimed()
    answer = transitions.deliver(
        world.caller(), granted.fence, f"sha256:{'0' * 64}", staged=world.staged(granted)
    )
    assert why(answer) is Why.STALE_INPUT


def test_what_a_lost_fence_stages_is_kept_apart_and_never_delivered(world: World) -> None:
    lost = lost_to_another(world)
    staged = world.staged(lost)
    with no_change(lost.fence.task_id):
        answer = transitions.stage(world.caller(), lost.fence, staged)
    assert answer == Staged(staged.digest, late=True)
    assert EvidenceFile.objects.get(attempt_id=lost.fence.attempt_id).late
    assert StagedResult.objects.get(attempt_id=lost.fence.attempt_id).late
    answered = transitions.deliver(world.caller(), lost.fence, lost.input_digest, staged.digest)
    assert why(answered) is Why.FENCED


def test_what_a_live_fence_stages_is_not_late(world: World) -> None:
    granted = world.claimed()
    expire(granted.fence.task_id)
    staged = world.staged(granted)
    assert transitions.stage(world.caller(), granted.fence, staged) == Staged(staged.digest, late=False)


def test_a_fence_that_was_never_granted_stages_nothing(world: World) -> None:
    granted = world.claimed()
    staged = world.staged(granted)
    for wrong, expected in (
        ({"claim_generation": granted.fence.claim_generation + 1}, Why.FENCED),
        ({"scheduler_epoch": granted.fence.scheduler_epoch + 1}, Why.FENCED),
        ({"cancel_generation": 1}, Why.CANCELLED),
        ({"attempt_id": uuid4()}, Why.NOT_FOUND),
    ):
        fence = fence_but(granted.fence, **wrong)
        assert why(transitions.stage(world.caller(), fence, staged)) is expected
    assert not StagedResult.objects.filter(task_id=granted.fence.task_id).exists()


def test_nobody_stages_into_the_attempt_of_another(world: World) -> None:
    granted = world.claimed()
    world.staged(granted)
    other = world.caller(world.agents[1])
    sha256 = hashlib.sha256(DIFF).hexdigest()
    assert why(transitions.add_file(other, granted.fence, sha256, len(DIFF), "text/x-diff")) is Why.NOT_FOUND
    assert why(transitions.stage(other, granted.fence, NewStaged({}, []))) is Why.NOT_FOUND


def test_the_same_bytes_are_kept_once(world: World) -> None:
    granted = world.claimed()
    sha256 = world.staged(granted).evidence[0].sha256
    answer = transitions.add_file(world.caller(), granted.fence, sha256, len(DIFF), "text/x-diff")
    assert answer == FileKept(sha256, len(DIFF), is_new=False)


def test_nothing_is_staged_into_a_delivery_that_waits(world: World) -> None:
    granted = world.claimed()
    world.delivered(granted=granted)
    answer = transitions.stage(world.caller(), granted.fence, NewStaged({}, []))
    assert why(answer) is Why.ALREADY_DELIVERED


def test_a_round_that_was_sent_back_is_delivered_again_as_the_next_round(world: World) -> None:
    first = world.delivered()
    sent_back = transitions.request_changes(
        world.person(world.reviewer), first.id, judgement(first, Verdict.NOT_MET, "say it louder")
    )
    task = task_row(first.task_id)
    fence = fence_but(fence_of(first), attempt_id=task.attempt_id, claim_generation=task.claim_generation)
    assert task.attempt_id == getattr(sent_back, "next_attempt_id", None)
    assert task.attempts_used == 1
    granted = Granted(fence, str(task.input_digest), task.state_version, task.state_since, task.state_since)
    second = world.delivered(granted=granted, content=DIFF + b" ")
    assert (first.round, second.round) == (1, 2)
    assert second.subject_digest != first.subject_digest


def test_what_the_agent_says_is_kept_as_its_word(world: World) -> None:
    granted = world.claimed()
    account = Account("Done as asked", "Check the sentence", {"1": "it says so"})
    answer = transitions.deliver(
        world.caller(), granted.fence, granted.input_digest, account=account, staged=world.staged(granted)
    )
    assert isinstance(answer, Delivered)
    delivery = Delivery.objects.get(id=answer.delivery_id)
    assert (delivery.summary, delivery.needs, delivery.claims) == (
        account.summary,
        account.needs,
        {"1": "it says so"},
    )


def test_the_attempt_of_an_accepted_delivery_ends_as_committed(world: World) -> None:
    delivery = world.delivered()
    assert Attempt.objects.get(id=delivery.attempt_id).outcome == AttemptOutcome.DELIVERED
    transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert Attempt.objects.get(id=delivery.attempt_id).outcome == AttemptOutcome.COMMITTED


def fence_of(delivery: Delivery) -> Fence:
    return Fence(
        delivery.task_id,
        delivery.attempt_id,
        delivery.scheduler_epoch,
        delivery.claim_generation,
        delivery.cancel_generation,
    )


def world_items(granted: Granted) -> list[Item]:
    """The evidence that the attempt uploaded, as a manifest."""
    files = EvidenceFile.objects.filter(attempt_id=granted.fence.attempt_id)
    return [Item("diff", "diff", file.sha256, file.size, file.media_type, (1,), {}) for file in files]
