"""Review: B42, B43, B44, B45, B46. The races of B42 and B46 are in tests/race."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from claims import transitions
from claims.fences import Fence
from claims.models import CanonicalCommit, Decision, Delivery, Membership
from claims.outcomes import Committed, Decided, Granted, Refused, Why
from claims.vocabulary import DeliveryState, Right, State, Verdict
from tests.support.records import no_change, task_row, why
from tests.support.world import DIFF, World, judgement

pytestmark = pytest.mark.django_db


def reviewer_of(world: World, name: str, *rights: Right) -> User:
    person = User.objects.create_user(f"{name}-{world.pool.name}")
    for right in rights or (Right.REVIEWER,):
        Membership.objects.create(pool=world.pool, person=person, right=right)
    return person


def test_b42_plumber_140_of_two_approvers_the_second_is_told_who_was_first(world: World) -> None:
    delivery, second = world.delivered(), reviewer_of(world, "second")
    first = transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert isinstance(first, Committed)
    with no_change(delivery.task_id):
        answer = transitions.accept(world.person(second), delivery.id, judgement(delivery))
    assert isinstance(answer, Refused)
    assert answer.why is Why.ALREADY_DECIDED
    assert answer.sentence.startswith(f"This delivery is already accepted by {world.reviewer.username} at ")
    assert Decision.objects.filter(delivery=delivery).count() == 1
    assert CanonicalCommit.objects.filter(task_id=delivery.task_id).count() == 1


def test_b43_policy_bot_33_one_person_with_two_tabs_decides_once(world: World) -> None:
    delivery = world.delivered()
    tabs = [world.person(world.reviewer, key=key) for key in ("tab-1", "tab-2")]
    first = transitions.accept(tabs[0], delivery.id, judgement(delivery))
    assert isinstance(first, Committed)
    assert why(transitions.accept(tabs[1], delivery.id, judgement(delivery))) is Why.ALREADY_DECIDED
    assert transitions.accept(tabs[0], delivery.id, judgement(delivery)) == first
    assert Decision.objects.count() == 1


def test_b44_git_proxy_1350_the_owner_cannot_approve_by_another_door(world: World) -> None:
    for right in (Right.REVIEWER, Right.ADMIN):
        Membership.objects.create(pool=world.pool, person=world.owner, right=right)
    second_agent = world.agent(owner=world.owner)
    delivery = world.delivered(second_agent, world.claimed(second_agent))
    User.objects.filter(id=world.owner.id).update(
        username=f"RENAMED-{world.pool.name}".upper(), is_superuser=True
    )
    world.owner.refresh_from_db()
    for caller in (world.person(world.owner), replace(world.person(world.owner), request_id="req_other")):
        with no_change(delivery.task_id):
            answer = transitions.accept(caller, delivery.id, judgement(delivery, reason="it is urgent"))
        assert why(answer) is Why.SELF_REVIEW


def test_b44_git_proxy_1350_giving_the_agent_away_does_not_make_its_owner_a_checker(world: World) -> None:
    Membership.objects.create(pool=world.pool, person=world.owner, right=Right.REVIEWER)
    delivery = world.delivered()
    agent = world.agents[0]
    agent.owner = world.reviewer
    agent.save()
    for maker in (world.owner, world.reviewer):
        assert (
            why(transitions.accept(world.person(maker), delivery.id, judgement(delivery))) is Why.SELF_REVIEW
        )


def test_b45_yuzu_3152_a_stranger_is_told_the_same_of_a_foreign_and_of_a_missing_delivery(
    world: World,
) -> None:
    delivery = world.delivered()
    stranger = world.person(User.objects.create_user("stranger"))
    foreign = transitions.accept(stranger, delivery.id, judgement(delivery))
    missing = transitions.accept(stranger, uuid4(), judgement(delivery))
    assert foreign == missing == Refused(Why.NOT_FOUND)


def test_b45_yuzu_3152_a_reader_who_made_it_is_told_of_the_right_and_not_of_the_maker(world: World) -> None:
    delivery = world.delivered()
    answer = transitions.accept(world.person(world.owner), delivery.id, judgement(delivery))
    assert why(answer) is Why.NOT_REVIEWER


def test_b46_phoenix_3798_an_acceptance_from_an_old_page_does_not_accept_the_new_round(world: World) -> None:
    first = world.delivered()
    seen_on_the_page = judgement(first)
    sent = transitions.request_changes(
        world.person(world.reviewer), first.id, judgement(first, Verdict.NOT_MET, "say it louder")
    )
    assert isinstance(sent, Decided)
    second = redelivered(world, first)
    with no_change(second.task_id):
        of_the_old = transitions.accept(world.person(world.reviewer), first.id, seen_on_the_page)
        of_the_new = transitions.accept(world.person(world.reviewer), second.id, seen_on_the_page)
    assert why(of_the_old) is Why.ALREADY_DECIDED
    assert isinstance(of_the_new, Refused)
    assert of_the_new.why is Why.STALE_DELIVERY
    assert of_the_new.extra["subjectDigest"] == second.subject_digest
    assert task_row(second.task_id).state == State.DELIVERED
    first.refresh_from_db()
    assert first.state == DeliveryState.CHANGES_REQUESTED


def test_b46_phoenix_3798_the_same_bytes_in_a_new_round_are_another_subject(world: World) -> None:
    first = world.delivered()
    transitions.request_changes(
        world.person(world.reviewer), first.id, judgement(first, Verdict.NOT_MET, "look again")
    )
    second = redelivered(world, first, content=DIFF)
    assert second.result_digest == first.result_digest
    assert second.subject_digest != first.subject_digest
    stale = transitions.accept(world.person(world.reviewer), second.id, judgement(first))
    assert why(stale) is Why.STALE_DELIVERY


def redelivered(world: World, first: Delivery, content: bytes = DIFF + b"\n") -> Delivery:
    """The same runner's next round."""
    task = task_row(first.task_id)
    assert task.attempt_id is not None
    fence = Fence(task.id, task.attempt_id, world.epoch, task.claim_generation, task.cancel_generation)
    granted = Granted(fence, str(task.input_digest), task.state_version, task.state_since, task.state_since)
    return world.delivered(granted=granted, content=content)
