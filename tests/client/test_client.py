"""The SDK and the command line over a real socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from claims.models import Delivery, Task
from claims.vocabulary import ReclaimPolicy, ReviewPolicy
from client import Client, Evidence, Lost, Problem, Stopped
from tests.support.world import DIFF, World, a_specification, expire

ROOT = Path(__file__).resolve().parents[2]
COMMAND = a_specification(
    evidence=[{"kind": "diff", "name": "diff"}, {"kind": "command", "name": "tests", "run": "true"}]
)


def test_an_agent_claims_works_and_delivers(world: World, client_of_agent: Client) -> None:
    client = client_of_agent
    world.task(input=COMMAND)
    assert client.whoami()["agent"] == world.agents[0].name
    (grant,) = client.claim_next(world.pool.name)
    with client.working(grant) as work:
        assert work.seconds_left > 100
        client.progress(grant, "reading", {"tokens": 3})
        evidence = Evidence()
        evidence.add_bytes(DIFF, name="diff", kind="diff", criteria=[1, 2])
        ran = evidence.run(
            [sys.executable, "-c", "print('fine'); raise SystemExit(3)"], name="tests", work=work
        )
        answer = client.deliver(
            grant, {"done": True}, evidence, summary="Done", needs="Look", claims={1: "It says so"}
        )
    assert (ran.exit_code, ran.output) == (3, b"fine\n")
    delivery = Delivery.objects.get(id=answer["deliveryId"])
    assert (delivery.summary, delivery.claims) == ("Done", {"1": "It says so"})
    seen = client.delivery(answer["deliveryId"])
    assert seen["evidence"][1]["meta"]["exitCode"] == 3


def test_a_task_without_review_is_committed_and_nothing_is_left_to_claim(
    world: World, client_of_agent: Client
) -> None:
    world.task(review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))
    (grant,) = client_of_agent.claim_next(world.pool.name)
    assert client_of_agent.commit(grant, {"answer": 42})["outcome"] == "COMMITTED"
    assert client_of_agent.claim_next(world.pool.name) == []


def test_a_lost_claim_stops_the_work_and_its_command(world: World, client_of_agent: Client) -> None:
    task_id = world.task(reclaim_policy=ReclaimPolicy.AUTO)
    (grant,) = client_of_agent.claim_next(world.pool.name, ttl_seconds=2)
    told: list[str] = []
    forever = [sys.executable, "-c", "import signal; signal.pause()"]
    with pytest.raises(Stopped):  # noqa: PT012, SIM117 - leaving the inner block is what raises
        with client_of_agent.working(grant, told.append) as work:
            expire(task_id)
            world.claimed(world.agents[1], task_id)
            Evidence().run(forever, name="long", work=work)
    assert "FENCED" in told[0]
    with pytest.raises(Lost) as lost:
        client_of_agent.deliver(grant, {})
    assert (lost.value.code, lost.value.retry) == ("FENCED", "never")


def test_a_refusal_says_what_is_missing(world: World, client_of_agent: Client) -> None:
    world.task()
    (grant,) = client_of_agent.claim_next(world.pool.name)
    with pytest.raises(Problem) as thin:
        client_of_agent.deliver(grant, {})
    assert (thin.value.status, thin.value.code, thin.value.reasons) == (422, "THIN_EVIDENCE", ["diff diff"])
    assert client_of_agent.release(grant, "no time")["state"] == "OPEN"


WORKER = """
import json, os, pathlib
grant = json.load(open(os.environ["FENCEPOST_GRANT"]))
assert json.loads(os.environ["FENCEPOST_FENCE"]) == grant["fence"]
out = pathlib.Path(os.environ["FENCEPOST_OUT"])
(out / "change.diff").write_text("--- a/x\\n+++ b/x\\n")
(out / "delivery.json").write_text(json.dumps({
    "summary": "Done by a command", "needs": "", "claims": {"1": "yes"}, "result": {"title": grant["title"]},
    "evidence": [{"path": "change.diff", "name": "diff", "kind": "diff", "criteria": [1]}],
}))
print("worked on", grant["title"])
"""


def cli(
    live_server: LiveServer, token: str, folder: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "FENCEPOST_URL": live_server.url, "FENCEPOST_TOKEN": token, "NO_COLOR": "1",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "client", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_line_runs_a_command_for_a_task(
    world: World, live_server: LiveServer, token: str, tmp_path: Path
) -> None:
    task_id = world.task()
    ran = cli(live_server, token, tmp_path, "run", world.pool.name, "--", sys.executable, "-c", WORKER)
    assert ran.returncode == 0, ran.stderr
    delivery = Delivery.objects.get(task_id=task_id)
    assert (delivery.summary, delivery.state) == ("Done by a command", "PENDING")


def test_the_command_line_fails_a_task_whose_command_fails(
    world: World, live_server: LiveServer, token: str, tmp_path: Path
) -> None:
    task_id = world.task()
    ran = cli(
        live_server,
        token,
        tmp_path,
        "run",
        world.pool.name,
        "--",
        sys.executable,
        "-c",
        "raise SystemExit(65)",
    )
    assert ran.returncode == 1
    assert Task.objects.get(id=task_id).state == "HELD"


def test_the_command_line_claims_renews_and_releases(
    world: World, live_server: LiveServer, token: str, tmp_path: Path
) -> None:
    task_id = world.task()
    assert json.loads(cli(live_server, token, tmp_path, "whoami").stdout)["agent"] == world.agents[0].name
    claimed = cli(live_server, token, tmp_path, "claim", str(task_id))
    assert claimed.returncode == 0, claimed.stderr
    assert (tmp_path / "grant.json").stat().st_mode & 0o077 == 0
    assert cli(live_server, token, tmp_path, "claim-next", world.pool.name).returncode == 3
    assert (
        json.loads(cli(live_server, token, tmp_path, "renew", "--seconds", "600").stdout)["recovered"]
        is False
    )
    assert json.loads(cli(live_server, token, tmp_path, "release", "no time").stdout)["state"] == "OPEN"
    refused = cli(live_server, token, tmp_path, "release", "no time")
    assert (refused.returncode, json.loads(refused.stderr)["code"]) == (1, "FENCED")
