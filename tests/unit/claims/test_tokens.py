"""Tokens: what is stored, what is recognised, and what is not."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from claims import tokens
from claims.models import AgentPool, Membership, Token
from claims.vocabulary import ActorKind, Right, Scope, TokenKind
from tests.support.world import World, a_world


@pytest.fixture
def world(db: None) -> World:
    return a_world()


def test_only_a_digest_of_a_token_is_stored(world: World) -> None:
    minted = tokens.mint(agent_id=world.agents[0].id)
    row = Token.objects.get(id=minted.id)
    secret = minted.token.rsplit("_", 1)[1]
    assert bytes(row.digest) == hashlib.sha256(minted.token.encode()).digest()
    stored = Token.objects.filter(id=minted.id).values().get()
    assert not any(secret in str(value) for value in stored.values())
    assert secret not in repr(minted)
    assert secret not in str(row)


def test_a_token_has_the_form_that_scanners_look_for(world: World) -> None:
    minted = [tokens.mint(agent_id=world.agents[0].id).token for _ in range(20)]
    assert len(set(minted)) == 20
    assert all(tokens.WRITTEN.fullmatch(token) for token in minted)


def test_an_agents_token_names_the_agent_and_its_pools(world: World) -> None:
    agent = world.agents[0]
    known = tokens.recognise(tokens.mint(agent_id=agent.id).token)
    assert known is not None
    assert (known.kind, known.actor.kind, known.actor.id, known.actor.name) == (
        TokenKind.AGENT,
        ActorKind.AGENT,
        agent.id,
        agent.name,
    )
    assert known.pools == {world.pool.name: world.pool.id}
    assert known.scopes == {"read", "claim", "deliver"}


def test_leaving_a_pool_is_seen_by_the_next_call(world: World) -> None:
    minted = tokens.mint(agent_id=world.agents[0].id)
    AgentPool.objects.filter(agent=world.agents[0]).delete()
    known = tokens.recognise(minted.token)
    assert known is not None
    assert known.pools == {}


def test_several_rights_of_a_person_are_one_pool(world: World) -> None:
    Membership.objects.create(pool=world.pool, person=world.preparer, right=Right.REVIEWER)
    known = tokens.recognise(tokens.mint(person_id=world.preparer.id).token)
    assert known is not None
    assert (known.actor.kind, known.pools) == (ActorKind.PERSON, {world.pool.name: world.pool.id})


def test_a_wrong_secret_under_a_known_prefix_is_nobodys(world: World) -> None:
    minted = tokens.mint(agent_id=world.agents[0].id).token
    other = tokens.mint(agent_id=world.agents[1].id).token
    prefix = minted.split("_")[1]
    mixed = f"fp_{prefix}_{other.rsplit('_', 1)[1]}"
    for written in (
        mixed,
        minted.upper(),
        minted[:-1],
        minted + "x",
        f" {minted}",
        "",
        "fp_",
        "\ud800",
        "x" * 100_000,
    ):
        assert tokens.recognise(written) is None


def test_the_prefix_alone_is_looked_up_by_its_index(world: World) -> None:
    minted = tokens.mint(agent_id=world.agents[0].id)
    assert tokens.recognise(minted.token) is not None
    assert tokens.revoke(minted.id) is True
    assert tokens.revoke(minted.id) is False
    assert tokens.recognise(minted.token) is None


def test_a_token_ends_when_its_life_is_over(world: World) -> None:
    alive = tokens.mint(agent_id=world.agents[0].id, lifetime=timedelta(minutes=5))
    dead = tokens.mint(agent_id=world.agents[0].id, lifetime=timedelta(microseconds=-1))
    assert alive.expires_at is not None
    assert tokens.recognise(alive.token) is not None
    assert tokens.recognise(dead.token) is None


def test_rotating_may_leave_the_old_token_some_time(world: World) -> None:
    old = tokens.mint(agent_id=world.agents[0].id, scopes=[Scope.READ])
    new = tokens.rotate(old.id, overlap=timedelta(minutes=5))
    for token in (old.token, new.token):
        known = tokens.recognise(token)
        assert known is not None
        assert known.scopes == {"read"}
    tokens.rotate(new.id)
    assert tokens.recognise(new.token) is None


def test_rotating_gives_no_token_a_longer_life(world: World) -> None:
    old = tokens.mint(agent_id=world.agents[0].id, lifetime=timedelta(minutes=5))
    new = tokens.rotate(old.id, overlap=timedelta(hours=1))
    assert new.expires_at == old.expires_at
    assert Token.objects.get(id=old.id).expires_at == old.expires_at


def test_a_token_that_has_ended_is_not_rotated(world: World) -> None:
    dead = tokens.mint(agent_id=world.agents[0].id, lifetime=timedelta(microseconds=-1))
    gone = tokens.mint(agent_id=world.agents[0].id)
    tokens.revoke(gone.id)
    for ended in (dead, gone):
        with pytest.raises(ValueError, match="has ended"):
            tokens.rotate(ended.id, overlap=timedelta(hours=1))
        assert tokens.recognise(ended.token) is None
        with pytest.raises(CommandError, match="has ended"):
            call_command("token", "rotate", ended.token.split("_")[1], stdout=StringIO())
    assert Token.objects.filter(agent=world.agents[0]).count() == 2


def test_a_token_has_one_holder(world: World) -> None:
    agent_id, person_id = world.agents[0].id, world.preparer.id
    for holders in (
        {},
        {"agent_id": agent_id, "person_id": person_id},
        {"person_id": person_id, "attempt_id": uuid4()},
    ):
        with pytest.raises(ValueError, match="token"):
            tokens.mint(**holders)  # type: ignore[arg-type]


def test_no_token_of_any_kind_can_decide() -> None:
    assert set().union(*tokens.ALLOWED.values()) == set(Scope)
    assert not {"accept", "review", "operate", "decide"} & {scope.value for scope in Scope}


def test_tokens_are_made_and_ended_by_hand(world: World) -> None:
    agent, out = world.agents[0].name, StringIO()
    call_command("token", "make", "--agent", agent, "--days", "1", stdout=out)
    written = out.getvalue().strip()
    assert tokens.recognise(written) is not None
    prefix = written.split("_")[1]
    listed = StringIO()
    call_command("token", "list", "--agent", agent, stdout=listed)
    assert prefix in listed.getvalue()
    assert written.rsplit("_", 1)[1] not in listed.getvalue()
    call_command("token", "revoke", prefix, stdout=StringIO())
    assert tokens.recognise(written) is None
    with pytest.raises(CommandError, match="There is no agent"):
        call_command("token", "make", "--agent", "nobody-of-that-name")
