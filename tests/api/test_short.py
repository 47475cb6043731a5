"""The short way of the hot calls answers what the long way answers, and hands on whatever is not plain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.utils import timezone

from claims import tokens
from claims.api import short
from claims.models import AgentPool, CanonicalCommit, Token
from claims.vocabulary import ReviewPolicy
from config import settings_api
from tests.support.world import World, a_specification, a_world

pytestmark = pytest.mark.django_db


@dataclass
class Told:
    """An answer, and which way it took."""

    status: int
    body: Any
    headers: dict[str, str]
    was_short: bool


@dataclass
class Server:
    """The lean API as its server sees it, by the short way first or by the long way alone."""

    token: str
    handler: WSGIHandler
    long_calls: int = 0

    def post(
        self, path: str, body: Any, *, by_the_long_way: bool = False, key: str | None = "", **extra: str
    ) -> Told:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        seen: list[Any] = []
        before = self.long_calls
        application = self._long if by_the_long_way else short.before(self._long)
        environ: dict[str, Any] = {
            "REQUEST_METHOD": "POST",
            "SCRIPT_NAME": "",
            "PATH_INFO": "/api/v1" + path,
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_AUTHORIZATION": f"Bearer {self.token}",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(raw)),
            "wsgi.input": BytesIO(raw),
            "wsgi.url_scheme": "http",
            "wsgi.errors": BytesIO(),
            "wsgi.multithread": True,
        }
        if key is not None:
            environ["HTTP_IDEMPOTENCY_KEY"] = key or uuid4().hex
        written = b"".join(
            application(environ | extra, lambda status, headers: seen.append((status, headers)))
        )
        status, headers = seen[0]
        return Told(int(status[:3]), json.loads(written), dict(headers), self.long_calls == before)

    def _long(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        self.long_calls += 1
        answer: Iterable[bytes] = self.handler(environ, start)
        return answer

    def claim(self, world: World, **options: Any) -> Told:
        body = {"schedulerEpoch": world.epoch, "max": 1} | options.pop("body", {})
        return self.post(f"/pools/{world.pool.name}/claim-next", body, **options)

    def commit(self, grant: dict[str, Any], **options: Any) -> Told:
        body = {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": {"ok": True}}
        path = f"/attempts/{options.pop('attempt', grant['attemptId'])}/commit"
        return self.post(path, body | options.pop("body", {}), **options)


@pytest.fixture
def world(db: None) -> World:
    made = a_world(allows_unreviewed=True)
    for _ in range(3):
        made.task(review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))
    return made


@pytest.fixture
def server(world: World, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Requests begin and end without touching the connection, which holds the test's transaction."""
    monkeypatch.setattr(short, "close_old_connections", lambda: None)
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    settings.ROOT_URLCONF, settings.MIDDLEWARE = settings_api.ROOT_URLCONF, settings_api.MIDDLEWARE
    yield Server(tokens.mint(agent_id=world.agents[0].id).token, WSGIHandler())
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_both_ways_answer_a_claim_and_a_commit_alike(world: World, server: Server) -> None:
    ways = [server.claim(world), server.claim(world, by_the_long_way=True)]
    grants = [told.body["grants"][0] for told in ways]
    ways += [server.commit(grants[0]), server.commit(grants[1], by_the_long_way=True)]
    assert [told.was_short for told in ways] == [True, False, True, False]
    assert [told.status for told in ways] == [200] * 4
    for one, other in (ways[:2], ways[2:]):
        apart = {"X-Request-Id", "Content-Length"}
        assert {name: one.headers[name] for name in one.headers.keys() - apart} == {
            name: other.headers[name] for name in other.headers.keys() - apart
        }
    same = ("input", "inputDigest", "title", "round", "lastReview", "effects", "predecessors", "stateVersion")
    assert grants[0].keys() == grants[1].keys()
    assert {name: grants[0][name] for name in same} == {name: grants[1][name] for name in same}
    assert ways[2].body.keys() == ways[3].body.keys()
    assert ways[2].body["resultDigest"] == ways[3].body["resultDigest"]
    assert CanonicalCommit.objects.filter(task__pool=world.pool).count() == 2


def test_a_key_has_the_same_answer_by_either_way(world: World, server: Server) -> None:
    first = server.claim(world, key="once")
    again, reused = server.claim(world, key="once"), server.claim(world, key="once", body={"ttlSeconds": 9})
    assert (first.was_short, again.was_short) == (True, False)
    assert again.body["grants"][0]["fence"] == first.body["grants"][0]["fence"]
    assert reused.body["code"] == "KEY_REUSED"


def test_a_token_that_ended_a_moment_ago_is_refused_at_once(world: World, server: Server) -> None:
    grant = server.claim(world).body["grants"][0]
    Token.objects.filter(agent_id=world.agents[0].id).update(revoked_at=timezone.now())
    assert (server.claim(world).status, server.commit(grant).status) == (401, 401)
    Token.objects.filter(agent_id=world.agents[0].id).update(revoked_at=None, expires_at=timezone.now())
    assert (server.claim(world).status, server.commit(grant).status) == (401, 401)


def test_an_agent_that_left_the_pool_a_moment_ago_sees_nothing_there(world: World, server: Server) -> None:
    grant = server.claim(world).body["grants"][0]
    AgentPool.objects.filter(agent_id=world.agents[0].id).delete()
    assert (server.claim(world).status, server.commit(grant).status) == (404, 404)


def test_a_token_of_one_attempt_commits_that_one_alone(world: World, server: Server) -> None:
    grants = [server.claim(world).body["grants"][0] for _ in range(2)]
    minted = tokens.mint(agent_id=world.agents[0].id, attempt_id=grants[0]["attemptId"])
    own = Server(minted.token, server.handler)
    assert own.claim(world).status == 403
    assert own.commit(grants[1]).status == 404
    told = own.commit(grants[0])
    assert (told.status, told.was_short) == (200, True)


def test_a_braked_call_is_counted_once_and_told_so(
    world: World, server: Server, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []

    def is_too_often(token_id: int, bucket: str) -> bool:
        counted.append(token_id)
        return True

    monkeypatch.setattr(short, "is_too_often", is_too_often)
    assert server.claim(world).status == 429
    assert len(counted) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"max": 2}, 200),
        ({"max": True}, 400),
        ({"max": 0}, 400),
        ({"waitSeconds": 26}, 400),
        ({"ttlSeconds": 0}, 400),
        ({"ttlSeconds": "60"}, 400),
        ({"schedulerEpoch": 0}, 409),
        ({"schedulerEpoch": 1.0}, 400),
        ({"unknown": 1}, 400),
    ],
)
def test_what_is_not_plain_has_the_long_ways_answer(
    world: World, server: Server, body: dict[str, Any], status: int
) -> None:
    told = server.claim(world, body=body)
    assert (told.status, told.was_short) == (status, False)


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        ({"HTTP_COOKIE": "a=b"}, 400),
        ({"QUERY_STRING": "a=b"}, 400),
        ({"HTTP_CONTENT_ENCODING": "gzip"}, 415),
        ({"CONTENT_TYPE": "text/plain"}, 415),
        ({"HTTP_AUTHORIZATION": "Bearer fp_nobody"}, 401),
        ({"HTTP_IDEMPOTENCY_KEY": "two words"}, 400),
        ({"CONTENT_LENGTH": "0"}, 400),
        ({"REQUEST_METHOD": "PUT"}, 405),
    ],
)
def test_an_unusual_request_has_the_long_ways_answer(
    world: World, server: Server, extra: dict[str, str], status: int
) -> None:
    told = server.claim(world, **extra)
    assert (told.status, told.was_short) == (status, False)


def test_the_body_of_a_request_that_is_handed_on_is_read_again(world: World, server: Server) -> None:
    for _ in range(3):
        server.claim(world)
    told = server.claim(world)
    assert (told.status, told.was_short, told.body) == (200, False, {"grants": []})
    assert told.headers["Retry-After"] == "1"


def test_a_fence_at_the_address_of_another_attempt_is_malformed(world: World, server: Server) -> None:
    one, other = (server.claim(world).body["grants"][0] for _ in range(2))
    told = server.commit(one, attempt=other["attemptId"])
    assert (told.status, told.was_short) == (400, False)


def test_a_fence_of_an_older_generation_is_fenced(world: World, server: Server) -> None:
    grant = server.claim(world).body["grants"][0]
    old = grant["fence"] | {"claimGeneration": grant["fence"]["claimGeneration"] - 1}
    told = server.commit(grant, body={"fence": old})
    assert (told.status, told.body["code"], told.was_short) == (409, "FENCED", False)
