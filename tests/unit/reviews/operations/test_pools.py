"""A pool as a whole on /operations: its epoch, its gate, and what a second operator is told."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from claims.models import Pool, PoolEvent
from claims.vocabulary import Gate
from tests.unit.reviews.world import World


@pytest.fixture
def noor(world: World, client: Client) -> Client:
    """The browser of Noor, operator of billing."""
    client.force_login(world.noor)
    return client


def act(client: Client, do: str, **fields: str) -> tuple[int, str]:
    posted = {"key": str(uuid4()), "epoch": "13", "reason": "restored from a backup", "do": do}
    answer = client.post("/operations/pools/billing/act", posted | fields, follow=True)
    return answer.status_code, answer.content.decode()


def epoch(world: World) -> int:
    return Pool.objects.get(pk=world.billing.pk).scheduler_epoch


def test_raising_the_epoch_tells_the_new_one_and_who_raised_it(noor: Client, world: World) -> None:
    status, body = act(noor, "raise")

    assert status == 200
    assert epoch(world) > 13
    assert f"billing is at epoch {epoch(world)}." in body
    assert "raised from 13 by Noor Haddad" in body
    assert PoolEvent.objects.get(pool=world.billing).actor_name == "noor"


def test_a_second_operator_raises_nothing_and_sees_the_epoch_there_is(noor: Client, world: World) -> None:
    act(noor, "raise")
    raised = epoch(world)

    status, body = act(noor, "raise", reason="the other one asked for it")

    assert (status, epoch(world)) == (409, raised)
    assert f"billing is at epoch {raised}" in body
    assert "the other one asked for it</textarea>" in body
    assert f'name="epoch" value="{raised}"' in body


def test_the_same_form_sent_twice_raises_once(noor: Client, world: World) -> None:
    for _ in range(2):
        assert act(noor, "raise", key="the-same-key")[0] == 200

    assert PoolEvent.objects.filter(pool=world.billing).count() == 1


def test_the_gate_is_closed_and_opened_with_a_reason(noor: Client, world: World) -> None:
    status, body = act(noor, "DRAINING", reason="")
    assert (status, Pool.objects.get(pk=world.billing.pk).gate) == (422, Gate.OPEN)
    assert "Say why" in body

    status, body = act(noor, "DRAINING")
    assert (status, Pool.objects.get(pk=world.billing.pk).gate) == (200, Gate.DRAINING)
    assert "no new claim is handed out" in body
    assert "Open the gate of billing" in body

    assert act(noor, "OPEN")[0] == 200
    assert Pool.objects.get(pk=world.billing.pk).gate == Gate.OPEN


@pytest.mark.parametrize("typed", ["", "thirteen", "9" * 30])
def test_an_epoch_that_is_no_number_is_one_that_no_pool_has(noor: Client, world: World, typed: str) -> None:
    status, _ = act(noor, "raise", epoch=typed)

    assert (status, epoch(world)) == (409, 13)


def test_only_an_operator_of_the_pool_finds_the_form(client: Client, world: World) -> None:
    for who in (world.ben, world.mira, world.stranger):
        client.force_login(who)
        assert act(client, "raise")[0] == 404

    assert epoch(world) == 13


def test_what_is_no_act_is_not_found(noor: Client) -> None:
    assert act(noor, "explode")[0] == 404
