"""Evidence that lost its claim goes to a named runner by an operator's decision, and to nobody else."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth import get_user_model

from claims import transitions
from claims.callers import sweep_caller
from claims.canonical import Item
from claims.models import Agent, Attempt, Delivery, EvidenceFile, History, Membership, StagedResult
from claims.models import Task as TaskRow
from claims.outcomes import Delivered, Granted, Left, Refused, Why
from claims.selectors import api as selectors
from claims.selectors.api.grants import adopted_evidence
from claims.vocabulary import AttemptOutcome, DeliveryState, Gate, Right, State
from tests.support.records import no_change, one_change, task_row, why
from tests.support.world import DIFF, World, a_specification, expire, judgement

pytestmark = pytest.mark.django_db


def raised(world: World) -> None:
    answer = transitions.raise_epoch(world.person(world.operator), world.pool.name, world.epoch, "restored")
    assert not isinstance(answer, Refused), answer


def adopted(world: World, task_id: UUID, runner: Agent | None = None, **named: Any) -> Any:
    """Adopt, as an operator who looks at the task right now."""
    who = runner or world.agents[1]
    sighting = world.sighting(task_id, "its work is good")
    return transitions.adopt(world.person(world.operator), task_id, sighting, who.name, **named)


def released_with_evidence(world: World) -> tuple[UUID, UUID]:
    """A task that is OPEN again, and the attempt that staged something for it."""
    granted = world.claimed()
    world.stage(granted)
    left = transitions.release(world.caller(), granted.fence, "night")
    assert isinstance(left, Left)
    return granted.fence.task_id, granted.fence.attempt_id


def handed_in(world: World, granted: Granted, runner: Agent) -> Delivery:
    """Hand in the adopted bytes by name, without uploading them again."""
    sha256 = EvidenceFile.objects.filter(task_id=granted.fence.task_id).values_list("sha256", flat=True)[0]
    items = [Item("diff", "diff", sha256, len(DIFF), "text/x-diff", (1, 2), {})]
    answer = transitions.deliver(
        world.caller(runner),
        granted.fence,
        granted.input_digest,
        staged=transitions.StagedResult({"done": "adopted"}, items),
    )
    assert isinstance(answer, Delivered), answer
    return Delivery.objects.get(id=answer.delivery_id)


def test_a_delivery_of_an_old_epoch_is_adopted_and_closed_undecided(world: World) -> None:
    delivery = world.delivered()
    raised(world)
    with one_change(delivery.task_id, raises=1, to=State.CLAIMED):
        granted = adopted(world, delivery.task_id, delivery_id=delivery.id)
    assert isinstance(granted, Granted)
    assert granted.fence.scheduler_epoch == world.epoch
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.CLOSED
    assert Attempt.objects.get(id=delivery.attempt_id).outcome == AttemptOutcome.FENCED
    assert task_row(delivery.task_id).runner_id == world.agents[1].id
    attempt = Attempt.objects.get(id=granted.fence.attempt_id)
    assert (attempt.adopted_from, attempt.is_counted) == (delivery.attempt_id, True)
    told = History.objects.filter(task_id=delivery.task_id).latest("state_version").body
    assert told["adoptedFrom"] == str(delivery.attempt_id)
    assert told["reason"] == "its work is good"


def test_what_a_late_attempt_staged_is_adopted_for_an_open_task(world: World) -> None:
    granted = world.claimed()
    expire(granted.fence.task_id)
    transitions.release_quiet(
        world.person(world.operator), granted.fence.task_id, world.sighting(granted.fence.task_id)
    )
    world.stage(granted)
    with one_change(granted.fence.task_id, raises=1, to=State.CLAIMED):
        answer = adopted(world, granted.fence.task_id, attempt_id=granted.fence.attempt_id)
    assert isinstance(answer, Granted)


def test_a_held_task_is_adopted_also_when_its_attempts_are_used_up(world: World) -> None:
    granted = world.claimed(max_attempts=1)
    world.stage(granted)
    transitions.release(world.caller(), granted.fence, "night")
    assert task_row(granted.fence.task_id).state == State.HELD
    assert isinstance(adopted(world, granted.fence.task_id, attempt_id=granted.fence.attempt_id), Granted)
    assert task_row(granted.fence.task_id).attempts_used == 2


def test_adopting_another_attempt_closes_the_delivery_that_waited(world: World) -> None:
    task_id, first = released_with_evidence(world)
    delivery = world.delivered(world.agents[1], world.claimed(world.agents[1], task_id))
    assert isinstance(adopted(world, task_id, attempt_id=first), Granted)
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.CLOSED
    assert Attempt.objects.get(id=delivery.attempt_id).outcome == AttemptOutcome.SUPERSEDED


def test_a_delivery_that_can_be_decided_is_not_adopted(world: World) -> None:
    delivery = world.delivered()
    for named in ({"delivery_id": delivery.id}, {"attempt_id": delivery.attempt_id}):
        with no_change(delivery.task_id):
            answer = adopted(world, delivery.task_id, **named)
        assert why(answer) is Why.UNPROCESSABLE
        assert "decision" in answer.sentence


def test_the_grant_tells_what_was_adopted_and_tells_it_again_the_same(world: World) -> None:
    granted = world.claimed()
    first = world.stage(granted)
    transitions.release(world.caller(), granted.fence, "night")
    answer = adopted(world, granted.fence.task_id, attempt_id=granted.fence.attempt_id)
    told = adopted_evidence(answer.fence.attempt_id)
    late = transitions.stage(world.caller(), granted.fence, transitions.StagedResult({"done": "later"}, []))
    assert not isinstance(late, Refused)
    again = selectors.parts_of_grants([answer.fence])[answer.fence.attempt_id].adopted
    assert told is not None
    assert again is not None
    assert told["attemptId"] == again["attemptId"] == granted.fence.attempt_id
    assert told["resultDigest"] == again["resultDigest"] == first


def test_a_grant_of_one_that_adopted_nothing_says_so(world: World) -> None:
    granted = world.claimed()
    assert selectors.parts_of_grants([granted.fence])[granted.fence.attempt_id].adopted is None


def test_adopted_bytes_are_handed_in_by_name_and_are_then_the_new_attempts_own(world: World) -> None:
    granted = world.claimed()
    raised(world)
    world.stage(granted)
    late = EvidenceFile.objects.get(attempt_id=granted.fence.attempt_id)
    assert late.late
    assert isinstance(transitions.lapse(sweep_caller(), granted.fence.task_id), Left)
    answer = adopted(world, granted.fence.task_id, attempt_id=granted.fence.attempt_id)
    handed_in(world, answer, world.agents[1])
    own = EvidenceFile.objects.get(attempt_id=answer.fence.attempt_id)
    assert (own.sha256, own.late) == (late.sha256, False)
    assert own.validated is not None
    assert not StagedResult.objects.get(attempt_id=answer.fence.attempt_id).late


def test_bytes_of_an_attempt_that_was_not_adopted_are_not_the_new_ones(world: World) -> None:
    task_id, _ = released_with_evidence(world)
    sha256 = EvidenceFile.objects.get(task_id=task_id).sha256
    granted = world.claimed(world.agents[1], task_id)
    items = [Item("diff", "diff", sha256, len(DIFF), "text/x-diff", (1, 2), {})]
    answer = transitions.stage(
        world.caller(world.agents[1]), granted.fence, transitions.StagedResult({}, items)
    )
    assert why(answer) is Why.MALFORMED


def test_the_owner_of_adopted_work_is_a_maker_of_what_is_made_of_it(world: World) -> None:
    first_owner, second_owner = world.owner, get_user_model().objects.create_user(f"second-{uuid4().hex[:8]}")
    Membership.objects.create(pool=world.pool, person=first_owner, right=Right.REVIEWER)
    second = world.agent(owner=second_owner)
    task_id, attempt_id = released_with_evidence(world)
    delivery = handed_in(world, adopted(world, task_id, second, attempt_id=attempt_id), second)
    assert delivery.makers == sorted([first_owner.id, second_owner.id])
    answer = transitions.accept(world.person(first_owner), delivery.id, judgement(delivery))
    assert why(answer) is Why.SELF_REVIEW


def test_a_maker_stays_one_through_two_adoptions_and_a_new_owner(world: World) -> None:
    people = [get_user_model().objects.create_user(f"owner-{uuid4().hex[:8]}") for _ in range(3)]
    second, third = world.agent(owner=people[0]), world.agent(owner=people[1])
    task_id, attempt_id = released_with_evidence(world)
    once = adopted(world, task_id, second, attempt_id=attempt_id)
    handed_in(world, once, second)
    raised(world)
    twice = adopted(world, task_id, third, attempt_id=once.fence.attempt_id)
    delivery = handed_in(world, twice, third)
    assert set(delivery.makers) == {world.owner.id, people[0].id, people[1].id}
    Agent.objects.filter(id=world.agents[0].id).update(owner=people[2])
    Membership.objects.create(pool=world.pool, person=people[2], right=Right.REVIEWER)
    answer = transitions.accept(world.person(people[2]), delivery.id, judgement(delivery))
    assert why(answer) is Why.SELF_REVIEW


def test_a_closed_gate_grants_no_adoption(world: World) -> None:
    task_id, attempt_id = released_with_evidence(world)
    transitions.gate(world.person(world.operator), world.pool.name, Gate.DRAINING, "an upgrade")
    with no_change(task_id):
        assert why(adopted(world, task_id, attempt_id=attempt_id)) is Why.GATE_CLOSED


def test_the_named_runner_must_be_able_to_take_it(world: World) -> None:
    granted = world.claimed(world.agent("gpu"), input=a_specification(access=["gpu"]))
    world.stage(granted, world.agents[2])
    transitions.release(world.caller(world.agents[2]), granted.fence, "night")
    task_id, attempt_id = granted.fence.task_id, granted.fence.attempt_id
    disabled = world.agent("gpu")
    Agent.objects.filter(id=disabled.id).update(is_disabled=True)
    elsewhere = Agent.objects.create(name=f"elsewhere-{uuid4().hex[:6]}", owner=world.owner, labels=["gpu"])
    for runner in (world.agents[1], disabled, elsewhere):
        with no_change(task_id):
            assert why(adopted(world, task_id, runner, attempt_id=attempt_id)) is Why.NOT_ELIGIBLE
    assert isinstance(adopted(world, task_id, world.agents[2], attempt_id=attempt_id), Granted)


def test_the_evidence_must_be_of_this_task_and_must_be_there(world: World) -> None:
    task_id, _ = released_with_evidence(world)
    other_task, other_attempt = released_with_evidence(world)
    empty = world.claimed(world.agents[1], task_id)
    transitions.release(world.caller(world.agents[1]), empty.fence, "night")
    for named in (
        {"attempt_id": other_attempt},
        {"attempt_id": uuid4()},
        {"delivery_id": uuid4()},
        {"attempt_id": empty.fence.attempt_id},
    ):
        with no_change(task_id):
            assert why(adopted(world, task_id, **named)) is Why.UNPROCESSABLE
    both = {"attempt_id": other_attempt, "delivery_id": uuid4()}
    assert why(adopted(world, other_task)) is why(adopted(world, other_task, **both)) is Why.MALFORMED


def test_a_task_that_moved_since_it_was_seen_is_not_adopted(world: World) -> None:
    task_id, attempt_id = released_with_evidence(world)
    seen = world.sighting(task_id)
    transitions.adjust(world.person(world.preparer), task_id, {"priority": 0})
    answer = transitions.adopt(
        world.person(world.operator), task_id, seen, world.agents[1].name, attempt_id=attempt_id
    )
    assert why(answer) is Why.STALE_STATE


def test_a_claimed_task_and_one_that_is_final_are_not_adopted(world: World) -> None:
    task_id, attempt_id = released_with_evidence(world)
    world.claimed(world.agents[1], task_id)
    assert why(adopted(world, task_id, attempt_id=attempt_id)) is Why.NOT_CLAIMABLE
    transitions.cancel(world.person(world.preparer), task_id, "not wanted")
    assert why(adopted(world, task_id, attempt_id=attempt_id)) is Why.CANCELLED


def test_evidence_for_an_input_that_was_revised_is_not_adopted(world: World) -> None:
    task_id, attempt_id = released_with_evidence(world)
    version = TaskRow.objects.get(id=task_id).state_version
    revised = transitions.revise(
        world.person(world.preparer), task_id, version, a_specification(task="Something else")
    )
    assert not isinstance(revised, Refused), revised
    assert why(adopted(world, task_id, attempt_id=attempt_id)) is Why.STALE_INPUT


def test_only_an_operator_at_hand_adopts(world: World) -> None:
    task_id, attempt_id = released_with_evidence(world)
    seen, runner = world.sighting(task_id), world.agents[1].name
    for person, expected in ((world.reviewer, Why.FORBIDDEN), (world.preparer, Why.FORBIDDEN)):
        answer = transitions.adopt(world.person(person), task_id, seen, runner, attempt_id=attempt_id)
        assert why(answer) is expected
    answer = transitions.adopt(world.caller(), task_id, seen, runner, attempt_id=attempt_id)
    assert why(answer) is Why.NOT_FOUND
