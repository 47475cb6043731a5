"""The decision page: what it draws, for whom, and with how many queries."""

from __future__ import annotations

import pytest
from django.test import Client

from claims.models import Delivery
from tests.support import deliveries
from tests.unit.reviews.world import World


@pytest.fixture
def delivery(world: World) -> Delivery:
    task = deliveries.new_task(world.billing, reviewer="ines")
    return deliveries.deliver(task, world.agents["agent-7"])


def test_the_page_shows_evidence_criteria_and_needs(ines: Client, delivery: Delivery) -> None:
    answer = ines.get(f"/reviews/{delivery.pk}")
    body = answer.content.decode()
    assert answer.status_code == 200
    assert "Check the empty state at 390 px and the query count." in body
    assert body.count('data-crit="') == 4
    assert 'name="subject" value="' + delivery.subject_digest in body
    assert "run by this server" in body
    assert "run by agent-7, not re-run" in body
    assert "true width 390" in body
    assert '<span class="ag">3 passed</span>' in body
    assert "a window title" not in body
