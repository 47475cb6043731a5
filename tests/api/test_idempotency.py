"""Keys over HTTP: same key and request, same answer, one execution (claim.v1 section 4)."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from claims.models import Attempt, IdempotencyKey, Lease, Task
from claims.vocabulary import ReclaimPolicy
from tests.api.conftest import Caller, as_agent, claimed
from tests.support.world import DIFF, World, a_specification, expire


def without_seconds(grant: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in grant.items() if name != "leaseSecondsRemaining"}


def claim_next(agent: Caller, world: World, key: str, **changes: Any) -> Any:
    return agent.post(
        f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch, **changes}, key=key
    )


def test_a_repeated_claim_next_is_the_same_grant_also_after_the_lease_lapsed(
    world: World, agent: Caller
) -> None:
    task_id = world.task(reclaim_policy=ReclaimPolicy.AUTO)
    world.task()
    key = uuid4().hex
    first = claim_next(agent, world, key).body["grants"][0]
    again = claim_next(agent, world, key).body["grants"][0]
    assert without_seconds(again) == without_seconds(first)
    expire(task_id)
    claimed(world, as_agent(world.agents[1]), task_id)
    late = claim_next(agent, world, key).body["grants"][0]
    assert without_seconds(late) == without_seconds(first)
    assert Attempt.objects.filter(task_id=task_id).count() == 2


def test_a_repeated_claim_is_the_same_attempt(world: World, agent: Caller) -> None:
    task_id, key = world.task(), uuid4().hex
    body = {"expectedStateVersion": 1, "schedulerEpoch": world.epoch}
    first = agent.post(f"/tasks/{task_id}/claim", body, key=key)
    again = agent.post(f"/tasks/{task_id}/claim", body, key=f'"{key}"')
    assert (first.status, again.status) == (200, 200)
    assert without_seconds(again.body) == without_seconds(first.body)


def test_the_order_and_spacing_of_a_body_do_not_make_another_request(world: World, agent: Caller) -> None:
    task_id, key = world.task(), uuid4().hex
    body = {"expectedStateVersion": 1, "schedulerEpoch": world.epoch}
    first = agent.post(f"/tasks/{task_id}/claim", body, key=key)
    reordered = json.dumps(dict(reversed(list(body.items()))), indent=4).encode()
    again = agent.call("POST", f"/tasks/{task_id}/claim", raw=reordered, key=key)
    assert again.body["attemptId"] == first.body["attemptId"]


def test_a_key_used_for_another_request_is_422(world: World, agent: Caller) -> None:
    task_id, other_id, key = world.task(), world.task(), uuid4().hex
    body = {"expectedStateVersion": 1, "schedulerEpoch": world.epoch}
    assert agent.post(f"/tasks/{task_id}/claim", body, key=key).status == 200
    for path, changed in (
        (f"/tasks/{task_id}/claim", {**body, "ttlSeconds": 60}),
        (f"/tasks/{other_id}/claim", body),
        (f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch}),
    ):
        answer = agent.post(path, changed, key=key)
        assert (answer.status, answer.code, answer.body["retry"]) == (422, "KEY_REUSED", "new_key")
    assert Task.objects.get(id=other_id).state == "OPEN"


def test_another_agents_key_is_another_key(world: World, agent: Caller) -> None:
    world.tasks(2)
    key = uuid4().hex
    first = claim_next(agent, world, key).body["grants"][0]
    second = claim_next(as_agent(world.agents[1]), world, key).body["grants"][0]
    assert first["taskId"] != second["taskId"]


def test_a_refusal_and_an_empty_answer_burn_no_key(world: World, agent: Caller) -> None:
    key = uuid4().hex
    assert claim_next(agent, world, key).body == {"grants": []}
    assert claim_next(agent, world, key, schedulerEpoch=world.epoch + 1).code == "OLD_EPOCH"
    assert not IdempotencyKey.objects.filter(key=key).exists()
    world.task()
    assert len(claim_next(agent, world, key).body["grants"]) == 1


def test_a_repeated_creation_makes_no_second_task(world: World, preparer: Caller) -> None:
    key, body = uuid4().hex, {"pool": world.pool.name, "title": "x", "input": a_specification()}
    first = preparer.post("/tasks", body, key=key)
    assert first.status == 201
    again = preparer.post("/tasks", body, key=key)
    assert (again.status, again.body) == (201, first.body)
    assert Task.objects.filter(pool=world.pool).count() == 1


def test_a_repeated_release_is_answered_as_before_although_the_fence_is_gone(
    world: World, agent: Caller
) -> None:
    grant, key = claimed(world, agent), uuid4().hex
    body = {"fence": grant["fence"], "reason": "no time"}
    first = agent.post(f"/attempts/{grant['attemptId']}/release", body, key=key)
    again = agent.post(f"/attempts/{grant['attemptId']}/release", body, key=key)
    assert (first.status, again.status, again.body) == (200, 200, first.body)
    assert agent.post(f"/attempts/{grant['attemptId']}/release", body).code == "FENCED"


def test_each_renewal_of_a_call_with_a_key_is_made_and_answered_for_itself(
    world: World, agent: Caller
) -> None:
    grants = [claimed(world, agent) for _ in range(2)]
    body = {"renewals": [{"fence": each["fence"], "extendSeconds": 900} for each in grants]}
    first = agent.post("/renewals", body, key="renew-all").body["renewals"]
    leases = dict(Lease.objects.values_list("attempt_id", "expires_at"))
    for grant, told in zip(grants, first, strict=True):
        kept = leases[UUID(grant["attemptId"])]
        assert told["attemptId"] == grant["attemptId"]
        assert told["leaseExpiresAt"] != grant["leaseExpiresAt"]
        assert datetime.fromisoformat(told["leaseExpiresAt"]) == kept
    again = agent.post("/renewals", body, key="renew-all").body["renewals"]
    assert [each["leaseExpiresAt"] for each in again] == [each["leaseExpiresAt"] for each in first]
    other = {"renewals": [{**each, "extendSeconds": 800} for each in body["renewals"]]}
    refused = agent.post("/renewals", other, key="renew-all").body["renewals"]
    assert {each["problem"]["code"] for each in refused} == {"KEY_REUSED"}


def test_an_upload_under_another_fence_is_another_request(world: World, agent: Caller) -> None:
    grant, key = claimed(world, agent), uuid4().hex
    fence, sha256 = grant["fence"], hashlib.sha256(DIFF).hexdigest()
    numbers = f"epoch={fence['schedulerEpoch']}, generation={fence['claimGeneration']}, cancel="

    def put(cancel: int) -> Any:
        headers = {"Fencepost-Fence": f"{numbers}{cancel}"}
        return agent.put(f"/attempts/{grant['attemptId']}/files/{sha256}", DIFF, headers=headers, key=key)

    assert [put(0).status, put(0).status] == [201, 201]
    other = put(7)
    assert (other.status, other.code) == (422, "KEY_REUSED")
