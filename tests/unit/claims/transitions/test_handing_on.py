"""Handing on and deputies in the tables: recorded, marked for ever, and no way around the maker's rule."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from claims import deputies, transitions
from claims.callers import Actor, Caller
from claims.models import Agent, Decision, Deputy, History, Membership, Task
from claims.outcomes import Adjusted, Committed, Why
from claims.vocabulary import ActorKind, Right, Source
from tests.support.records import no_change, why
from tests.support.world import World, judgement

pytestmark = pytest.mark.django_db


@pytest.fixture
def colleague(world: World) -> User:
    """One more reviewer of the pool."""
    person = User.objects.create_user(f"colleague-{world.pool.name}")
    Membership.objects.create(pool=world.pool, person=person, right=Right.REVIEWER)
    return person


def days(first: int, last: int) -> dict[str, object]:
    today = timezone.now().date()
    return {"from_day": today + timedelta(days=first), "until_day": today + timedelta(days=last)}


def name(world: World, person: User, deputy: User, first: int = 0, last: int = 3) -> str:
    return deputies.name(person.pk, world.pool, deputy.pk, **days(first, last))  # type: ignore[arg-type]


def test_the_turn_goes_to_the_chosen_reviewer_and_no_authority_changes(world: World, colleague: User) -> None:
    delivery = world.delivered(reviewer=world.reviewer.username)
    before = Task.objects.get(pk=delivery.task_id)
    done = transitions.hand_on(
        world.person(world.reviewer), delivery.id, delivery.subject_digest, colleague.username, "On leave."
    )

    after = Task.objects.get(pk=delivery.task_id)
    assert isinstance(done, Adjusted)
    assert (after.reviewer_id, after.claim_generation, after.state) == (
        colleague.pk,
        before.claim_generation,
        before.state,
    )
    told = History.objects.get(task_id=before.pk, verb="adjust")
    assert told.body["changed"] == {"reviewer_id": [world.reviewer.pk, colleague.pk]}
    assert (told.body["handedOn"]["to"], told.body["reason"]) == (colleague.username, "On leave.")


def test_a_token_hands_nothing_on(world: World, colleague: User) -> None:
    delivery = world.delivered(reviewer=world.reviewer.username)
    token = Caller(Actor(ActorKind.PERSON, world.reviewer.pk, world.reviewer.username), Source.API)
    with no_change(delivery.task_id):
        answer = transitions.hand_on(
            token, delivery.id, delivery.subject_digest, colleague.username, "On leave."
        )
        assert why(answer) is Why.NOT_FOUND


def test_an_account_that_is_off_cannot_be_chosen(world: World, colleague: User) -> None:
    delivery = world.delivered(reviewer=world.reviewer.username)
    User.objects.filter(pk=colleague.pk).update(is_active=False)
    answer = transitions.hand_on(
        world.person(world.reviewer), delivery.id, delivery.subject_digest, colleague.username, "On leave."
    )
    assert why(answer) is Why.UNPROCESSABLE


def test_a_deputy_decides_and_the_decision_is_marked_as_theirs(world: World, colleague: User) -> None:
    delivery = world.delivered(reviewer=world.reviewer.username)
    assert name(world, world.reviewer, colleague) == ""
    said = judgement(delivery, reason="Deputy for the reviewer.")
    assert isinstance(transitions.accept(world.person(colleague), delivery.id, said), Committed)
    assert Decision.objects.get(delivery=delivery).marks == ["DEPUTY"]


def test_a_deputy_too_gives_a_reason(world: World, colleague: User) -> None:
    delivery = world.delivered(reviewer=world.reviewer.username)
    name(world, world.reviewer, colleague)
    answer = transitions.accept(world.person(colleague), delivery.id, judgement(delivery))
    assert why(answer) is Why.NOT_REVIEWER


@pytest.mark.parametrize(("first", "last"), [(1, 3), (-5, -1)])
def test_before_the_first_day_and_after_the_last_a_deputy_steps_in_like_anybody(
    world: World, colleague: User, first: int, last: int
) -> None:
    delivery = world.delivered(reviewer=world.reviewer.username)
    Deputy.objects.create(
        pool=world.pool, person=world.reviewer, deputy=colleague, named_at=timezone.now(), **days(first, last)
    )
    transitions.accept(world.person(colleague), delivery.id, judgement(delivery, reason="She is on leave."))
    assert Decision.objects.get(delivery=delivery).marks == ["STEPPED_IN"]


def test_a_deputy_who_made_it_is_refused(world: World, colleague: User) -> None:
    Agent.objects.filter(pk=world.agents[0].pk).update(owner=colleague)
    delivery = world.delivered(reviewer=world.reviewer.username)
    name(world, world.reviewer, colleague)
    with no_change(delivery.task_id):
        answer = transitions.accept(
            world.person(colleague), delivery.id, judgement(delivery, reason="Deputy for the reviewer.")
        )
        assert why(answer) is Why.SELF_REVIEW


def test_a_deputy_without_the_right_to_review_any_more_decides_nothing(world: World, colleague: User) -> None:
    delivery = world.delivered(reviewer=world.reviewer.username)
    name(world, world.reviewer, colleague)
    Membership.objects.filter(person=colleague).update(right=Right.OPERATOR)
    answer = transitions.accept(world.person(colleague), delivery.id, judgement(delivery, reason="Deputy."))
    assert why(answer) is Why.NOT_REVIEWER


def test_a_deputy_is_another_reviewer_of_the_pool_for_a_bounded_time(world: World, colleague: User) -> None:
    assert "another person" in name(world, world.reviewer, world.reviewer)
    assert "reviewers of" in name(world, world.reviewer, world.operator)
    assert "reviewers of" in name(world, world.operator, colleague)
    assert "before the first" in name(world, world.reviewer, colleague, 3, 1)
    assert "over already" in name(world, world.reviewer, colleague, -3, -1)
    assert "at most 120 days" in name(world, world.reviewer, colleague, 0, 121)
    assert not Deputy.objects.exists()


def test_naming_another_takes_the_place_of_the_one_before_and_ending_leaves_none(
    world: World, colleague: User
) -> None:
    other = User.objects.create_user(f"other-{world.pool.name}")
    Membership.objects.create(pool=world.pool, person=other, right=Right.ADMIN)
    name(world, world.reviewer, colleague)
    assert name(world, world.reviewer, other, 1, 2) == ""
    assert Deputy.objects.get().deputy == other
    assert deputies.end(world.reviewer.pk, world.pool.pk) is True
    assert deputies.end(world.reviewer.pk, world.pool.pk) is False


def test_comments_of_no_shape_are_refused_before_anything_is_decided(world: World) -> None:
    delivery = world.delivered()
    answer = transitions.request_changes(
        world.person(world.reviewer),
        delivery.id,
        judgement(delivery, note="again"),
        [{"screenshot": "home", "x": 2_000, "y": 1, "text": "here"}],
    )
    assert why(answer) is Why.MALFORMED
    assert not Decision.objects.exists()
