"""Effects in the world of the page tests: one that waits for a word, one in doubt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from claims import transitions
from claims.fences import Fence
from claims.models import Task
from claims.outcomes import Permitted
from tests.support.effects import LOOKUP, effect_row, etag_of
from tests.unit.reviews.world import World, as_agent, done

MAIL = {"slot": "mail", "mode": "NON_REPLAYABLE", "target": "mailto:customers@example.org"}
CHARGE = {
    "slot": "charge",
    "mode": "QUERYABLE",
    "target": "https://pay.test/charges",
    "lookup": LOOKUP,
    "permitSeconds": 60,
    "settleSeconds": 60,
}


@dataclass(frozen=True)
class Prepared:
    """A task with one prepared effect."""

    task: Task
    fence: Fence
    id: str
    agent: str = "agent-7"

    @property
    def url(self) -> str:
        return f"/effects/{self.id}"


def prepared(
    world: World, slot: dict[str, Any], agent: str = "agent-7", title: str = "Tell customers"
) -> Prepared:
    """A claim whose runner has bound a payload."""
    task = world.write(title, effects=(slot,))
    fence = world.claim(task, agent)
    moved = done(
        transitions.prepare(as_agent(world.agents[agent]), fence, slot["slot"], {"to": "all", "n": 3})
    )
    return Prepared(task, fence, moved.effect_id, agent)


def executed(world: World, one: Prepared) -> Permitted:
    """A permit for it."""
    caller = replace(as_agent(world.agents[one.agent]), key=str(uuid4()))
    permit = done(transitions.execute(caller, one.fence, one.id))
    assert isinstance(permit, Permitted)
    return permit


def in_doubt(world: World, one: Prepared) -> None:
    """The runner cannot tell what became of its call."""
    permit = executed(world, one)
    caller = as_agent(world.agents[one.agent])
    done(transitions.unknown(caller, one.fence, one.id, permit.permit_id, "the line went dead"))


def act(client: Client, one: Prepared, do: str, **fields: str) -> tuple[int, str]:
    """Post a form of the effect's page with what it shows now, but for what a test changes."""
    effect = effect_row(one.id)
    one.task.refresh_from_db()
    shown = {
        "key": str(uuid4()),
        "digest": effect.payload_digest,
        "generation": str(one.task.claim_generation),
        "epoch": str(one.task.pool.scheduler_epoch),
        "doubt": str(effect.doubts),
        "version": str(effect.version),
        "etag": etag_of(one.id),
        "expires": "3600",
        "words": "looked at it",
        "do": do,
    }
    answer = client.post(f"{one.url}/act", shown | fields, follow=True)
    return answer.status_code, answer.content.decode()


@pytest.fixture
def mail(world: World) -> Prepared:
    """Waits for a person's word."""
    return prepared(world, MAIL)


@pytest.fixture
def charge(world: World) -> Prepared:
    """In doubt."""
    one = prepared(world, CHARGE, title="Charge the yearly plan")
    in_doubt(world, one)
    return one


@pytest.fixture
def noor(world: World, client: Client) -> Client:
    """The browser of Noor, operator of billing and owner of the agents."""
    client.force_login(world.noor)
    return client
