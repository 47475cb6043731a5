"""Bug reports of neighbouring systems, told again here. Each test file names the reports it is after."""

from __future__ import annotations

import pytest

from tests.support.world import World, a_world


@pytest.fixture
def world(db: None) -> World:
    """A pool under review, with MANUAL reclaim."""
    return a_world()


@pytest.fixture
def sandbox(db: None) -> World:
    """A pool that allows unreviewed tasks."""
    return a_world(allows_unreviewed=True)
