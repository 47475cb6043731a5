"""Cancellations and revisions: what they end, what they carry on, and what they leave alone."""

from __future__ import annotations

from uuid import UUID

import pytest

from claims import transitions
from claims.models import Delivery, Task
from claims.outcomes import Cancelled, Refused, Revised, Why
from claims.vocabulary import DeliveryState, ReviewPolicy, State
from tests.support.invariants import check
from tests.support.records import task_row, verbs_of
from tests.support.walks_of_graphs import NOT_FINAL, finish, in_state, revised
from tests.support.world import World, a_specification, judgement

pytestmark = pytest.mark.django_db


def cancel(world: World, task_id: UUID, reason: str = "not wanted") -> Cancelled | Refused:
    return transitions.cancel(world.person(world.preparer), task_id, reason)


def revise(world: World, task_id: UUID, version: int | None = None, **changes: object) -> Revised | Refused:
    seen = version or task_row(task_id).state_version
    return transitions.revise(world.person(world.preparer), task_id, seen, a_specification(**changes))


def why(answer: object) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


@pytest.mark.parametrize("state", NOT_FINAL)
def test_a_task_is_cancelled_wherever_it_is(world: World, state: State) -> None:
    task_id = in_state(world, state)
    answer = cancel(world, task_id)
    assert isinstance(answer, Cancelled)
    row = task_row(task_id)
    assert (row.state, row.cancel_generation, answer.cancel_generation) == (State.CANCELLED, 1, 1)
    check(task_id)


def test_a_second_cancel_answers_the_first_and_raises_nothing(world: World) -> None:
    task_id = world.task()
    first = cancel(world, task_id)
    assert cancel(world, task_id) == first
    assert verbs_of(task_id) == ["create", "cancel"]


def test_a_cancel_after_the_commit_is_too_late_and_changes_nothing(world: World) -> None:
    task_id = world.task()
    finish(world, task_id)
    before = task_row(task_id)
    assert why(cancel(world, task_id)) is Why.TOO_LATE
    after = task_row(task_id)
    assert (after.cancel_generation, after.state_version) == (0, before.state_version)


def test_a_cancel_of_a_superseded_row_names_the_newest_revision(world: World) -> None:
    task_id = world.task()
    newest = task_row(revised(world, task_id))
    answer = cancel(world, task_id)
    assert why(answer) is Why.STALE_STATE
    assert isinstance(answer, Refused)
    assert f"T-{newest.number}" in answer.sentence


def test_nothing_of_a_cancelled_task_is_accepted(world: World) -> None:
    granted = world.claimed(review_policy=ReviewPolicy.REVIEW)
    cancel(world, granted.fence.task_id)
    caller = world.caller()
    for answer in (
        transitions.renew(caller, granted.fence, 60),
        transitions.progress(caller, granted.fence, "still here"),
        transitions.release(caller, granted.fence, "late"),
        transitions.fail(caller, granted.fence, "late", True),
        transitions.deliver(caller, granted.fence, granted.input_digest, staged=world.staged(granted)),
    ):
        assert why(answer) is Why.CANCELLED


def test_a_cancelled_delivery_cannot_be_accepted(world: World) -> None:
    delivery = world.delivered()
    cancel(world, delivery.task_id)
    assert Delivery.objects.get(id=delivery.id).state == DeliveryState.CLOSED
    answer = transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert why(answer) is Why.CANCELLED


def test_cancelling_needs_a_reason_and_the_right(world: World) -> None:
    task_id = world.task()
    assert why(cancel(world, task_id, "  ")) is Why.UNPROCESSABLE
    assert why(transitions.cancel(world.person(world.reviewer), task_id, "no")) is Why.FORBIDDEN
    assert isinstance(transitions.cancel(world.person(world.operator), task_id, "no"), Cancelled)


@pytest.mark.parametrize("state", [*NOT_FINAL, State.CANCELLED])
def test_a_revision_supersedes_the_row_and_carries_its_numbers_on(world: World, state: State) -> None:
    task_id = in_state(world, state)
    before = task_row(task_id)
    answer = revise(world, task_id, task="Say it louder")
    assert isinstance(answer, Revised)
    old, new = task_row(task_id), task_row(answer.task.task_id)
    assert old.state == State.SUPERSEDED
    assert (new.lineage_id, new.revision, answer.revision) == (before.lineage_id, 2, 2)
    assert (new.claim_generation, new.cancel_generation) == (old.claim_generation, before.cancel_generation)
    assert (old.input_digest, old.id) == (before.input_digest, before.id)
    assert new.number != old.number
    check(old.id)
    check(new.id)


def test_revising_a_done_task_leaves_it_done(world: World) -> None:
    task_id = world.task()
    finish(world, task_id)
    newer = revised(world, task_id, task="Say it louder")
    assert task_row(task_id).state == State.DONE
    finish(world, newer)
    assert task_row(newer).state == State.DONE
    check(task_id)


def test_the_fence_of_an_earlier_revision_is_stale(world: World) -> None:
    granted = world.claimed()
    revised(world, granted.fence.task_id)
    answer = transitions.deliver(
        world.caller(), granted.fence, granted.input_digest, staged=world.staged(granted)
    )
    assert why(answer) is Why.STALE_INPUT


def test_only_the_newest_revision_is_revised_and_only_as_it_was_seen(world: World) -> None:
    task_id = world.task()
    assert why(revise(world, task_id, 7)) is Why.STALE_STATE
    newer = revised(world, task_id)
    answer = revise(world, task_id)
    assert why(answer) is Why.STALE_STATE
    assert isinstance(answer, Refused)
    assert answer.extra["newest"] == str(newer)


def test_a_revision_that_is_no_input_is_refused_and_supersedes_nothing(world: World) -> None:
    task_id = world.task()
    answer = transitions.revise(world.person(world.preparer), task_id, 1, {"task": "", "nonsense": 1})
    assert why(answer) is Why.MALFORMED
    assert task_row(task_id).state == State.OPEN
    assert Task.objects.filter(pool=world.pool).count() == 1


def test_revising_needs_the_right_of_a_preparer(world: World) -> None:
    task_id = world.task()
    answer = transitions.revise(world.person(world.reviewer), task_id, 1, a_specification())
    assert why(answer) is Why.FORBIDDEN


def test_a_revision_keeps_the_scheduling_attributes_and_starts_its_attempts_anew(world: World) -> None:
    task_id = world.task(priority=0, max_attempts=7)
    world.claimed(task_id=task_id)
    new = task_row(revised(world, task_id))
    assert (new.priority, new.max_attempts, new.attempts_used) == (0, 7, 0)
