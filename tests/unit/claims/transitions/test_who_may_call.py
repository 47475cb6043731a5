"""Who a caller is decides which verbs are there for it at all: agents hold fences, persons at hand operate."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from claims import transitions
from claims.callers import Actor, Caller
from claims.outcomes import Why
from claims.vocabulary import ActorKind, Source
from tests.support.records import no_change, why
from tests.support.world import World, expire

pytestmark = pytest.mark.django_db


def by_token(user: User) -> Caller:
    """The same person, but with a personal token."""
    return Caller(Actor(ActorKind.PERSON, user.id, user.username), Source.API)


def test_a_person_with_the_number_of_the_runner_holds_no_fence(world: World) -> None:
    granted = world.claimed()
    person = Caller(Actor(ActorKind.PERSON, world.agents[0].id, "somebody"), Source.WEB)
    with no_change(granted.fence.task_id):
        assert why(transitions.progress(person, granted.fence, "halfway")) is Why.NOT_FOUND
        assert why(transitions.release(person, granted.fence, "night")) is Why.NOT_FOUND


def test_a_token_of_an_operator_does_not_operate(world: World) -> None:
    granted = world.claimed()
    task_id = granted.fence.task_id
    expire(task_id)
    token, sighting, runner = by_token(world.operator), world.sighting(task_id), world.agents[1].name
    with no_change(task_id):
        assert why(transitions.release_quiet(token, task_id, sighting)) is Why.NOT_FOUND
        assert why(transitions.reassign(token, task_id, sighting, runner)) is Why.NOT_FOUND
        assert why(transitions.extend_once(token, task_id, sighting)) is Why.NOT_FOUND
        assert why(transitions.nudge(token, task_id, sighting)) is Why.NOT_FOUND
