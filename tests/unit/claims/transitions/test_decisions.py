"""Decisions in the tables: maker is not checker, one decision, and its marks for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from claims import decide, transitions
from claims.models import Agent, Attempt, CanonicalCommit, Decision, Delivery, Membership, Pool, ReviewerGroup
from claims.outcomes import Committed, Decided, Why
from claims.vocabulary import Gate, Right, SelfReview, Source, State, Verdict
from tests.support.records import no_change, refusals_of, task_row, why
from tests.support.world import World, a_specification, a_world, judgement

pytestmark = pytest.mark.django_db

Decide = Callable[..., object]
DECISIONS: list[Decide] = [transitions.accept, transitions.request_changes, transitions.reject]
each_decision = pytest.mark.parametrize("decision", DECISIONS, ids=["accept", "request-changes", "reject"])


def allow(world: World, person: User, *rights: Right) -> None:
    for right in rights:
        Membership.objects.get_or_create(pool=world.pool, person=person, right=right)


def decided(world: World, decision: Decide, person: User, delivery: Delivery, **changes: object) -> object:
    answer = judgement(delivery, note="a note", **changes)  # type: ignore[arg-type]
    return decision(world.person(person), delivery.id, answer)


@each_decision
def test_the_owner_of_the_agent_may_not_decide_administrators_included(
    world: World, decision: Decide
) -> None:
    delivery = world.delivered()
    allow(world, world.owner, Right.REVIEWER, Right.ADMIN)
    with no_change(delivery.task_id):
        assert why(decided(world, decision, world.owner, delivery, reason="it is urgent")) is Why.SELF_REVIEW
    assert not Decision.objects.exists()


@each_decision
def test_the_owner_at_the_grant_stays_a_maker_after_the_agent_was_given_away(
    world: World, decision: Decide
) -> None:
    delivery = world.delivered()
    allow(world, world.owner, Right.REVIEWER)
    Agent.objects.filter(id=world.agents[0].id).update(owner=world.preparer)
    assert why(decided(world, decision, world.owner, delivery)) is Why.SELF_REVIEW


@each_decision
def test_the_owner_at_the_decision_is_a_maker_too(world: World, decision: Decide) -> None:
    delivery = world.delivered()
    Agent.objects.filter(id=world.agents[0].id).update(owner=world.reviewer)
    assert why(decided(world, decision, world.reviewer, delivery)) is Why.SELF_REVIEW


@each_decision
def test_the_owner_of_a_round_that_was_sent_back_is_a_maker_of_what_another_agent_makes_of_it(
    world: World, decision: Decide
) -> None:
    allow(world, world.owner, Right.REVIEWER)
    first = world.delivered()
    Agent.objects.filter(id=world.agents[0].id).update(is_disabled=True)
    assert isinstance(decided(world, transitions.request_changes, world.reviewer, first), Decided)
    other = world.agent(owner=world.operator)
    second = world.delivered(other, world.claimed(other, first.task_id))
    assert set(second.makers) == {world.owner.id, world.operator.id}
    assert why(decided(world, decision, world.owner, second)) is Why.SELF_REVIEW
    assert isinstance(decided(world, transitions.reject, world.reviewer, second), Decided)
    third = world.delivered(other, world.claimed(other, first.task_id))
    assert third.makers == [world.operator.id], "after a rejection the work starts over"


def test_a_pool_of_one_may_review_its_own_work_and_it_is_marked(db: None) -> None:
    world = a_world(self_review=SelfReview.MARKED)
    delivery = world.delivered()
    allow(world, world.owner, Right.REVIEWER)
    assert isinstance(decided(world, transitions.accept, world.owner, delivery), Committed)
    assert Decision.objects.get(delivery=delivery).marks == ["SELF_REVIEW"]


@each_decision
def test_a_reviewer_whose_account_was_switched_off_sees_nothing(world: World, decision: Decide) -> None:
    delivery = world.delivered()
    User.objects.filter(id=world.reviewer.id).update(is_active=False)
    assert why(decided(world, decision, world.reviewer, delivery)) is Why.NOT_FOUND


@each_decision
def test_a_reviewer_who_lost_the_right_in_between_may_not_decide(world: World, decision: Decide) -> None:
    delivery = world.delivered()
    Membership.objects.filter(person=world.reviewer).update(right=Right.VIEWER)
    assert why(decided(world, decision, world.reviewer, delivery)) is Why.NOT_REVIEWER


@each_decision
def test_no_token_of_any_kind_can_decide(world: World, decision: Decide) -> None:
    delivery = world.delivered()
    for caller in (
        replace(world.person(world.reviewer), source=Source.API),
        world.caller(),
        replace(world.caller(), source=Source.WORKER),
    ):
        with no_change(delivery.task_id):
            assert why(decision(caller, delivery.id, judgement(delivery, note="a note"))) is Why.NOT_FOUND


def test_no_token_of_any_kind_can_operate(world: World) -> None:
    task_id = world.claimed().fence.task_id
    caller = replace(world.person(world.operator), source=Source.API)
    sighting = world.sighting(task_id, even_if_live=True)
    with no_change(task_id):
        for verb in (
            transitions.release_quiet,
            transitions.extend_once,
            transitions.nudge,
            transitions.requeue,
        ):
            assert why(verb(caller, task_id, sighting)) is Why.NOT_FOUND
        assert why(transitions.reassign(caller, task_id, sighting, world.agents[1].name)) is Why.NOT_FOUND


@each_decision
def test_a_second_decision_is_told_who_decided_first(world: World, decision: Decide) -> None:
    delivery = world.delivered()
    decided(world, transitions.reject, world.reviewer, delivery)
    answer = decided(world, decision, world.reviewer, delivery)
    assert why(answer) is Why.ALREADY_DECIDED
    assert world.reviewer.username in getattr(answer, "sentence", "")
    assert Decision.objects.count() == 1


@each_decision
def test_a_decision_about_something_else_than_was_seen_changes_nothing(
    world: World, decision: Decide
) -> None:
    delivery = world.delivered()
    with no_change(delivery.task_id):
        answer = decided(world, decision, world.reviewer, delivery, subject_digest=f"sha256:{'0' * 64}")
    assert why(answer) is Why.STALE_DELIVERY
    assert refusals_of(delivery.task_id)[-1][1] == "STALE_DELIVERY"


def test_an_acceptance_names_attempt_generation_epoch_digests_and_reviewer(world: World) -> None:
    delivery = world.delivered()
    accepted = decided(world, transitions.accept, world.reviewer, delivery)
    assert isinstance(accepted, Committed)
    commit = CanonicalCommit.objects.get(commit_id=accepted.result_commit_id)
    assert (commit.attempt_id, commit.delivery_id) == (delivery.attempt_id, delivery.id)
    assert (commit.claim_generation, commit.scheduler_epoch) == (
        delivery.claim_generation,
        delivery.scheduler_epoch,
    )
    assert commit.result_digest == delivery.result_digest
    assert commit.reviewer_id == world.reviewer.id
    assert Decision.objects.get(delivery=delivery).subject_digest == delivery.subject_digest


def test_a_decision_keeps_every_word_of_the_reviewer(world: World) -> None:
    delivery = world.delivered()
    comments = [{"path": "page.html", "line": 2, "text": "say it louder"}]
    verdicts = {
        1: decide.VerdictGiven(Verdict.NOT_MET, "too quiet"),
        2: decide.VerdictGiven(Verdict.CANNOT_TELL, "no picture"),
    }
    answer = decide.Judgement(delivery.subject_digest, verdicts, "almost")
    sent = transitions.request_changes(world.person(world.reviewer), delivery.id, answer, comments)
    assert isinstance(sent, Decided)
    kept = Decision.objects.get(delivery=delivery)
    assert kept.verdicts == {
        "1": {"verdict": "NOT_MET", "note": "too quiet"},
        "2": {"verdict": "CANNOT_TELL", "note": "no picture"},
    }
    assert (kept.note, kept.comments, kept.kind) == ("almost", comments, "CHANGES_REQUESTED")


def test_stepping_in_for_the_named_reviewer_is_marked_for_ever(world: World) -> None:
    colleague = User.objects.create_user(f"colleague-{world.pool.name}")
    allow(world, colleague, Right.REVIEWER)
    delivery = world.delivered(reviewer=colleague.username)
    assert why(decided(world, transitions.accept, world.reviewer, delivery)) is Why.NOT_REVIEWER
    taken = decided(world, transitions.accept, world.reviewer, delivery, reason="on leave")
    assert isinstance(taken, Committed)
    kept = Decision.objects.get(delivery=delivery)
    assert (kept.marks, kept.reason) == (["STEPPED_IN"], "on leave")


def test_a_member_of_the_reviewer_group_decides_without_a_reason(world: World) -> None:
    group = ReviewerGroup.objects.create(pool=world.pool, name="billing")
    group.members.add(world.reviewer)
    delivery = world.delivered(reviewer_group="billing")
    assert isinstance(decided(world, transitions.accept, world.reviewer, delivery), Committed)
    assert Decision.objects.get(delivery=delivery).marks == []


def test_a_delivery_of_an_old_epoch_is_sent_back_under_the_new_one(world: World) -> None:
    delivery = world.delivered()
    epoch = world.raise_epoch()
    assert why(decided(world, transitions.accept, world.reviewer, delivery)) is Why.FENCED
    sent = decided(world, transitions.request_changes, world.reviewer, delivery, verdict=Verdict.NOT_MET)
    assert isinstance(sent, Decided)
    assert sent.state is State.CLAIMED
    assert Attempt.objects.get(id=sent.next_attempt_id).scheduler_epoch == epoch


@pytest.mark.parametrize("case", ["disabled", "lacks a label", "draining"])
def test_requested_changes_keep_the_task_for_its_runner_when_that_cannot_take_it(
    world: World, case: str
) -> None:
    runner = world.agent("browser")
    delivery = world.delivered(runner, world.claimed(runner))
    if case == "disabled":
        transitions.disable_agent(world.person(world.owner), runner.id)
    elif case == "lacks a label":
        delivery = delivered_with_a_label_since_lost(world, runner)
    else:
        Pool.objects.filter(id=world.pool.id).update(gate=Gate.DRAINING)
    sent = decided(world, transitions.request_changes, world.reviewer, delivery, verdict=Verdict.NOT_MET)
    assert isinstance(sent, Decided)
    assert (sent.state, sent.next_attempt_id) == (State.OPEN, None)
    task_now = task_row(delivery.task_id)
    assert (task_now.preferred_runner_id, task_now.attempt_id) == (runner.id, None)


def test_what_a_disabled_agent_delivered_stays_reviewable(world: World) -> None:
    delivery = world.delivered()
    transitions.disable_agent(world.person(world.owner), world.agents[0].id)
    assert task_row(delivery.task_id).state == State.DELIVERED
    assert isinstance(decided(world, transitions.accept, world.reviewer, delivery), Committed)


def test_only_its_owner_or_an_administrator_disables_an_agent(world: World) -> None:
    agent_id = world.agents[0].id
    for person in (world.reviewer, world.operator, world.preparer):
        assert why(transitions.disable_agent(world.person(person), agent_id)) is Why.FORBIDDEN
    admin = User.objects.create_user(f"admin-{world.pool.name}")
    allow(world, admin, Right.ADMIN)
    assert transitions.disable_agent(world.person(admin), agent_id) == []
    assert why(transitions.disable_agent(world.person(admin), 0)) is Why.NOT_FOUND


def delivered_with_a_label_since_lost(world: World, runner: Agent) -> Delivery:
    """A delivery of a labelled task whose runner lost the label afterwards."""
    delivery = world.delivered(runner, world.claimed(runner, input=a_specification(access=["browser"])))
    Agent.objects.filter(id=runner.id).update(labels=[])
    return delivery
