"""What can be read over HTTP, and that reading changes nothing."""

from __future__ import annotations

import json
import threading
import time

import pytest
from django.test import override_settings

from claims import transitions
from claims.api import waiting
from claims.models import History, Task
from claims.outcomes import RULES, Decided, Noted
from claims.vocabulary import Right, Verdict
from tests.api.conftest import Caller, as_agent, claimed
from tests.support.world import World, a_specification, judgement


def test_an_agent_reads_who_it_is(world: World, agent: Caller) -> None:
    body = agent.get("/whoami").body
    assert (body["agent"], body["owner"], body["labels"]) == (world.agents[0].name, world.owner.username, [])
    assert body["pools"] == [
        {"pool": world.pool.name, "schedulerEpoch": world.epoch, "gate": "OPEN", "rights": ["RUNNER"]}
    ]
    assert "person" not in body


def test_a_person_reads_who_they_are(world: World, preparer: Caller) -> None:
    body = preparer.get("/whoami").body
    assert (body["person"], body["scopes"]) == (world.preparer.username, ["prepare", "read"])
    assert body["pools"][0]["rights"] == [Right.PREPARER, Right.VIEWER]


def test_a_pool_shows_its_counts_and_what_keeps_it_from_being_drained(world: World, agent: Caller) -> None:
    world.task()
    claimed(world, agent)
    world.delivered()
    body = agent.get(f"/pools/{world.pool.name}").body
    assert (body["counts"]["OPEN"], body["counts"]["CLAIMED"], body["counts"]["DELIVERED"]) == (1, 1, 1)
    drain = body["drain"]
    assert drain["drained"] is False
    assert (drain["claims"]["count"], drain["claims"]["quiet"], drain["deliveries"]["count"]) == (1, 0, 1)
    assert drain["effects"] == {"count": 0, "blockers": []}
    assert drain["deliveries"]["blockers"][0]["what"] == "round 1"
    assert body["policies"]["allowsUnreviewed"] is True


def test_tasks_come_in_pages_that_miss_none_and_repeat_none(world: World, agent: Caller) -> None:
    made = [str(task_id) for task_id in world.tasks(5)]
    first = agent.get(f"/tasks?pool={world.pool.name}&limit=2").body
    second = agent.get(f"/tasks?pool={world.pool.name}&limit=2&cursor={first['next']}").body
    third = agent.get(f"/tasks?pool={world.pool.name}&limit=2&cursor={second['next']}").body
    seen = [task["taskId"] for page in (first, second, third) for task in page["tasks"]]
    assert (sorted(seen), third["next"]) == (sorted(made), None)


def test_tasks_are_found_by_state_label_number_and_words_as_they_are(world: World, agent: Caller) -> None:
    plain, browser = (
        world.task(title="50% _off_"),
        world.task(title="Other", input=a_specification(access=["browser"])),
    )
    claimed(world, agent, plain)
    number = Task.objects.get(id=browser).number

    def found(query: str) -> list[str]:
        return [task["taskId"] for task in agent.get(f"/tasks?{query}").body["tasks"]]

    assert found("state=CLAIMED") == [str(plain)]
    assert found("label=browser") == [str(browser)]
    assert found(f"q=T-{number}") == [str(browser)]
    assert found("q=50%25 _OFF") == [str(plain)]
    assert found("q=%25") == [str(plain)]
    assert found("q=(((((a%2B)%2B)%2B$") == []


def test_a_task_has_its_version_as_etag(world: World, agent: Caller, preparer: Caller) -> None:
    task_id = world.task()
    answer = agent.get(f"/tasks/{task_id}")
    assert (answer.headers["ETag"], answer.body["input"]["task"]) == ('"1"', a_specification()["task"])
    assert agent.get(f"/tasks/{task_id}", headers={"If-None-Match": '"1"'}).status == 304
    adjusted = preparer.post(f"/tasks/{task_id}/adjust", {"priority": 1}, headers={"If-Match": '"1"'})
    assert (adjusted.status, adjusted.body["stateVersion"], adjusted.body["changed"]) == (
        200,
        2,
        ["priority"],
    )
    late = preparer.post(f"/tasks/{task_id}/adjust", {"priority": 3}, headers={"If-Match": '"1"'})
    assert (late.status, late.code) == (412, "PRECONDITION_FAILED")
    by_body = preparer.post(f"/tasks/{task_id}/adjust", {"priority": 3, "expectedStateVersion": 1})
    assert (by_body.status, by_body.code) == (409, "STALE_STATE")
    assert preparer.post(f"/tasks/{task_id}/adjust", {"priority": 3}, headers={"If-Match": "x"}).status == 400


def test_adjusting_touches_only_what_was_sent(world: World, preparer: Caller) -> None:
    task_id = world.task(priority=4)
    body = {
        "notBefore": "2030-01-01T00:00:00Z",
        "reviewer": world.reviewer.username,
        "reclaimPolicy": "AUTO",
        "maxAttempts": 5,
    }
    assert preparer.post(f"/tasks/{task_id}/adjust", body).status == 200
    task = Task.objects.get(id=task_id)
    assert (task.priority, task.reviewer_id, task.reclaim_policy, task.max_attempts) == (
        4,
        world.reviewer.id,
        "AUTO",
        5,
    )
    assert preparer.post(f"/tasks/{task_id}/adjust", {"notBefore": None, "reviewer": None}).status == 200
    task.refresh_from_db()
    assert (task.not_before, task.reviewer_id) == (None, None)
    for wrong in ({"title": None}, {"priority": None}, {"maxAttempts": 0}, {"state": "DONE"}, {"title": ""}):
        assert preparer.post(f"/tasks/{task_id}/adjust", wrong).status == 400


def test_history_and_refusals_are_read_in_pages(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    agent.post(f"/attempts/{grant['attemptId']}/release", {"fence": grant["fence"], "reason": "no time"})
    told = agent.get(f"/tasks/{grant['taskId']}/history?limit=2").body
    assert [row["verb"] for row in told["history"]] == ["create", "claim"]
    rest = agent.get(f"/tasks/{grant['taskId']}/history?after={told['next']}").body
    assert ([row["verb"] for row in rest["history"]], rest["next"]) == (["release"], None)
    for _ in range(3):
        agent.post(f"/attempts/{grant['attemptId']}/progress", {"fence": grant["fence"], "note": "x"})
    page = agent.get(f"/tasks/{grant['taskId']}/refusals?limit=2").body
    rest = agent.get(f"/tasks/{grant['taskId']}/refusals?limit=2&before={page['next']}").body
    assert (len(page["refusals"]), len(rest["refusals"]), rest["next"]) == (2, 1, None)


def test_a_runner_reads_its_live_grants_again(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    claimed(world, as_agent(world.agents[1]))
    mine = agent.get("/attempts/mine").body["grants"]
    assert [each["fence"] for each in mine] == [grant["fence"]]
    assert mine[0]["input"] == grant["input"]


def test_a_runner_reads_what_the_reviewer_decided(world: World, agent: Caller) -> None:
    delivery = world.delivered()
    decided = transitions.request_changes(
        world.person(world.reviewer),
        delivery.id,
        judgement(delivery, Verdict.NOT_MET, "Say it in the list, too"),
    )
    assert isinstance(decided, Decided)
    seen = agent.get(f"/deliveries/{delivery.id}").body
    assert (seen["state"], seen["decision"]["decision"]) == ("CHANGES_REQUESTED", "CHANGES_REQUESTED")
    old = agent.get(f"/attempts/{delivery.attempt_id}").body
    assert (old["live"], old["delivery"]["decision"]) == (False, "CHANGES_REQUESTED")
    grant = agent.get("/attempts/mine").body["grants"][0]
    assert (grant["round"], grant["lastReview"]["decision"]) == (2, "CHANGES_REQUESTED")
    assert grant["lastReview"]["verdicts"][0] == {
        "criterion": 1,
        "verdict": "NOT_MET",
        "note": "Say it in the list, too",
    }


def test_a_nudge_is_news_for_a_waiting_runner_and_its_next_renewal_says_so(
    world: World, agent: Caller
) -> None:
    grant = claimed(world, agent)
    assert agent.get(f"/attempts/{grant['attemptId']}").body["nudged"] is False
    task = Task.objects.get(id=grant["taskId"])
    assert isinstance(
        transitions.nudge(world.person(world.operator), task.id, world.sighting(task.id, even_if_live=True)),
        Noted,
    )
    assert agent.get(f"/attempts/{grant['attemptId']}").body["nudged"] is True
    renewed = agent.post(
        f"/attempts/{grant['attemptId']}/renew", {"fence": grant["fence"], "extendSeconds": 60}
    )
    assert renewed.body["nudged"] is True


def test_waiting_ends_with_its_seconds_or_at_once_where_the_claim_is_lost(
    world: World, agent: Caller
) -> None:
    grant = claimed(world, agent)
    started = time.monotonic()
    assert agent.get(f"/attempts/{grant['attemptId']}?waitSeconds=1").body["live"] is True
    assert 0.9 < time.monotonic() - started < 5
    agent.post(f"/attempts/{grant['attemptId']}/release", {"fence": grant["fence"], "reason": "x"})
    started = time.monotonic()
    assert agent.get(f"/attempts/{grant['attemptId']}?waitSeconds=20").body["live"] is False
    assert time.monotonic() - started < 2
    assert agent.get(f"/attempts/{grant['attemptId']}?waitSeconds=26").status == 400


def test_one_more_than_may_wait_is_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_places", threading.BoundedSemaphore(1))
    inside, go_on = threading.Event(), threading.Event()
    looks = iter([0, 1])

    def look() -> int:
        seen = next(looks)
        if seen:
            inside.set()
            go_on.wait(10)
        return seen

    first = threading.Thread(target=waiting.wait_for, args=(look, bool, 20, int))
    first.start()
    assert inside.wait(10)
    started = time.monotonic()
    assert waiting.wait_for(lambda: 0, bool, 20, int) == 0
    assert time.monotonic() - started < 1
    go_on.set()
    first.join(10)
    assert not first.is_alive()


def test_the_openapi_document_names_every_call_and_no_other(nobody: Caller) -> None:
    document = nobody.get("/openapi.json").body
    assert document["openapi"].startswith("3.1")
    assert sorted(document["paths"]) == sorted(f"/api/v1{path}" for path in PATHS)
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for operation in operations:
        assert "application/problem+json" in operation["responses"]["default"]["content"]
        assert operation["description"]
    assert set(document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]) >= set(RULES)
    references = set(_references(document))
    assert {reference.rsplit("/", 1)[-1] for reference in references} <= set(
        document["components"]["schemas"]
    )


PATHS = [
    "/whoami", "/pools/{pool}", "/pools/{pool}/claim-next", "/tasks", "/tasks/{task_id}", "/tasks/{task_id}/history",
    "/tasks/{task_id}/refusals", "/tasks/{task_id}/record", "/tasks/{task_id}/adjust", "/tasks/{task_id}/revise", "/tasks/{task_id}/cancel",
    "/tasks/{task_id}/acknowledge", "/tasks/{task_id}/claim", "/attempts/mine", "/attempts/{attempt_id}",
    "/attempts/{attempt_id}/renew", "/attempts/{attempt_id}/progress", "/attempts/{attempt_id}/release", "/attempts/{attempt_id}/fail",
    "/attempts/{attempt_id}/accept-tool", "/attempts/{attempt_id}/effects", "/attempts/{attempt_id}/stage",
    "/attempts/{attempt_id}/deliver", "/attempts/{attempt_id}/commit", "/attempts/{attempt_id}/files/{sha256}", "/renewals",
    "/effects/{effect_id}", "/effects/{effect_id}/execute", "/effects/{effect_id}/confirm", "/effects/{effect_id}/unknown",
    "/effects/{effect_id}/hand-back", "/effects/{effect_id}/abandon", "/effects/{effect_id}/reconcile",
    "/deliveries/{delivery_id}", "/deliveries/{delivery_id}/files/{sha256}", "/events",
]  # fmt: skip


def _references(part: object) -> list[str]:
    if isinstance(part, dict):
        own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
        return own + [found for inner in part.values() for found in _references(inner)]
    return [found for inner in part for found in _references(inner)] if isinstance(part, list) else []


def test_reading_changes_nothing(world: World, agent: Caller) -> None:
    delivery = world.delivered()
    before = History.objects.count(), Task.objects.get(id=delivery.task_id).state_version
    for path in (
        "/whoami", f"/pools/{world.pool.name}", "/tasks", f"/tasks/{delivery.task_id}", f"/tasks/{delivery.task_id}/history",
        f"/tasks/{delivery.task_id}/refusals", "/attempts/mine", f"/attempts/{delivery.attempt_id}", f"/deliveries/{delivery.id}", "/events",
    ):  # fmt: skip
        for method in ("GET", "HEAD"):
            assert agent.call(method, path).status in (200, 405), path
    assert (History.objects.count(), Task.objects.get(id=delivery.task_id).state_version) == before


@override_settings(DEBUG=False)
def test_a_fault_of_the_server_says_nothing_of_its_inside(
    world: World, agent: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret of the house")

    monkeypatch.setattr("claims.api.reads.selectors.pools_of", broken)
    answer = agent.get("/whoami")
    assert (answer.status, answer.body["code"], answer.body["retry"]) == (500, "FAULT", "same_key")
    assert "secret" not in json.dumps(answer.body)
