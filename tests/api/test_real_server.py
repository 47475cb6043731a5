"""What only a real server shows: bytes on a socket, long polls that end early, a feed of committed rows."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test import Client

from claims import tokens, transitions
from claims.outcomes import Left
from tests.api.conftest import Caller
from tests.support.world import World, a_specification, a_world

ROOT = Path(__file__).resolve().parents[2]
SERVERS = {
    "web": ["-m", "config.web", "--port", "{port}", "--processes", "1"],
    "api": [
        "-m", "granian", "--interface", "wsgi", "--workers", "1", "--blocking-threads", "4", "--no-ws",
        "--port", "{port}", "config.wsgi_api:application",
    ],
}  # fmt: skip


@dataclass
class Server:
    """A process of the product on the test database."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v1"

    def send(self, raw: bytes) -> bytes:
        """Bytes over a socket, and the answer as far as it comes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as link:
            received = b""
            try:
                link.sendall(raw)
                link.shutdown(socket.SHUT_WR)
                while chunk := link.recv(65_536):
                    received += chunk
            except OSError:
                return received
        return received


def status_of(answer: bytes) -> int:
    """The status of an answer; 0 where the connection was closed without one."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else 0


@pytest.fixture(scope="module", params=list(SERVERS))
def server(request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any) -> Iterator[Server]:
    """One of the two ways in which the API is served."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with django_db_blocker.unblock():
        base, _, _ = os.environ["FENCEPOST_DATABASE_URL"].rpartition("/")
        environment = {
            **os.environ,
            "FENCEPOST_DATABASE_URL": f"{base}/{connection.settings_dict['NAME']}",
            "FENCEPOST_ALLOWED_HOSTS": "127.0.0.1",
        }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    argv = [sys.executable, *(part.format(port=port) for part in SERVERS[request.param])]
    process = subprocess.Popen(
        argv, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_ready(process, port)
        yield Server(port)
    finally:
        process.terminate()
        process.wait(15)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2).is_success:
                return
        except httpx.TransportError:
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            break
    raise AssertionError("the server did not become ready")


@pytest.fixture
def world(transactional_db: None) -> World:
    return a_world(allows_unreviewed=True)


@pytest.fixture
def token(world: World) -> str:
    return tokens.mint(agent_id=world.agents[0].id).token


def request(token: str, head: str, body: bytes = b"", path: str = "/whoami", method: str = "GET") -> bytes:
    lines = f"{method} /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{head}\r\n"
    return lines.encode("latin-1") + body


def test_a_whole_claim_over_a_socket(server: Server, world: World, token: str) -> None:
    world.task(input=a_specification(evidence=[]))
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}) as http:
        claimed = http.post(
            f"/pools/{world.pool.name}/claim-next",
            json={"schedulerEpoch": world.epoch},
            headers={"Idempotency-Key": "k-1"},
        )
        assert claimed.status_code == 200, claimed.text
        grant = claimed.json()["grants"][0]
        at = f"/attempts/{grant['attemptId']}"
        content = b"x" * 300_000
        sha256 = hashlib.sha256(content).hexdigest()
        fence = grant["fence"]
        header = f"epoch={fence['schedulerEpoch']}, generation={fence['claimGeneration']}, cancel={fence['cancelGeneration']}"
        kept = http.put(f"{at}/files/{sha256}", content=content, headers={"Fencepost-Fence": header})
        assert kept.status_code == 201, kept.text
        item = {
            "name": "file",
            "kind": "file",
            "sha256": sha256,
            "size": len(content),
            "mediaType": "text/plain",
        }
        body = {"fence": fence, "inputDigest": grant["inputDigest"], "result": {}, "evidence": [item]}
        delivered = http.post(f"{at}/deliver", json=body)
        assert delivered.status_code == 200, delivered.text
        file = http.get(f"/deliveries/{delivered.json()['deliveryId']}/files/{sha256}")
        assert file.content == content
        assert "sandbox" in file.headers["Content-Security-Policy"]


BAD: dict[str, tuple[str, bytes, str, str]] = {
    "two Authorization headers": ("Authorization: Bearer x\r\n", b"", "GET", "/whoami"),
    "a length that is negative": ("Content-Type: application/json\r\nContent-Length: -1\r\n", b"{}", "POST", "/renewals"),
    "a length that is a word": ("Content-Type: application/json\r\nContent-Length: two\r\n", b"{}", "POST", "/renewals"),
    "two lengths": ("Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n", b"{}", "POST", "/renewals"),
    "a length beyond the body": ("Content-Type: application/json\r\nContent-Length: 500\r\n", b"{}", "POST", "/renewals"),
    "a length and chunks": ("Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n", "POST", "/renewals"),
    "a chunk beyond all sizes": ("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n", "POST", "/renewals"),
    "a header of 1 MB": ("X-Long: " + "x" * 1_000_000 + "\r\n", b"", "GET", "/whoami"),
    "a control character in an address": ("", b"", "GET", "/tasks?q=%00"),
    "an address that climbs": ("", b"", "GET", "/../../etc/passwd"),
    "an encoded address that climbs": ("", b"", "GET", "/%2e%2e/%2e%2e/etc/passwd"),
    "an address of 8 KB": ("", b"", "GET", "/" + "x" * 8_192),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_malformed_request_is_refused_or_cut_off(what: str, server: Server, token: str) -> None:
    head, body, method, path = BAD[what]
    status = status_of(server.send(request(token, head, body, path, method)))
    assert status == 0 or 400 <= status < 500, (what, status)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1@evil.example", ""])
def test_another_host_is_400(host: str, server: Server, token: str) -> None:
    raw = f"GET /api/v1/whoami HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode()
    assert status_of(server.send(raw)) in (0, 400, 421)


def test_waiting_for_work_ends_when_there_is_some(server: Server, world: World, token: str) -> None:
    def wait() -> httpx.Response:
        body = {"schedulerEpoch": world.epoch, "waitSeconds": 20}
        return httpx.post(
            f"{server.url}/pools/{world.pool.name}/claim-next",
            json=body,
            headers={"Authorization": f"Bearer {token}", "Idempotency-Key": "w-1"},
            timeout=30,
        )

    with ThreadPoolExecutor(1) as pool:
        started = time.monotonic()
        waiting = pool.submit(wait)
        assert not waiting.done()
        task_id = world.task()
        answer = waiting.result(25)
    assert [grant["taskId"] for grant in answer.json()["grants"]] == [str(task_id)]
    assert time.monotonic() - started < 15


def test_waiting_for_news_of_a_claim_ends_when_it_is_taken_away(
    server: Server, world: World, token: str
) -> None:
    granted = world.claimed()
    with ThreadPoolExecutor(1) as pool:
        url = f"{server.url}/attempts/{granted.fence.attempt_id}?waitSeconds=20"
        waiting = pool.submit(httpx.get, url, headers={"Authorization": f"Bearer {token}"}, timeout=30)
        sighting = world.sighting(granted.fence.task_id, even_if_live=True)
        assert isinstance(
            transitions.release_quiet(world.person(world.operator), granted.fence.task_id, sighting), Left
        )
        seen = waiting.result(25).json()
    assert (seen["live"], seen["outcome"]) == (False, "LAPSED")


def test_the_feed_gives_every_committed_row_once(world: World, token: str) -> None:
    """A row shows up once no transaction of the server is older, so the test asks until it does."""
    agent = Caller(token, Client())
    first = agent.get(f"/events?pool={world.pool.name}").body
    assert first["events"] == []
    made = [str(task_id) for task_id in world.tasks(5)]
    world.claimed()
    seen: list[dict[str, Any]] = []
    after, end = first["next"], time.monotonic() + 60
    while len(seen) < 7 and time.monotonic() < end:
        page = agent.get(f"/events?after={after}&limit=2").body
        seen, after = seen + page["events"], page["next"]
    assert agent.get(f"/events?after={after}").body["events"] == []
    assert [row["verb"] for row in seen] == ["create"] * 6 + ["claim"]
    assert [row["taskId"] for row in seen][:5] == made
    assert agent.get("/events?after=rubbish").status == 400
    assert json.dumps(seen).count('"stateVersion": 1') == 6
