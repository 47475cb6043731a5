"""From a task that is written to a canonical commit, over HTTP."""

from __future__ import annotations

import hashlib
from typing import Any

from claims.vocabulary import ReviewPolicy
from tests.api.conftest import Caller, claimed
from tests.support.world import DIFF, World, a_specification

SHA256 = hashlib.sha256(DIFF).hexdigest()
ITEM = {
    "name": "diff",
    "kind": "diff",
    "sha256": SHA256,
    "size": len(DIFF),
    "mediaType": "text/x-diff",
    "criteria": [1, 2],
}


def upload(agent: Caller, grant: dict[str, Any], content: bytes = DIFF) -> int:
    fence = grant["fence"]
    header = f"epoch={fence['schedulerEpoch']}, generation={fence['claimGeneration']}, cancel={fence['cancelGeneration']}"
    sha256 = hashlib.sha256(content).hexdigest()
    answer = agent.put(
        f"/attempts/{grant['attemptId']}/files/{sha256}", content, headers={"Fencepost-Fence": header}
    )
    assert answer.status in (200, 201), answer.body
    return answer.status


def test_a_task_is_written_claimed_worked_on_and_delivered(
    world: World, agent: Caller, preparer: Caller
) -> None:
    written = preparer.post(
        "/tasks", {"pool": world.pool.name, "title": "Empty state", "input": a_specification()}
    )
    assert written.status == 201, written.body
    task = written.body["tasks"][0]
    assert task["state"] == "OPEN"

    answer = agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch})
    assert answer.status == 200, answer.body
    grant = answer.body["grants"][0]
    assert grant["taskId"] == task["taskId"]
    assert grant["inputDigest"] == task["inputDigest"]
    assert grant["input"]["task"] == a_specification()["task"]
    assert (grant["round"], grant["lastReview"], grant["effects"]) == (1, None, [])
    assert 0 < grant["leaseSecondsRemaining"] <= 300

    at = f"/attempts/{grant['attemptId']}"
    renewed = agent.post(f"{at}/renew", {"fence": grant["fence"], "extendSeconds": 600})
    assert renewed.status == 200, renewed.body
    assert renewed.body["recovered"] is False
    noted = agent.post(f"{at}/progress", {"fence": grant["fence"], "note": "reading", "cost": {"tokens": 12}})
    assert noted.status == 200, noted.body

    assert upload(agent, grant) == 201
    assert upload(agent, grant) == 200
    hand_in_and_read_back(agent, grant)


def hand_in_and_read_back(agent: Caller, grant: dict[str, Any]) -> None:
    at = f"/attempts/{grant['attemptId']}"
    delivered = agent.post(
        f"{at}/deliver",
        {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": {"done": True}, "evidence": [ITEM], "summary": "Done",
         "needs": "Look at the sentence", "claims": {"1": "It says so"}},
    )  # fmt: skip
    assert delivered.status == 200, delivered.body
    seen = agent.get(f"/deliveries/{delivered.body['deliveryId']}")
    assert seen.status == 200, seen.body
    assert (seen.body["state"], seen.body["round"], seen.body["decision"]) == ("PENDING", 1, None)
    assert seen.body["evidence"][0]["sha256"] == SHA256

    downloaded = agent.get(f"/deliveries/{delivered.body['deliveryId']}/files/{SHA256}")
    assert downloaded.body == DIFF
    assert downloaded.headers["Content-Disposition"].startswith("attachment")
    assert downloaded.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in downloaded.headers["Content-Security-Policy"]
    assert downloaded.headers["Content-Type"] == "application/octet-stream"


def test_an_unreviewed_task_is_committed_with_its_result_inline(world: World, agent: Caller) -> None:
    grant = claimed(world, agent, review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))
    body = {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": {"answer": 42}}
    first = agent.post(f"/attempts/{grant['attemptId']}/commit", body, key=None)
    assert first.status == 200, first.body
    assert first.body["outcome"] == "COMMITTED"
    again = agent.post(
        f"/attempts/{grant['attemptId']}/commit",
        {**body, "resultDigest": first.body["resultDigest"]},
        key=None,
    )
    assert (again.status, again.body) == (200, first.body)
