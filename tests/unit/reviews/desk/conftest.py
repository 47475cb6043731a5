"""One delivery of real bytes that Ines, reviewer and operator of billing, may decide."""

from __future__ import annotations

import pytest
from django.conf import LazySettings

from claims.models import Delivery, Task
from tests.support import deliveries
from tests.unit.reviews.world import World


@pytest.fixture(autouse=True)
def _own_evidence(settings: LazySettings, tmp_path: object) -> None:
    """Bytes of one test stay in its own folder."""
    storages = dict(settings.STORAGES)
    storages["evidence"] = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(tmp_path)},
    }
    settings.STORAGES = storages


@pytest.fixture
def task(world: World) -> Task:
    """A task with four criteria whose reviewer is Ines."""
    return deliveries.new_task(world.billing, reviewer="ines")


@pytest.fixture
def delivery(world: World, task: Task) -> Delivery:
    """Its first round; no excluded file is touched."""
    return deliveries.deliver(
        task, world.agents["agent-7"], items=deliveries.usual_items(diff=deliveries.IN_SCOPE)
    )
