"""Over HTTP: what an attempt cost is told with its verbs, and adopted evidence comes with the grant."""

from __future__ import annotations

from typing import Any

import pytest

from claims import transitions
from claims.models import Attempt
from claims.outcomes import Granted
from tests.api.conftest import Caller, as_agent, claimed
from tests.support.world import DIFF, World

pytestmark = pytest.mark.django_db

COST = {
    "seconds": 12,
    "tokens": 900,
    "money": {"amount": "0.42", "currency": "EUR"},
    "labels": {"model": "m", "calls": 3},
}


def cost_of(grant: dict[str, Any]) -> Any:
    return Attempt.objects.get(id=grant["attemptId"]).cost


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("progress", {"note": "halfway"}),
        ("release", {"reason": "night"}),
        ("fail", {"reason": "no", "retryable": True}),
    ],
)
def test_a_verb_keeps_the_cost_that_comes_along(
    world: World, agent: Caller, verb: str, more: dict[str, Any]
) -> None:
    grant = claimed(world, agent)
    answer = agent.post(
        f"/attempts/{grant['attemptId']}/{verb}", {"fence": grant["fence"], "cost": COST, **more}
    )
    assert answer.status == 200, answer.body
    assert cost_of(grant) == COST


def test_a_delivery_keeps_the_cost_that_comes_along(world: World, agent: Caller) -> None:
    grant = claimed(world, agent, input={"task": "Count", "acceptance": [], "evidence": []})
    body = {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": {}, "cost": COST}
    answer = agent.post(f"/attempts/{grant['attemptId']}/deliver", body)
    assert answer.status == 200, answer.body
    assert cost_of(grant) == COST


def test_a_lost_fence_is_refused_and_its_cost_is_kept(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    at, body = f"/attempts/{grant['attemptId']}", {"fence": grant["fence"]}
    assert agent.post(f"{at}/release", {**body, "reason": "night"}).status == 200
    answer = agent.post(f"{at}/progress", {**body, "note": "still on it", "cost": COST})
    assert (answer.status, answer.code) == (409, "FENCED")
    assert agent.get(at).body["cost"] == COST


@pytest.mark.parametrize(
    "cost",
    [
        {"seconds": -1},
        {"seconds": "1"},
        {"tokens": 1.5},
        {"tokens": True},
        {"minutes": 1},
        {"money": {"amount": 0.42, "currency": "EUR"}},
        {"money": {"amount": "0.42", "currency": "eur"}},
        {"labels": {"model": ["m"]}},
        {"labels": {"model": "x" * 201}},
        [],
    ],
)
def test_what_is_no_cost_is_malformed(world: World, agent: Caller, cost: Any) -> None:
    grant = claimed(world, agent)
    body = {"fence": grant["fence"], "note": "hm", "cost": cost}
    answer = agent.post(f"/attempts/{grant['attemptId']}/progress", body)
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert cost_of(grant) is None


def test_a_cost_that_falls_is_malformed_and_says_what_was_told(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    at, body = f"/attempts/{grant['attemptId']}/progress", {"fence": grant["fence"], "note": "hm"}
    assert agent.post(at, {**body, "cost": {"tokens": 5}}).status == 200
    answer = agent.post(at, {**body, "cost": {"tokens": 4}})
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert "was 5" in answer.body["detail"]


def test_an_adopted_grant_brings_the_evidence_it_goes_on_from(world: World, agent: Caller) -> None:
    first = claimed(world, agent)
    assert first["adoptedEvidence"] is None
    digest = world.stage(world.regranted(first["taskId"]))
    body = {"fence": first["fence"], "reason": "night"}
    assert agent.post(f"/attempts/{first['attemptId']}/release", body).status == 200
    sighting, runner = world.sighting(first["taskId"], "its work is good"), world.agents[1]
    granted = transitions.adopt(
        world.person(world.operator), first["taskId"], sighting, runner.name, attempt_id=first["attemptId"]
    )
    assert isinstance(granted, Granted)

    at_the_door = as_agent(runner, attempt_id=granted.fence.attempt_id)
    adopted = at_the_door.get("/attempts/mine").body["grants"][0]["adoptedEvidence"]
    assert (adopted["attemptId"], adopted["resultDigest"]) == (first["attemptId"], digest)
    assert adopted["result"] == {"done": True}
    assert [item["name"] for item in adopted["evidence"]] == ["diff"]
    own, theirs = f"/attempts/{granted.fence.attempt_id}/files", f"/attempts/{first['attemptId']}/files"
    sha256 = adopted["evidence"][0]["sha256"]
    assert at_the_door.get(f"{own}/{sha256}").body == DIFF
    assert at_the_door.get(f"{theirs}/{sha256}").body == DIFF, "its work builds on that attempt"
