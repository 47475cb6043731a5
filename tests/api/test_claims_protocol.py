"""Fences, versions, epochs and digests over HTTP (scenarios, "Bad inputs" 59 to 71 and 79 to 82)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from claims.models import Attempt, EvidenceFile, Lease, Pool, Refusal, Task
from claims.vocabulary import Gate, ReclaimPolicy, ReviewPolicy
from tests.api.conftest import Answer, Caller, as_agent, claimed
from tests.api.test_main_path import ITEM, upload
from tests.support.world import World, a_specification, expire

VERBS: dict[str, dict[str, Any]] = {
    "renew": {"extendSeconds": 60},
    "progress": {"note": "reading"},
    "release": {"reason": "no time"},
    "fail": {"reason": "cannot", "retryable": True},
    "deliver": {"inputDigest": "", "result": {}},
    "commit": {"inputDigest": "", "result": {}},
}


def write(
    agent: Caller, grant: dict[str, Any], verb: str, fence: dict[str, Any] | None = None, **changes: Any
) -> Answer:
    body = {"fence": fence or grant["fence"], **VERBS[verb], **changes}
    if "inputDigest" in body and not body["inputDigest"]:
        body["inputDigest"] = grant["inputDigest"]
    return agent.post(f"/attempts/{grant['attemptId']}/{verb}", body)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("field", "by", "code"),
    [
        ("claimGeneration", -1, "FENCED"),
        ("claimGeneration", 1, "FENCED"),
        ("schedulerEpoch", -1, "FENCED"),
        ("schedulerEpoch", 1, "FENCED"),
        ("cancelGeneration", 1, "CANCELLED"),
    ],
)
def test_a_fence_with_another_number_writes_nothing(
    verb: str, field: str, by: int, code: str, world: World, agent: Caller
) -> None:
    grant = claimed(world, agent)
    before = (
        Task.objects.get(id=grant["taskId"]).state_version,
        Lease.objects.get(task_id=grant["taskId"]).expires_at,
    )
    answer = write(agent, grant, verb, {**grant["fence"], field: grant["fence"][field] + by})
    assert (answer.status, answer.code) == (409, code), answer.body
    assert answer.body["current"]["claimGeneration"] == grant["fence"]["claimGeneration"]
    after = (
        Task.objects.get(id=grant["taskId"]).state_version,
        Lease.objects.get(task_id=grant["taskId"]).expires_at,
    )
    assert after == before
    assert Refusal.objects.filter(task_id=grant["taskId"], why=code).count() == 1


@pytest.mark.parametrize("verb", VERBS)
def test_another_agents_token_cannot_use_a_fence(verb: str, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = write(as_agent(world.agents[1]), grant, verb)
    assert (answer.status, answer.code) == (409, "FENCED"), answer.body


@pytest.mark.parametrize("verb", VERBS)
def test_the_fence_is_of_the_attempt_in_the_address(verb: str, world: World, agent: Caller) -> None:
    grant, other = claimed(world, agent), claimed(world, agent)
    answer = write(agent, grant, verb, other["fence"])
    assert (answer.status, answer.code) == (400, "MALFORMED")
    mixed = write(agent, grant, verb, {**grant["fence"], "taskId": other["taskId"]})
    assert (mixed.status, mixed.code) == (404, "NOT_FOUND")


@pytest.mark.parametrize("verb", VERBS)
def test_a_body_that_knows_no_fence_is_told_to_upgrade(verb: str, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    bare = agent.post(f"/attempts/{grant['attemptId']}/{verb}", {"unknown": True})
    assert (bare.status, bare.code) == (426, "UPGRADE_REQUIRED")
    fence = {name: value for name, value in grant["fence"].items() if name != "claimGeneration"}
    assert write(agent, grant, verb, fence).code == "UPGRADE_REQUIRED"
    without = {name: value for name, value in grant["fence"].items() if name != "attemptId"}
    assert write(agent, grant, verb, without).code == "MALFORMED"


def test_claiming_without_an_epoch_is_told_to_upgrade(world: World, agent: Caller) -> None:
    task_id = world.task()
    assert agent.post(f"/tasks/{task_id}/claim", {"expectedStateVersion": 1}).status == 426
    assert agent.post(f"/pools/{world.pool.name}/claim-next", {}).status == 426
    assert agent.post(f"/tasks/{task_id}/claim", {"schedulerEpoch": world.epoch}).status == 400


@pytest.mark.parametrize(
    "field", ["taskId", "attemptId", "schedulerEpoch", "claimGeneration", "cancelGeneration"]
)
@pytest.mark.parametrize("value", [None, True, 1.5, [], {}, "", "x", -1, 2**53])
def test_a_fence_field_of_another_type_is_400(field: str, value: Any, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = write(agent, grant, "renew", {**grant["fence"], field: value})
    assert (answer.status, answer.code) == (400, "MALFORMED"), answer.body


@pytest.mark.parametrize(
    "digest", ["", "sha256:" + "A" * 64, "a" * 64, "sha1:" + "a" * 40, "sha256:" + "a" * 63, 5, None]
)
@pytest.mark.parametrize("verb", ["deliver", "commit"])
def test_a_digest_that_is_badly_written_is_400(verb: str, digest: Any, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    body = {"fence": grant["fence"], "result": {}, "inputDigest": digest}
    answer = agent.post(f"/attempts/{grant['attemptId']}/{verb}", body)
    assert (answer.status, answer.code) == (400, "MALFORMED")


@pytest.mark.parametrize("verb", ["deliver", "commit"])
def test_another_input_digest_is_stale(verb: str, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = write(agent, grant, verb, inputDigest="sha256:" + "0" * 64)
    assert (answer.status, answer.code) == (409, "STALE_INPUT")


@pytest.mark.parametrize("seconds", [0, -1, 10**9, 1.5, "5m", None, True])
def test_a_renewal_is_never_clamped_in_silence(seconds: Any, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = write(agent, grant, "renew", extendSeconds=seconds)
    assert (answer.status, answer.code) == (400, "MALFORMED")


def test_a_renewal_beyond_what_the_pool_allows_is_400_and_beyond_the_window_409(
    world: World, agent: Caller
) -> None:
    grant = claimed(world, agent)
    assert write(agent, grant, "renew", extendSeconds=world.pool.max_ttl_seconds + 1).code == "MALFORMED"
    Pool.objects.filter(id=world.pool.id).update(max_ttl_seconds=world.pool.window_seconds)
    answer = write(agent, grant, "renew", extendSeconds=world.pool.window_seconds)
    assert (answer.status, answer.code) == (409, "WINDOW_EXCEEDED")
    assert answer.body["legalActions"] == ["deliver", "release"]


def test_a_renewal_after_expiry_recovers_while_the_generation_is_current(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    expire(Task.objects.get(id=grant["taskId"]).id)
    answer = write(agent, grant, "renew")
    assert (answer.status, answer.body["recovered"]) == (200, True)


def test_a_renewal_after_the_claim_moved_on_leaves_the_other_lease_as_it_was(
    world: World, agent: Caller
) -> None:
    grant = claimed(world, agent, reclaim_policy=ReclaimPolicy.AUTO)
    task = Task.objects.get(id=grant["taskId"])
    expire(task.id)
    claimed(world, as_agent(world.agents[1]), task.id)
    before = Lease.objects.get(task_id=task.id).expires_at
    assert write(agent, grant, "renew").code == "FENCED"
    assert Lease.objects.get(task_id=task.id).expires_at == before


def test_delivering_without_the_evidence_that_was_asked_for_is_422(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = write(agent, grant, "deliver")
    assert (answer.status, answer.code) == (422, "THIN_EVIDENCE")
    assert answer.body["reasons"] == ["diff diff"]


def test_delivering_evidence_of_another_attempt_or_size_is_400(world: World, agent: Caller) -> None:
    grant, other = claimed(world, agent), claimed(world, agent)
    upload(agent, other)
    assert write(agent, grant, "deliver", evidence=[ITEM]).status == 400
    upload(agent, grant)
    assert write(agent, grant, "deliver", evidence=[{**ITEM, "size": 1}]).status == 400
    assert write(agent, grant, "deliver", evidence=[ITEM], resultDigest="sha256:" + "0" * 64).status == 400
    assert write(agent, grant, "deliver", evidence=[ITEM]).status == 200


def test_delivering_or_committing_what_was_not_staged_is_409(world: World, agent: Caller) -> None:
    grant = claimed(world, agent, review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))
    body = {"fence": grant["fence"], "inputDigest": grant["inputDigest"]}
    for verb in ("deliver", "commit"):
        answer = agent.post(f"/attempts/{grant['attemptId']}/{verb}", body)
        assert (answer.status, answer.code) == (409, "NOT_STAGED")


def test_committing_a_task_that_asks_for_review_is_409(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = write(agent, grant, "commit")
    assert (answer.status, answer.code, answer.body["legalActions"]) == (409, "REVIEW_REQUIRED", ["deliver"])


def test_committing_twice_is_answered_twice_and_another_result_never(world: World, agent: Caller) -> None:
    grant = claimed(world, agent, review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))
    first = write(agent, grant, "commit", result={"answer": 42})
    assert write(agent, grant, "commit", result={"answer": 42}).body == first.body
    other = write(agent, grant, "commit", result={"answer": 43})
    assert (other.status, other.code) == (409, "ALREADY_COMMITTED")


def test_staging_and_delivering_by_digest(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    upload(agent, grant)
    at = f"/attempts/{grant['attemptId']}"
    staged = agent.post(f"{at}/stage", {"fence": grant["fence"], "result": {"n": 1}, "evidence": [ITEM]})
    assert (staged.status, staged.body["late"]) == (200, False)
    body = {
        "fence": grant["fence"],
        "inputDigest": grant["inputDigest"],
        "resultDigest": staged.body["resultDigest"],
    }
    first = agent.post(f"{at}/deliver", body, key=None)
    assert first.status == 200, first.body
    assert agent.post(f"{at}/deliver", body, key=None).body == first.body


def test_nothing_to_claim_is_an_empty_answer_with_a_hint(world: World, agent: Caller) -> None:
    answer = agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch})
    assert (answer.status, answer.body, answer.headers["Retry-After"]) == (200, {"grants": []}, "1")


def test_an_old_epoch_and_a_closed_gate_say_so(world: World, agent: Caller) -> None:
    world.task()
    old = agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch - 1})
    assert (old.status, old.code) == (409, "OLD_EPOCH")
    Pool.objects.filter(id=world.pool.id).update(gate=Gate.DRAINING)
    closed = agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch})
    assert (closed.status, closed.code) == (409, "GATE_CLOSED")


def test_a_task_that_cannot_be_claimed_says_every_reason(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = as_agent(world.agents[1]).post(
        f"/tasks/{grant['taskId']}/claim",
        {"expectedStateVersion": grant["stateVersion"], "schedulerEpoch": world.epoch},
    )
    assert (answer.status, answer.code) == (409, "NOT_CLAIMABLE")
    assert answer.body["current"]["runner"] == world.agents[0].name
    assert len(answer.body["reasons"]) == 1


def test_a_task_that_needs_a_label_is_not_for_an_agent_without_it(world: World, agent: Caller) -> None:
    task_id = world.task(input=a_specification(access=["browser"]))
    answer = agent.post(f"/tasks/{task_id}/claim", {"expectedStateVersion": 1, "schedulerEpoch": world.epoch})
    assert (answer.status, answer.code) == (409, "NOT_ELIGIBLE")
    assert agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch}).body == {
        "grants": []
    }


@pytest.mark.parametrize("count", [0, 101, -1, 1.0, "1", None])
def test_more_grants_than_a_call_gives_are_refused(count: Any, world: World, agent: Caller) -> None:
    answer = agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch, "max": count})
    assert (answer.status, answer.code) == (400, "MALFORMED")


def test_several_grants_come_in_the_order_of_their_priority(world: World, agent: Caller) -> None:
    late, early = world.task(priority=5), world.task(priority=1)
    answer = agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch, "max": 10})
    assert [grant["taskId"] for grant in answer.body["grants"]] == [str(early), str(late)]


def test_evidence_from_a_lost_fence_is_kept_apart_and_its_delivery_is_fenced(
    world: World, agent: Caller
) -> None:
    grant = claimed(world, agent, reclaim_policy=ReclaimPolicy.AUTO)
    task = Task.objects.get(id=grant["taskId"])
    expire(task.id)
    claimed(world, as_agent(world.agents[1]), task.id)
    assert upload(agent, grant) == 201
    assert EvidenceFile.objects.get(attempt_id=grant["attemptId"]).late
    staged = agent.post(
        f"/attempts/{grant['attemptId']}/stage", {"fence": grant["fence"], "evidence": [ITEM]}
    )
    assert (staged.status, staged.body["late"]) == (200, True)
    answer = write(agent, grant, "deliver", evidence=[ITEM])
    assert (answer.status, answer.code) == (409, "FENCED")
    told = agent.get(f"/tasks/{task.id}/refusals").body["refusals"]
    assert (told[0]["verb"], told[0]["code"], told[0]["presented"]["claimGeneration"]) == (
        "deliver",
        "FENCED",
        1,
    )


def test_a_batch_of_renewals_answers_each_for_itself(world: World, agent: Caller) -> None:
    first, second = claimed(world, agent), claimed(world, agent)
    lost = {**second["fence"], "claimGeneration": 9}
    stranger = {**first["fence"], "attemptId": str(uuid4())}
    renewals = [{"fence": fence, "extendSeconds": 60} for fence in (first["fence"], lost, stranger)]
    answer = agent.post("/renewals", {"renewals": renewals}, key=None)
    told = answer.body["renewals"]
    assert answer.status == 200
    assert told[0]["recovered"] is False
    assert [each["problem"]["code"] for each in told[1:]] == ["FENCED", "NOT_FOUND"]
    assert agent.post("/renewals", {"renewals": []}).status == 400
    assert agent.post("/renewals", {}).status == 400


def test_an_attempt_is_counted_when_it_is_granted_only_once(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    assert write(agent, grant, "release").body["state"] == "OPEN"
    assert Attempt.objects.get(id=grant["attemptId"]).outcome == "RELEASED"
    assert Task.objects.get(id=grant["taskId"]).attempts_used == 1


@pytest.mark.parametrize("verb", ["deliver", "commit", "stage"])
def test_a_lost_fence_is_told_so_before_anybody_looks_for_its_files(
    verb: str, world: World, agent: Caller
) -> None:
    grant = claimed(world, agent, review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))
    fence = {**grant["fence"], "claimGeneration": grant["fence"]["claimGeneration"] + 1}
    body = {"fence": fence, "result": {}, "evidence": [ITEM]}
    body |= {} if verb == "stage" else {"inputDigest": grant["inputDigest"]}
    answer = agent.post(f"/attempts/{grant['attemptId']}/{verb}", body)
    assert (answer.status, answer.code) == (409, "FENCED")
    honest = agent.post(f"/attempts/{grant['attemptId']}/{verb}", {**body, "fence": grant["fence"]})
    assert (honest.status, honest.body["reasons"]) == (400, [ITEM["name"]])


def test_claim_next_is_refused_with_what_is_true_of_the_pool_and_of_no_task(
    world: World, agent: Caller
) -> None:
    world.tasks(3)
    body = {"schedulerEpoch": world.epoch, "max": 2}
    old = agent.post(f"/pools/{world.pool.name}/claim-next", {**body, "schedulerEpoch": world.epoch + 1})
    assert old.body["current"] == {"schedulerEpoch": world.epoch, "gate": "OPEN"}
    Pool.objects.filter(id=world.pool.id).update(gate=Gate.DRAINING)
    closed = agent.post(f"/pools/{world.pool.name}/claim-next", body)
    assert (closed.code, closed.body["current"]["gate"]) == ("GATE_CLOSED", "DRAINING")
    Pool.objects.filter(id=world.pool.id).update(gate=Gate.OPEN)
    world.agents[0].is_disabled = True
    world.agents[0].save()
    disabled = agent.post(f"/pools/{world.pool.name}/claim-next", body)
    assert (disabled.code, "current" in disabled.body) == ("NOT_ELIGIBLE", False)
