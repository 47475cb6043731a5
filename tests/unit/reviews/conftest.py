"""Fixtures of the page tests."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.unit.reviews.world import World, fill, make_world


@pytest.fixture
def world(db: None) -> World:
    """Pools, people and agents."""
    return make_world()


@pytest.fixture
def tasks(world: World) -> dict:
    """One task in every state people see."""
    return fill(world)


@pytest.fixture
def ines(world: World, client: Client) -> Client:
    """The browser of Ines: reviewer and operator of billing."""
    client.force_login(world.ines)
    return client
