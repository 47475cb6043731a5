"""Graphs, revisions and cancellations over HTTP, and tools that ask (claim.v1 sections 4, 5 and 6)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from claims import tokens, transitions
from claims.models import Task, ToolAcceptance
from claims.outcomes import Cancelled
from claims.vocabulary import ReviewPolicy, Scope
from tests.api.conftest import Answer, Caller, as_agent, claimed
from tests.api.test_effects import executing, move, prepare
from tests.api.test_main_path import ITEM, SHA256, upload
from tests.support.effects import a_slot, with_slots
from tests.support.world import DIFF, World, a_specification, a_world

PLAIN = a_specification(evidence=[])
DIGEST = "sha256:" + "a" * 64


def node(name: str, *after: str, **changes: Any) -> dict[str, Any]:
    named = {"nodeId": name} if name else {}
    return {"title": f"Node {name}", "input": PLAIN, "dependsOn": list(after), "reviewPolicy": "NONE"} | (
        named | changes
    )


def graph(preparer: Caller, world: World, *nodes: dict[str, Any]) -> Answer:
    return preparer.post("/tasks", {"pool": world.pool.name, "tasks": list(nodes)})


def commit(world: World, agent: Caller, task_id: str, result: Any) -> Answer:
    grant = claimed(world, agent, UUID(task_id))
    body = {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": result}
    answer = agent.post(f"/attempts/{grant['attemptId']}/commit", body)
    assert answer.status == 200, answer.body
    return answer


def revise(preparer: Caller, task_id: object, **changes: Any) -> Answer:
    version = Task.objects.values_list("state_version", flat=True).get(id=UUID(str(task_id)))
    headers = changes.pop("headers", {})
    body = {"expectedStateVersion": version, "input": {**PLAIN, "task": "Say it in the list"}, **changes}
    return preparer.post(f"/tasks/{task_id}/revise", body, headers=headers)


def test_a_graph_opens_node_by_node_and_each_grant_carries_what_it_builds_on(
    world: World, agent: Caller, preparer: Caller
) -> None:
    made = graph(preparer, world, node("join", "left", "right"), node("left"), node("right"))
    assert made.status == 201, made.body
    join, left, right = made.body["tasks"]
    assert [each["state"] for each in (join, left, right)] == ["BLOCKED", "OPEN", "OPEN"]
    assert join["inputDigest"] is None

    commit(world, agent, left["taskId"], {"n": 1})
    waiting = agent.get(f"/tasks/{join['taskId']}").body
    assert waiting["blockedBy"] == [f"T-{right['number']} Node right (OPEN)"]
    assert [(each["nodeId"], each["state"]) for each in waiting["predecessors"]] == [
        ("left", "DONE"),
        ("right", "OPEN"),
    ]
    refused = agent.post(
        f"/tasks/{join['taskId']}/claim",
        {"expectedStateVersion": waiting["stateVersion"], "schedulerEpoch": world.epoch},
    )
    assert (refused.status, refused.code) == (409, "NOT_CLAIMABLE")

    committed = commit(world, agent, right["taskId"], {"n": 2}).body
    opened = agent.get(f"/tasks/{join['taskId']}").body
    assert (opened["state"], opened["blockedBy"]) == ("OPEN", [])
    assert [each["nodeId"] for each in opened["pins"]] == ["left", "right"]
    grant = agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch}).body[
        "grants"
    ][0]
    assert [(each["nodeId"], each["result"]) for each in grant["predecessors"]] == [
        ("left", {"n": 1}),
        ("right", {"n": 2}),
    ]
    assert grant["predecessors"][1]["resultDigest"] == committed["resultDigest"]
    assert grant["inputDigest"] == opened["inputDigest"]
    again = agent.get("/attempts/mine").body["grants"][0]
    assert again["predecessors"] == grant["predecessors"]
    done = agent.get(f"/tasks/{right['taskId']}").body
    assert (done["result"], [each["taskId"] for each in done["successors"]]) == ({"n": 2}, [join["taskId"]])


def test_one_task_depends_on_tasks_by_number_and_by_id(world: World, agent: Caller, preparer: Caller) -> None:
    first, second = graph(preparer, world, node("a"), node("")).body["tasks"]
    body = {"pool": world.pool.name, **node("", f"T-{first['number']}", second["taskId"])}
    made = preparer.post("/tasks", body)
    assert (made.status, made.body["tasks"][0]["state"]) == (201, "BLOCKED")
    seen = agent.get(f"/tasks/{made.body['tasks'][0]['taskId']}").body
    assert {each["taskId"] for each in seen["predecessors"]} == {first["taskId"], second["taskId"]}


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ([node("a", "b"), node("b", "a")], "circle"),
        ([node("a", "a")], "circle"),
        ([node("a", "nowhere")], "nowhere"),
        ([node("a"), node("a")], "nodeId a"),
        ([node("a", "T-999999999")], "T-999999999"),
    ],
)
def test_a_graph_that_makes_no_sense_is_422_and_makes_nothing(
    nodes: list[dict[str, Any]], says: str, world: World, preparer: Caller
) -> None:
    answer = graph(preparer, world, *nodes)
    assert (answer.status, answer.code) == (422, "UNPROCESSABLE"), answer.body
    assert says in answer.body["detail"]
    assert not Task.objects.filter(pool=world.pool).exists()


@pytest.mark.parametrize("name", ["", "a b", "T-", "T-x", "Ä", "x" * 121, 5, None])
def test_a_dependency_that_is_badly_written_is_400(name: Any, world: World, preparer: Caller) -> None:
    assert graph(preparer, world, node("a", name)).status == 400


def test_a_task_of_another_pool_is_no_dependency(world: World, preparer: Caller) -> None:
    foreign = a_world()
    number = Task.objects.get(id=foreign.task()).number
    answers = [graph(preparer, world, node("a", f"T-{each}")) for each in (number, 999_999_999)]
    assert [(each.status, each.code) for each in answers] == [(422, "UNPROCESSABLE")] * 2
    details = [each.body["detail"].replace(str(number), "N").replace("999999999", "N") for each in answers]
    assert details[0] == details[1]


def test_a_revision_is_the_next_row_and_ends_every_fence_of_the_one_before(
    world: World, agent: Caller, preparer: Caller
) -> None:
    grant = claimed(world, agent, input=PLAIN)
    key_body = {"title": "Say it twice"}
    made = revise(preparer, grant["taskId"], **key_body)
    assert made.status == 201, made.body
    assert (made.body["revision"], made.body["supersedes"], made.body["state"]) == (
        2,
        grant["taskId"],
        "OPEN",
    )
    old, new = agent.get(f"/tasks/{grant['taskId']}").body, agent.get(f"/tasks/{made.body['taskId']}").body
    assert (old["state"], old["newestRevision"]["taskId"]) == ("SUPERSEDED", made.body["taskId"])
    assert [each["revision"] for each in new["revisions"]] == [2, 1]
    assert (new["title"], new["lineage"]) == ("Say it twice", old["lineage"])
    late = agent.post(
        f"/attempts/{grant['attemptId']}/deliver",
        {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": {}},
    )
    assert (late.status, late.code, late.body["retry"]) == (409, "STALE_INPUT", "never")
    assert late.body["current"]["state"] == "SUPERSEDED"
    again = revise(preparer, grant["taskId"])
    assert (again.status, again.code, again.body["newest"]) == (409, "STALE_STATE", made.body["taskId"])


def test_a_revision_names_the_version_that_was_seen(world: World, preparer: Caller) -> None:
    task_id = world.task()
    assert revise(preparer, task_id, expectedStateVersion=7).code == "STALE_STATE"
    absent = preparer.post(f"/tasks/{task_id}/revise", {"input": PLAIN})
    assert (absent.status, absent.code) == (400, "MALFORMED")
    late = preparer.post(f"/tasks/{task_id}/revise", {"input": PLAIN}, headers={"If-Match": '"7"'})
    assert (late.status, late.code) == (412, "PRECONDITION_FAILED")
    bad = revise(preparer, task_id, input={"task": ""})
    assert (bad.status, bad.body["reasons"][0][:11]) == (400, "/input/task"), bad.body
    made = preparer.post(f"/tasks/{task_id}/revise", {"input": PLAIN}, headers={"If-Match": '"1"'})
    assert made.status == 201


def test_an_effect_of_an_earlier_revision_is_acknowledged_with_the_next_or_later(
    world: World, agent: Caller, preparer: Caller
) -> None:
    slots = with_slots(a_slot(target="https://sink.test/x"), evidence=[])
    grant = claimed(world, agent, input=slots)
    effect_id, permit = executing(agent, grant)
    move(agent, grant, effect_id, "confirm", permitId=permit)

    later = revise(preparer, grant["taskId"], input=slots).body["taskId"]
    second = claimed(world, agent, UUID(later))
    assert [(each["state"], each["revision"], each["acknowledged"]) for each in second["effects"]] == [
        ("COMMITTED", 1, None)
    ]
    unanswered = prepare(agent, second)
    assert (unanswered.code, unanswered.body["current"]["effect"]["effectId"]) == (
        "MUST_RECONCILE",
        effect_id,
    )
    said = {"effectId": effect_id, "counts": True, "reason": "It is the same mail"}
    told = preparer.post(f"/tasks/{later}/acknowledge", said)
    assert (told.status, told.body["counts"]) == (200, True)
    assert prepare(agent, second).code == "SLOT_MISMATCH"
    twice = preparer.post(f"/tasks/{later}/acknowledge", said)
    assert (twice.status, twice.code) == (409, "STALE_STATE")

    again = revise(preparer, later, input=slots, acknowledge=[{**said, "counts": False}])
    assert again.status == 201, again.body
    third = claimed(world, agent, UUID(again.body["taskId"]))
    assert prepare(agent, third).body["state"] == "PREPARED"
    none = preparer.post(f"/tasks/{again.body['taskId']}/acknowledge", {**said, "effectId": "a" * 64})
    assert (none.status, none.code) == (422, "UNPROCESSABLE")


def test_after_a_cancellation_nothing_is_accepted_and_a_second_one_answers_the_same(
    world: World, agent: Caller, preparer: Caller
) -> None:
    grant, body = claimed(world, agent, input=PLAIN), {"reason": "no longer wanted"}
    first = preparer.post(f"/tasks/{grant['taskId']}/cancel", body)
    assert (first.status, first.body["state"], first.body["cancelGeneration"]) == (200, "CANCELLED", 1)
    assert preparer.post(f"/tasks/{grant['taskId']}/cancel", body).body == first.body
    for verb, more in (("renew", {"extendSeconds": 60}), ("progress", {"note": "x"})):
        late = agent.post(f"/attempts/{grant['attemptId']}/{verb}", {"fence": grant["fence"], **more})
        assert (late.status, late.code, late.body["current"]["state"]) == (409, "CANCELLED", "CANCELLED")
    assert preparer.post(f"/tasks/{grant['taskId']}/cancel", {"reason": ""}).status == 400
    seen = agent.get(f"/attempts/{grant['attemptId']}?waitSeconds=20").body
    assert (seen["live"], seen["outcome"], seen["current"]["cancelGeneration"]) == (False, "CANCELLED", 1)


def test_a_cancellation_after_the_commit_is_too_late_and_of_an_old_revision_is_stale(
    world: World, agent: Caller, preparer: Caller
) -> None:
    task_id = world.task(review_policy=ReviewPolicy.NONE, input=PLAIN)
    commit(world, agent, str(task_id), {})
    late = preparer.post(f"/tasks/{task_id}/cancel", {"reason": "x"})
    assert (late.status, late.code, late.body["retry"]) == (409, "TOO_LATE", "never")
    assert late.body["current"]["resultCommitId"]
    old = world.task()
    newest = revise(preparer, old).body["taskId"]
    stale = preparer.post(f"/tasks/{old}/cancel", {"reason": "x"})
    assert (stale.status, stale.code, stale.body["newest"]) == (409, "STALE_STATE", newest)


def test_an_agent_neither_cancels_nor_revises_and_a_viewer_may_not(world: World, agent: Caller) -> None:
    task_id = world.task()
    viewer = Caller(tokens.mint(person_id=world.owner.id).token)
    for caller in (agent, viewer):
        assert caller.post(f"/tasks/{task_id}/cancel", {"reason": "x"}).status == 403
        assert revise(caller, task_id).status == 403
    stranger = Caller(tokens.mint(person_id=a_world().preparer.id).token)
    assert stranger.post(f"/tasks/{task_id}/cancel", {"reason": "x"}).status == 404


def test_a_waiting_runner_hears_at_once_that_its_task_is_cancelled(
    world: World, agent: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = claimed(world, agent)

    def end(_seconds: float) -> None:
        done = transitions.cancel(world.person(world.preparer), UUID(grant["taskId"]), "no longer wanted")
        assert isinstance(done, Cancelled)

    monkeypatch.setattr("claims.api.waiting.time.sleep", end)
    seen = agent.get(f"/attempts/{grant['attemptId']}?waitSeconds=20").body
    assert (seen["live"], seen["outcome"], seen["current"]["state"]) == (False, "CANCELLED", "CANCELLED")


def accept_tool(caller: Caller, grant: dict[str, Any], **changes: Any) -> Answer:
    body = {"fence": grant["fence"], "tool": "git.push", "argsDigest": DIGEST, **changes}
    return caller.post(f"/attempts/{grant['attemptId']}/accept-tool", body)


def test_a_tool_asks_whether_a_claim_still_stands(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = accept_tool(agent, grant)
    assert (answer.status, answer.body["outcome"], answer.body["tool"]) == (200, "ACCEPTED", "git.push")
    assert ToolAcceptance.objects.get(attempt_id=grant["attemptId"]).args_digest == DIGEST
    agent.post(f"/attempts/{grant['attemptId']}/release", {"fence": grant["fence"], "reason": "x"})
    assert accept_tool(agent, grant).code == "FENCED"


def test_a_gateway_asks_about_the_claims_of_others_and_does_nothing_else(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    gateway = as_agent(world.agents[1], scopes=[Scope.TOOL])
    assert accept_tool(gateway, grant).status == 200
    assert accept_tool(as_agent(world.agents[1]), grant).code == "FENCED"
    late = {**grant["fence"], "claimGeneration": grant["fence"]["claimGeneration"] + 1}
    assert accept_tool(gateway, grant, fence=late).code == "FENCED"
    renewal = {"fence": grant["fence"], "extendSeconds": 60}
    assert gateway.post(f"/attempts/{grant['attemptId']}/renew", renewal).status == 403
    assert gateway.get(f"/tasks/{grant['taskId']}").status == 403
    foreign = a_world()
    assert accept_tool(as_agent(foreign.agents[0], scopes=[Scope.TOOL]), grant).status == 404
    for wrong in ({"tool": "Git Push"}, {"argsDigest": "x"}, {"args": {}}):
        assert accept_tool(gateway, grant, **wrong).status == 400


def test_what_a_lost_attempt_cost_is_kept_and_shown_as_discarded(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    at = f"/attempts/{grant['attemptId']}"
    assert (
        agent.post(f"{at}/progress", {"fence": grant["fence"], "note": "x", "cost": {"tokens": 5}}).status
        == 200
    )
    body = {"fence": grant["fence"], "reason": "no time", "cost": {"tokens": 9, "seconds": 1.5}}
    assert agent.post(f"{at}/release", body).status == 200
    late = {"fence": grant["fence"], "note": "x", "cost": {"tokens": 12}}
    assert agent.post(f"{at}/progress", late).code == "FENCED"
    cost = agent.get(f"/tasks/{grant['taskId']}").body["cost"]
    assert (cost["discarded"]["RELEASED"]["tokens"], cost["inWork"]["attempts"]) == (12, 0)
    assert agent.get(at).body["cost"] == {"tokens": 12, "seconds": 1.5}
    falling = claimed(world, agent)
    at = f"/attempts/{falling['attemptId']}"
    agent.post(f"{at}/progress", {"fence": falling["fence"], "note": "x", "cost": {"tokens": 5}})
    less = agent.post(f"{at}/progress", {"fence": falling["fence"], "note": "x", "cost": {"tokens": 4}})
    assert (less.status, less.code) == (400, "MALFORMED")


def test_a_token_of_one_attempt_reads_the_files_of_what_it_builds_on_and_no_others(
    world: World, agent: Caller, preparer: Caller
) -> None:
    first, second = graph(preparer, world, node("a"), node("b", "a")).body["tasks"]
    grant = claimed(world, agent, UUID(first["taskId"]))
    upload(agent, grant)
    work = {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": {}, "evidence": [ITEM]}
    assert agent.post(f"/attempts/{grant['attemptId']}/commit", work).status == 200
    after = claimed(world, agent, UUID(second["taskId"]))
    assert after["predecessors"][0]["evidence"][0]["sha256"] == SHA256
    narrow = as_agent(world.agents[0], attempt_id=UUID(after["attemptId"]))
    file = f"/attempts/{grant['attemptId']}/files/{SHA256}"
    assert narrow.get(file).body == DIFF
    other = claimed(world, agent)
    upload(agent, other)
    assert narrow.get(f"/attempts/{other['attemptId']}/files/{SHA256}").status == 404
    assert narrow.put(file, DIFF).status == 404
