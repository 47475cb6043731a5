"""The SDK and the command line with outside effects, graphs and revisions, over a real socket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_django.live_server_helper import LiveServer

from claims import tokens
from claims.models import Effect, Observation, Permit, Task
from claims.vocabulary import Scope
from client import Client, Grant, Lost, PermitLost, Problem, Stopped
from tests.client.test_client import cli
from tests.support.effects import PAYLOAD, RECEIPT, a_slot, etag_of, long_ago, with_slots
from tests.support.world import World, a_specification

PLAIN = a_specification(evidence=[])
DIGEST = "sha256:" + "b" * 64


@pytest.fixture
def grant(world: World, client_of_agent: Client) -> Grant:
    """A claim of a task with one slot."""
    world.task(input=with_slots(a_slot(), evidence=[]))
    return client_of_agent.claim_next(world.pool.name)[0]


@pytest.fixture
def preparer_token(world: World) -> str:
    return tokens.mint(person_id=world.preparer.id).token


class CutOff(httpx.HTTPTransport):
    """Sends every request, and loses the answer to one kind of it."""

    def __init__(self, ending: str, *, sends: bool = True) -> None:
        super().__init__()
        self.ending, self.sends = ending, sends

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith(self.ending):
            return super().handle_request(request)
        if self.sends:
            super().handle_request(request).read()
        raise httpx.ReadError("the connection was cut")


def test_a_call_is_made_under_its_permit_and_confirmed(client_of_agent: Client, grant: Grant) -> None:
    with client_of_agent.effects.call(grant, "mail", PAYLOAD) as call:
        call.permit.check()
        assert (call.permit.payload, call.permit.claim_generation) == (
            PAYLOAD,
            grant.fence["claimGeneration"],
        )
        assert 50 < call.permit.seconds_left <= 60
        done = call.confirm(RECEIPT, '"v7"')
    assert (done["state"], done["receipt"], done["resourceEtag"]) == ("COMMITTED", RECEIPT, '"v7"')
    assert client_of_agent.deliver(grant, {})["round"] == 1


def test_a_call_that_is_left_without_a_confirmation_is_unknown(client_of_agent: Client, grant: Grant) -> None:
    with pytest.raises(ZeroDivisionError), client_of_agent.effects.call(grant, "mail", PAYLOAD) as call:
        raise ZeroDivisionError
    seen = client_of_agent.effects.read(call.permit.effect_id)
    assert (seen["state"], seen["observations"][0]["via"]) == ("UNKNOWN", "UNKNOWN")
    with pytest.raises(Problem) as refused, client_of_agent.effects.call(grant, "mail", PAYLOAD):
        pytest.fail("a second call was permitted")
    assert refused.value.code == "MUST_RECONCILE"


def test_a_permit_that_has_ended_stops_the_call(client_of_agent: Client, grant: Grant) -> None:
    effect = client_of_agent.effects.prepare(grant, "mail", PAYLOAD)
    permit = client_of_agent.effects.execute(grant, effect["effectId"])
    permit.ends_at -= 60
    with pytest.raises(Stopped):
        permit.check()


@pytest.mark.parametrize("arrived", [True, False])
def test_an_execute_whose_answer_is_lost_is_handed_back_and_never_asked_for_again(
    arrived: bool, live_server: LiveServer, token: str, grant: Grant
) -> None:
    with Client(live_server.url, token, CutOff("/execute", sends=arrived)) as client:
        with pytest.raises(PermitLost), client.effects.call(grant, "mail", PAYLOAD):
            pytest.fail("a call was made without a permit")
        effect = Effect.objects.get(task_id=grant.task_id)
        assert effect.state == ("UNKNOWN" if arrived else "PREPARED")
        assert Permit.objects.filter(effect=effect).count() == arrived
        assert Observation.objects.filter(effect=effect, via="HAND_BACK").count() == arrived


def test_a_doubt_is_looked_up_under_the_etag_that_was_read_before(
    client_of_agent: Client, grant: Grant
) -> None:
    effects = client_of_agent.effects
    effect_id = effects.prepare(grant, "mail", PAYLOAD)["effectId"]
    effects.unknown(grant, effects.execute(grant, effect_id), "cut off")
    long_ago(effect_id, 300)
    etag = effects.read(effect_id)["etag"]
    assert effects.reconcile(grant, effect_id, "DID_NOT_HAPPEN", "http", etag)["state"] == "PREPARED"
    assert effects.abandon(grant, effect_id, "not needed")["state"] == "ABANDONED"


def test_a_graph_is_written_revised_and_cancelled(
    world: World, live_server: LiveServer, client_of_agent: Client, preparer_token: str
) -> None:
    nodes: list[dict[str, Any]] = [
        {"nodeId": "a", "title": "First", "input": PLAIN, "reviewPolicy": "NONE"},
        {"nodeId": "b", "title": "Second", "input": PLAIN, "dependsOn": ["a"]},
    ]
    with Client(live_server.url, preparer_token) as preparer:
        first, second = preparer.create(world.pool.name, nodes)
        (grant,) = client_of_agent.claim_next(world.pool.name)
        client_of_agent.commit(grant, {"n": 1})
        (after,) = client_of_agent.claim_next(world.pool.name)
        assert [each["result"] for each in after.predecessors] == [{"n": 1}]
        seen = preparer.task(second["taskId"])["stateVersion"]
        revised = preparer.revise(second["taskId"], {**PLAIN, "task": "Otherwise"}, seen, title="Third")
        assert (revised["revision"], revised["state"]) == (2, "OPEN")
        assert preparer.cancel(revised["taskId"], "no longer wanted")["state"] == "CANCELLED"
        with pytest.raises(Problem) as late:
            preparer.cancel(first["taskId"], "too late")
    assert late.value.code == "TOO_LATE"
    with pytest.raises(Lost) as lost:
        client_of_agent.progress(after, "going on", {"tokens": 3})
    assert lost.value.code == "STALE_INPUT"


def test_a_tool_server_asks_for_a_runner(
    world: World, live_server: LiveServer, client_of_agent: Client, grant: Grant
) -> None:
    gateway = tokens.mint(agent_id=world.agents[1].id, scopes=[Scope.TOOL]).token
    with Client(live_server.url, gateway) as tool:
        assert tool.accept_tool(grant.fence, "git.push", DIGEST)["outcome"] == "ACCEPTED"
        client_of_agent.release(grant, "no time", {"tokens": 2})
        with pytest.raises(Lost):
            tool.accept_tool(grant.fence, "git.push", DIGEST)


def test_the_command_line_takes_an_effect_through_its_states(
    world: World, live_server: LiveServer, token: str, tmp_path: Path
) -> None:
    world.task(input=with_slots(a_slot(), evidence=[]))
    (tmp_path / "payload.json").write_text(json.dumps(PAYLOAD))
    (tmp_path / "receipt.json").write_text(json.dumps(RECEIPT))

    def run(*arguments: str) -> Any:
        ran = cli(live_server, token, tmp_path, *arguments)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    run("claim-next", world.pool.name)
    effect_id = run("effect", "prepare", "mail", "payload.json")["effectId"]
    permit = run("effect", "execute", effect_id, "--key", "first-call")["permit"]["permitId"]
    refused = cli(live_server, token, tmp_path, "effect", "execute", effect_id, "--key", "first-call")
    assert (refused.returncode, json.loads(refused.stderr.partition("\n")[2])["code"]) == (
        1,
        "MUST_RECONCILE",
    )
    assert run("effect", "hand-back", effect_id, "first-call")["state"] == "UNKNOWN"
    late = cli(
        live_server, token, tmp_path, "effect", "confirm", effect_id, permit, "--receipt", "receipt.json"
    )
    assert json.loads(late.stderr)["code"] == "MUST_RECONCILE"
    seen = ["--look-up", "http", "--etag", etag_of(effect_id), "--receipt", "receipt.json"]
    weak = cli(live_server, token, tmp_path, "effect", "reconcile", effect_id, "HAPPENED", *seen)
    assert json.loads(weak.stderr)["code"] == "WEAK_OBSERVATION"
    assert run("effect", "show", effect_id)["hasHappened"] is True
    assert run("accept-tool", "git.push", DIGEST)["outcome"] == "ACCEPTED"


def test_the_command_line_writes_revises_and_cancels_tasks(
    world: World, live_server: LiveServer, preparer_token: str, tmp_path: Path
) -> None:
    (tmp_path / "task.json").write_text(json.dumps({"title": "First", "input": PLAIN}))
    (tmp_path / "input.json").write_text(json.dumps({**PLAIN, "task": "Otherwise"}))

    def run(*arguments: str) -> Any:
        ran = cli(live_server, preparer_token, tmp_path, "task", *arguments)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    task_id = run("create", world.pool.name, "task.json")[0]["taskId"]
    revised = run("revise", task_id, "input.json", "--version", "1", "--title", "Second")["taskId"]
    assert run("show", revised)["title"] == "Second"
    assert run("cancel", revised, "no longer wanted")["state"] == "CANCELLED"
    assert Task.objects.get(id=task_id).state == "SUPERSEDED"
