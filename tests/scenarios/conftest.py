"""Bug reports of neighbouring systems, told again here. Each test file names the reports it is after."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connections

from claims import tokens
from tests.api.conftest import Caller, as_agent
from tests.support.world import World, a_world


@pytest.fixture
def world(db: None) -> World:
    """A pool under review, with MANUAL reclaim."""
    return a_world()


@pytest.fixture
def sandbox(db: None) -> World:
    """A pool that allows unreviewed tasks."""
    return a_world(allows_unreviewed=True)


@pytest.fixture
def open_world(transactional_db: None) -> Iterator[World]:
    """The same, its rows committed, so that other connections see them."""
    yield a_world(allows_unreviewed=True)
    connections.close_all()


@pytest.fixture
def agent(world: World) -> Caller:
    """The first agent of the pool under review, at the API."""
    return as_agent(world.agents[0])


@pytest.fixture
def preparer(world: World) -> Caller:
    """The preparer's personal token, at the API."""
    return Caller(tokens.mint(person_id=world.preparer.id).token)


@pytest.fixture
def nobody() -> Caller:
    """A caller without a token."""
    return Caller(None)
