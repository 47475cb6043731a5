"""The client against a real server: granian or uvicorn is not needed, Django's own live server speaks HTTP over a socket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.live_server_helper import LiveServer

from claims import tokens
from client import Client
from tests.support.world import World, a_world


@pytest.fixture
def world(transactional_db: None) -> World:
    """A pool as the server sees it: its rows are committed."""
    return a_world(allows_unreviewed=True)


@pytest.fixture
def token(world: World) -> str:
    """A token of the first agent."""
    return tokens.mint(agent_id=world.agents[0].id).token


@pytest.fixture
def client_of_agent(live_server: LiveServer, token: str) -> Iterator[Client]:
    """The SDK, connected over a socket."""
    with Client(live_server.url, token) as client:
        yield client
