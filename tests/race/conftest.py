"""Races run on real commits, seen by every connection; each test makes a world of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connections

from tests.support.world import World, a_world


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    """A pool of the race's own, in the test database as the server sees it."""
    yield a_world()
    connections.close_all()
