"""The JSON API by Django's test client: requests go through every middleware, the database is rolled back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from claims import tokens
from claims.models import Agent, Task
from tests.support.world import World, a_world

BASE = "/api/v1"


@dataclass
class Answer:
    """A response as the tests read it."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def code(self) -> str:
        return str(self.body["code"])


@dataclass
class Caller:
    """One token's holder at the door."""

    token: str | None
    client: Client = field(default_factory=Client)

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """One request. ``raw`` sends bytes as they are; ``key`` is the idempotency key, a new one when absent."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        key = options.pop("key", uuid4().hex if method == "POST" else None)
        if key:
            headers["Idempotency-Key"] = key
        headers |= options.pop("headers", {})
        content_type = options.pop("content_type", "application/json")
        raw = options.pop("raw", None)
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else b""
        response = self.client.generic(method, BASE + path, data, content_type=content_type, headers=headers)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        is_json = "json" in response.headers.get("Content-Type", "")
        return Answer(
            response.status_code,
            json.loads(content) if is_json and content else content,
            dict(response.headers),
        )

    def get(self, path: str, **options: Any) -> Answer:
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.call("POST", path, body, **options)

    def put(self, path: str, content: bytes, **options: Any) -> Answer:
        return self.call(
            "PUT", path, raw=content, content_type=options.pop("content_type", "text/x-diff"), **options
        )


@pytest.fixture
def world(db: None) -> World:
    """A pool where unreviewed tasks are allowed and expired claims may be taken."""
    return a_world(allows_unreviewed=True)


@pytest.fixture
def agent(world: World) -> Caller:
    """The first agent, with a token of every scope an agent may have."""
    return as_agent(world.agents[0])


@pytest.fixture
def preparer(world: World) -> Caller:
    """A person with a personal token that may write tasks."""
    return Caller(tokens.mint(person_id=world.preparer.id).token)


@pytest.fixture
def nobody() -> Caller:
    """A caller without a token."""
    return Caller(None)


def as_agent(agent: Agent, **options: Any) -> Caller:
    """An agent at the door."""
    return Caller(tokens.mint(agent_id=agent.id, **options).token)


def claimed(world: World, agent: Caller, task_id: UUID | None = None, **attributes: Any) -> dict[str, Any]:
    """A grant, taken over HTTP."""
    task_id = task_id or world.task(**attributes)
    version = Task.objects.values_list("state_version", flat=True).get(id=task_id)
    answer = agent.post(
        f"/tasks/{task_id}/claim", {"expectedStateVersion": version, "schedulerEpoch": world.epoch}
    )
    assert answer.status == 200, answer.body
    grant: dict[str, Any] = answer.body
    return grant
