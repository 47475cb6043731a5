"""What the tests of verbs share. Each test runs in a transaction that is rolled back."""

from __future__ import annotations

import pytest

from tests.support.world import World, a_world


@pytest.fixture
def world(db: None) -> World:
    """A pool under review, with MANUAL reclaim: what a new pool is."""
    return a_world()


@pytest.fixture
def sandbox(db: None) -> World:
    """A pool that allows unreviewed tasks."""
    return a_world(allows_unreviewed=True)
