"""A key belongs to one holder, and to one request at a time (claim.v1 section 4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claims import transitions
from claims.callers import Actor, Caller
from claims.kernel.keys import holder_of, lock_number
from claims.outcomes import Granted, Why
from claims.vocabulary import ActorKind, Source
from tests.race.meeting import blocked
from tests.support.records import no_change, why
from tests.support.world import World, a_world


@pytest.mark.django_db
def test_a_person_and_an_agent_of_one_number_do_not_share_their_keys(world: World) -> None:
    agent = world.caller(key="k1")
    number = world.agents[0].id
    person = Caller(Actor(ActorKind.PERSON, number, "somebody"), Source.WEB, key="k1")
    assert isinstance(transitions.claim(agent, world.task(), 1, world.epoch), Granted)
    answer = transitions.cancel(person, world.task(), "not wanted")
    assert getattr(answer, "why", None) is not Why.KEY_REUSED


@pytest.mark.django_db(transaction=True)
def test_a_key_that_is_being_used_by_another_request_answers_in_progress() -> None:
    world = a_world()
    task_id, keyed = world.task(), replace(world.caller(), key="k1")
    with (
        no_change(task_id),
        blocked("SELECT pg_advisory_xact_lock(%s::bigint)", [lock_number(holder_of(keyed), "k1")]),
    ):
        assert why(transitions.claim(keyed, task_id, 1, world.epoch)) is Why.IN_PROGRESS
        assert why(transitions.claim_next(keyed, world.pool.name, world.epoch)) is Why.IN_PROGRESS
    assert isinstance(transitions.claim(keyed, task_id, 1, world.epoch), Granted)
