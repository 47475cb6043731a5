"""Effects in doubt: what operators see, and how each way of settling one is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from django.test import Client

from claims.models import Observation
from claims.selectors import badges, doubts, effects
from claims.selectors.seen import pools_of
from claims.vocabulary import EffectState
from reviews.effects.views import OUTCOMES
from tests.support.effects import long_ago, observations, state_of
from tests.unit.reviews.effects.conftest import CHARGE, MAIL, Prepared, act, executed, in_doubt, prepared
from tests.unit.reviews.world import World


def test_operations_lists_effects_in_doubt_with_what_is_known(
    noor: Client, world: World, charge: Prepared
) -> None:
    in_doubt(world, prepared(world, CHARGE, title="Another"))
    body = noor.get("/operations").content.decode()

    assert "2 effects in doubt need an operator" in body
    assert "Nobody knows whether agent-7 made the call." in body
    assert "https://pay.test/charges" in body
    assert "the line went dead" in body
    assert "Look it up now" in body
    assert all(f'value="{outcome[0]}"' in body for outcome in OUTCOMES)
    ids = re.findall(r'\bid="([^"]+)"', body)
    assert sorted(set(ids)) == sorted(ids)


def test_a_call_that_is_under_way_needs_nobody_yet(noor: Client, world: World) -> None:
    one = prepared(world, CHARGE)
    executed(world, one)
    body = noor.get("/operations").content.decode()

    assert "No effect is in doubt." in body
    assert "agent-7 may make the call for" in body
    assert "Settle charge" not in noor.get(one.url).content.decode()


def test_the_count_of_doubts_is_the_length_of_their_list(world: World, charge: Prepared) -> None:
    live, late = prepared(world, CHARGE, title="Live"), prepared(world, CHARGE, title="Late")
    executed(world, live)
    executed(world, late)
    long_ago(late.id, 90)
    ids = [world.billing.pk]
    listed = [one.effect_id for one in effects.for_operators(ids) if doubts.is_in_doubt(one)]

    assert set(listed) == {charge.id, late.id}
    assert doubts.count(ids) == len(listed) == badges.operations_waiting(pools_of(world.noor.pk))


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("HAPPENED", EffectState.COMMITTED),
        ("DID_NOT_HAPPEN", EffectState.PREPARED),
        ("CANNOT_TELL", EffectState.UNKNOWN),
        ("WRITTEN_OFF", EffectState.WRITTEN_OFF),
    ],
)
def test_each_way_of_settling_is_applied_and_told(
    noor: Client, charge: Prepared, said: str, state: EffectState
) -> None:
    long_ago(charge.id, 300)
    status, body = act(noor, charge, "settle", said=said, words="asked the bank, case 77")

    assert (status, state_of(charge.id)) == (200, state)
    assert "charge of T-" in body
    assert Observation.objects.filter(effect_id=charge.id, note="asked the bank, case 77").count() == 1


def test_that_it_did_not_happen_cannot_be_said_before_the_settle_time(noor: Client, charge: Prepared) -> None:
    assert "can be said in" in noor.get(charge.url).content.decode()

    status, body = act(noor, charge, "settle", said="DID_NOT_HAPPEN", words="not in the list")

    assert (status, state_of(charge.id)) == (409, EffectState.UNKNOWN)
    assert "What you said is kept, and settles nothing" in body
    assert "not in the list</textarea>" in body


def test_a_form_from_before_the_effect_moved_changes_nothing(noor: Client, charge: Prepared) -> None:
    status, body = act(noor, charge, "settle", said="HAPPENED", version="1", words="it is there")

    assert (status, state_of(charge.id)) == (409, EffectState.UNKNOWN)
    assert "The effect is at version" in body
    assert "it is there</textarea>" in body


def test_a_word_and_a_choice_are_needed(noor: Client, charge: Prepared) -> None:
    status, body = act(noor, charge, "settle", said="", words="")

    assert (status, state_of(charge.id)) == (422, EffectState.UNKNOWN)
    assert "Choose what became of it." in body
    assert "Say what you saw and where" in body


def test_only_an_operator_settles_or_looks_up(
    ines: Client, world: World, client: Client, charge: Prepared
) -> None:
    client.force_login(world.ben)
    for do in ("settle", "look"):
        status, body = act(client, charge, do, said="HAPPENED")
        assert status == 403
        assert "Only an operator of the pool can do this." in body
    assert state_of(charge.id) == EffectState.UNKNOWN
    assert len(observations(charge.id)) == 1


@contextmanager
def a_sink(status: int) -> Iterator[str]:
    """An HTTP server that answers every look-up alike; its address."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args: Any) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(("status", "said"), [(200, "HAPPENED"), (404, "DID_NOT_HAPPEN")])
def test_a_look_up_is_made_and_kept_and_settles_nothing(
    noor: Client, world: World, settings: Any, status: int, said: str
) -> None:
    with a_sink(status) as host:
        settings.FENCEPOST_LOOKUP_HOSTS = (host,)
        slot = CHARGE | {"lookup": {"kind": "http", "url": f"http://{host}/calls/{{effectId}}"}}
        one = prepared(world, slot)
        in_doubt(world, one)
        long_ago(one.id, 300)
        answered, body = act(noor, one, "look")

    assert answered == 200
    assert f"says {said.replace('_', ' ')}" in body
    assert state_of(one.id) == EffectState.UNKNOWN
    assert observations(one.id)[-1] == (said, "LOOK_UP", True, False)


def test_a_look_up_before_the_settle_time_is_weak(noor: Client, charge: Prepared) -> None:
    status, _ = act(noor, charge, "look")

    assert status == 200
    assert observations(charge.id)[-1] == ("CANNOT_TELL", "LOOK_UP", False, False)


def test_a_slot_without_a_recipe_says_so(ines: Client, world: World, noor: Client) -> None:
    one = prepared(world, CHARGE | {"mode": "CONDITIONAL", "lookup": None})
    in_doubt(world, one)
    assert "none declared" in noor.get(one.url).content.decode()

    status, body = act(noor, one, "look")
    assert status == 422
    assert "This slot declares no look-up" in body


def test_releasing_a_claim_says_which_call_becomes_unknown(noor: Client, world: World) -> None:
    one = prepared(world, CHARGE)
    executed(world, one)
    world.run_out(one.task)

    body = noor.get("/operations").content.decode()

    assert "<b>charge</b> may be under way: it becomes <b>Unknown</b>" in body


def test_mail_is_not_in_doubt_before_it_is_sent(world: World) -> None:
    prepared(world, MAIL)

    assert doubts.count([world.billing.pk]) == 0
