"""Bad addresses, headers, tokens and keys (scenarios, "Bad inputs" 34 to 58)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import override_settings

from claims import tokens
from claims.models import Agent, AgentPool, Attempt, Pool, Task
from claims.vocabulary import Scope
from tests.api.conftest import Caller, as_agent, claimed
from tests.support.world import World, a_specification, a_world

MISSING = "0192f0c1-2b3c-7d4e-8f50-61728394a5b6"


def claim_body(world: World) -> dict[str, Any]:
    return {"expectedStateVersion": 1, "schedulerEpoch": world.epoch}


@pytest.mark.parametrize(
    "header",
    [
        None, "", "Bearer", "Bearer ", "Basic x", "fp_x", "Bearer fp_", "Bearer {token} ", "Bearer {token}x", "Bearer {short}",
        "Bearer {upper}", "Bearer {token}, Bearer {token}", "Bearer  {token}", "Bearer {long}", "Bearer fp_{unknown}",
    ],
)  # fmt: skip
def test_what_is_no_valid_token_is_401(header: str | None, agent: Caller, nobody: Caller) -> None:
    token = agent.token or ""
    unknown = f"{'z' * 12}_{'Z' * 43}"
    values = {
        "token": token,
        "short": token[:-1],
        "upper": token.upper(),
        "long": "x" * 10_000,
        "unknown": unknown,
    }
    headers = {} if header is None else {"Authorization": header.format(**values)}
    answer = nobody.get("/whoami", headers=headers)
    assert (answer.status, answer.code) == (401, "UNAUTHENTICATED")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("place", ["/whoami?token={}", "/whoami?access_token={}", "/tasks?q={}"])
def test_a_token_in_an_address_is_refused_and_told_to_be_rotated(
    place: str, agent: Caller, nobody: Caller
) -> None:
    for caller in (agent, nobody):
        answer = caller.get(place.format(agent.token))
        assert (answer.status, answer.code) == (401, "UNAUTHENTICATED")
        assert "rotated" in answer.body["detail"]


def test_a_revoked_or_expired_token_is_401_from_the_next_call_on(world: World) -> None:
    minted = tokens.mint(agent_id=world.agents[0].id)
    caller = Caller(minted.token)
    assert caller.get("/whoami").status == 200
    tokens.revoke(minted.id)
    assert caller.get("/whoami").status == 401
    expired = tokens.mint(agent_id=world.agents[0].id, lifetime=timedelta(seconds=-1))
    assert Caller(expired.token).get("/whoami").status == 401


def test_the_token_of_a_person_who_left_is_401(world: World, preparer: Caller) -> None:
    world.preparer.is_active = False
    world.preparer.save()
    assert preparer.get("/whoami").status == 401


def ends_after_the_first_look(monkeypatch: pytest.MonkeyPatch, end: Callable[[], object]) -> None:
    """The moment between two looks of a long poll: no waiting, and what ``end`` does happens in it."""
    monkeypatch.setattr("claims.api.waiting.time.sleep", lambda _seconds: end())


@pytest.mark.parametrize("how", ["the token is revoked", "the agent leaves the pool"])
def test_a_call_that_waits_is_refused_once_its_caller_may_not_call(
    how: str, world: World, agent: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = claimed(world, agent)
    known = tokens.recognise(agent.token or "")
    assert known is not None
    ends = {
        "the token is revoked": lambda: (world.task(), tokens.revoke(known.token_id)),
        "the agent leaves the pool": lambda: AgentPool.objects.filter(agent=world.agents[0]).delete(),
    }
    ends_after_the_first_look(monkeypatch, ends[how])
    if how == "the token is revoked":
        body = {"schedulerEpoch": world.epoch, "waitSeconds": 5}
        waited = agent.post(f"/pools/{world.pool.name}/claim-next", body)
    else:
        waited = agent.get(f"/attempts/{grant['attemptId']}?waitSeconds=5")
    assert waited.status == (401 if how == "the token is revoked" else 404), waited.body
    assert Attempt.objects.filter(task__pool=world.pool).count() == 1


def test_a_rotated_token_touches_no_claim(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    old = tokens.recognise(agent.token or "")
    assert old is not None
    new = Caller(tokens.rotate(old.token_id).token)
    assert agent.get("/whoami").status == 401
    renewed = new.post(
        f"/attempts/{grant['attemptId']}/renew", {"fence": grant["fence"], "extendSeconds": 60}
    )
    assert renewed.status == 200, renewed.body


def test_a_session_and_a_token_together_are_400(agent: Caller, nobody: Caller) -> None:
    assert agent.get("/whoami", headers={"Cookie": "fencepost-session=x"}).status == 400
    assert nobody.get("/whoami", headers={"Cookie": "fencepost-session=x"}).status == 403


@pytest.mark.parametrize(
    ("scopes", "method", "path"),
    [
        ([Scope.READ], "POST", "/pools/{pool}/claim-next"),
        ([Scope.READ], "POST", "/tasks/{task}/claim"),
        ([Scope.CLAIM], "POST", "/attempts/{attempt}/deliver"),
        ([Scope.CLAIM], "GET", "/whoami"),
        ([Scope.READ, Scope.CLAIM, Scope.DELIVER], "POST", "/tasks"),
        ([Scope.READ, Scope.CLAIM, Scope.DELIVER], "POST", "/tasks/{task}/adjust"),
    ],
)
def test_a_token_does_only_what_its_scopes_say(
    scopes: list[Scope], method: str, path: str, world: World, agent: Caller
) -> None:
    grant = claimed(world, agent)
    narrow = as_agent(world.agents[0], scopes=scopes)
    named = path.format(pool=world.pool.name, task=grant["taskId"], attempt=grant["attemptId"])
    answer = narrow.call(method, named, {} if method == "POST" else None)
    assert (answer.status, answer.code) == (403, "FORBIDDEN")


def test_no_scope_can_be_minted_that_its_kind_does_not_have(world: World) -> None:
    with pytest.raises(ValueError, match="may have the scopes"):
        tokens.mint(agent_id=world.agents[0].id, scopes=[Scope.PREPARE])
    with pytest.raises(ValueError, match="may have the scopes"):
        tokens.mint(person_id=world.preparer.id, scopes=[Scope.CLAIM])


ROUTES = [
    ("GET", "/pools/{pool}"),
    ("GET", "/tasks?pool={pool}"),
    ("GET", "/events?pool={pool}"),
    ("POST", "/pools/{pool}/claim-next"),
    ("GET", "/tasks/{task}"),
    ("GET", "/tasks/{task}/history"),
    ("GET", "/tasks/{task}/refusals"),
    ("GET", "/tasks/{task}/record"),
    ("POST", "/tasks/{task}/claim"),
    ("GET", "/attempts/{attempt}"),
    ("POST", "/attempts/{attempt}/renew"),
    ("POST", "/attempts/{attempt}/progress"),
    ("POST", "/attempts/{attempt}/release"),
    ("POST", "/attempts/{attempt}/fail"),
    ("POST", "/attempts/{attempt}/stage"),
    ("POST", "/attempts/{attempt}/accept-tool"),
    ("POST", "/attempts/{attempt}/effects"),
    ("POST", "/attempts/{attempt}/deliver"),
    ("POST", "/attempts/{attempt}/commit"),
    ("PUT", "/attempts/{attempt}/files/" + "a" * 64),
    ("GET", "/attempts/{attempt}/files/" + "a" * 64),
    ("GET", "/deliveries/{delivery}"),
    ("GET", "/deliveries/{delivery}/files/" + "a" * 64),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_what_is_foreign_looks_like_what_is_missing(
    method: str, path: str, world: World, agent: Caller
) -> None:
    foreign = a_world()
    delivery = foreign.delivered()
    theirs = {
        "pool": foreign.pool.name,
        "task": delivery.task_id,
        "attempt": delivery.attempt_id,
        "delivery": delivery.id,
    }
    absent = {"pool": "no-such-pool", "task": MISSING, "attempt": MISSING, "delivery": MISSING}
    bodies = []
    for named in (theirs, absent):
        answer = agent.call(method, path.format(**named), {"rubbish": True} if method != "GET" else None)
        assert (answer.status, answer.code) == (404, "NOT_FOUND"), answer.body
        bodies.append({name: value for name, value in answer.body.items() if name != "requestId"})
    assert bodies[0] == bodies[1]


def test_a_task_for_a_foreign_pool_looks_like_one_for_a_missing_pool(world: World, preparer: Caller) -> None:
    foreign = a_world()
    body = {"title": "x", "input": a_specification()}
    answers = [
        preparer.post("/tasks", {**body, "pool": name}) for name in (foreign.pool.name, "no-such-pool")
    ]
    assert [answer.status for answer in answers] == [404, 404]
    assert not Task.objects.filter(pool=foreign.pool).exists()


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_401_comes_before_404(method: str, path: str, world: World, nobody: Caller) -> None:
    absent = {"pool": "no-such-pool", "task": MISSING, "attempt": MISSING, "delivery": MISSING}
    assert nobody.call(method, path.format(**absent), {} if method != "GET" else None).status == 401


@pytest.mark.parametrize(
    "task_id",
    ["1", "2147483648", "9223372036854775808", "x", MISSING.upper(), MISSING + "0", "%00", "..%2f..", "T-1"],
)
def test_an_id_that_is_none_is_404(task_id: str, agent: Caller) -> None:
    assert agent.get(f"/tasks/{task_id}").status == 404


@pytest.mark.parametrize("path", ["/", "/nothing", "//whoami", "/tasks/", "/whoami/", "/effects/x", "/mcp"])
def test_an_address_without_a_call_is_a_problem_document(path: str, agent: Caller) -> None:
    answer = agent.get(path)
    assert (answer.status, answer.headers["Content-Type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("method", ["DELETE", "PATCH", "TRACE", "PROPFIND", "PUT", "POST"])
def test_a_method_that_is_not_there_is_405(method: str, agent: Caller) -> None:
    answer = agent.call(method, "/whoami")
    assert (answer.status, answer.body["code"], answer.headers["Allow"]) == (405, "METHOD_NOT_ALLOWED", "GET")


def test_a_method_is_not_overridden_by_a_header(world: World, agent: Caller) -> None:
    task_id = world.task()
    answer = agent.get(f"/tasks/{task_id}", headers={"X-HTTP-Method-Override": "POST"})
    assert answer.status == 200


@pytest.mark.parametrize(
    "query",
    [
        "state=OPEN&state=DONE",
        "unknown=1",
        "state=open",
        "limit=0",
        "limit=201",
        "limit=x",
        "cursor=-1",
        "cursor=x",
        "cursor=%00",
        "q=%00",
    ],
)
def test_a_bad_query_is_400(query: str, world: World, agent: Caller) -> None:
    answer = agent.get(f"/tasks?{query}")
    assert (answer.status, answer.code) == (400, "MALFORMED")


def test_the_request_id_of_the_caller_comes_back_where_it_is_plain(agent: Caller) -> None:
    assert agent.get("/whoami", headers={"X-Request-Id": "run-7.3"}).headers["X-Request-Id"] == "run-7.3"
    made = agent.get("/whoami", headers={"X-Request-Id": "a b"}).headers["X-Request-Id"]
    assert made.startswith("req_")
    refused = agent.get("/tasks/x", headers={"X-Request-Id": "run-8"})
    assert (refused.headers["X-Request-Id"], refused.body["requestId"]) == ("run-8", "run-8")


BAD_KEYS = [
    "",
    " ",
    '""',
    '"a',
    "a b",
    "é",
    "x" * 256,
    "a,b",
    "a\tb",
    "../x",
    "a;b",
    "' OR 1=1 --",
    "a/b",
    "a'b",
]


@pytest.mark.parametrize("key", BAD_KEYS)
def test_a_badly_written_key_is_400(key: str, world: World, agent: Caller) -> None:
    task_id = world.task()
    answer = agent.post(
        f"/tasks/{task_id}/claim", claim_body(world), key=None, headers={"Idempotency-Key": key}
    )
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert not Attempt.objects.filter(task_id=task_id).exists()


def test_a_key_is_required_where_the_contract_says_so(world: World, agent: Caller, preparer: Caller) -> None:
    task_id = world.task()
    new = {"pool": world.pool.name, "title": "x", "input": a_specification()}
    assert agent.post(f"/tasks/{task_id}/claim", claim_body(world), key=None).status == 400
    assert (
        agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch}, key=None).status
        == 400
    )
    assert preparer.post("/tasks", new, key=None).status == 400
    assert preparer.post(f"/tasks/{task_id}/adjust", {"priority": 1}, key=None).status == 400
    grant = claimed(world, agent, task_id)
    at = f"/attempts/{grant['attemptId']}"
    assert agent.post(f"{at}/release", {"fence": grant["fence"], "reason": "x"}, key=None).status == 400
    assert (
        agent.post(f"{at}/fail", {"fence": grant["fence"], "reason": "x", "retryable": True}, key=None).status
        == 400
    )
    assert agent.post(f"{at}/renew", {"fence": grant["fence"], "extendSeconds": 60}, key=None).status == 200


def test_an_attempts_token_works_for_its_attempt_only(world: World, agent: Caller) -> None:
    grant, other = claimed(world, agent), claimed(world, agent)
    own = Caller(tokens.mint(agent_id=world.agents[0].id, attempt_id=grant["attemptId"]).token)
    assert own.get(f"/attempts/{grant['attemptId']}").status == 200
    assert own.get(f"/tasks/{grant['taskId']}").status == 200
    assert own.get(f"/attempts/{other['attemptId']}").status == 404
    assert own.get(f"/tasks/{other['taskId']}").status == 404
    assert (
        own.post(
            f"/attempts/{other['attemptId']}/renew", {"fence": other["fence"], "extendSeconds": 60}
        ).status
        == 404
    )
    assert (
        own.post(
            f"/attempts/{grant['attemptId']}/renew", {"fence": grant["fence"], "extendSeconds": 60}
        ).status
        == 200
    )
    assert own.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": world.epoch}).status == 403
    assert [each["attemptId"] for each in own.get("/attempts/mine").body["grants"]] == [grant["attemptId"]]
    batch = own.post(
        "/renewals", {"renewals": [{"fence": each["fence"], "extendSeconds": 60} for each in (grant, other)]}
    ).body["renewals"]
    assert ["problem" in each for each in batch] == [False, True]


def test_calls_beyond_the_limit_are_429_and_renewals_have_a_limit_of_their_own(world: World) -> None:
    busy = as_agent(world.agents[0])
    grant = claimed(world, busy)
    with override_settings(FENCEPOST_API_CALLS_IN_TEN_SECONDS=3):
        answers = [busy.get("/whoami") for _ in range(8)]
        assert answers[-1].status == 429
        assert (answers[-1].code, answers[-1].headers["Retry-After"]) == ("RATE_LIMITED", "5")
        assert (
            busy.post(
                f"/attempts/{grant['attemptId']}/renew", {"fence": grant["fence"], "extendSeconds": 60}
            ).status
            == 200
        )


def test_a_failed_call_leaves_no_trace_of_the_pool(world: World) -> None:
    stranger = Agent.objects.create(name=f"stranger-{uuid4().hex[:8]}", owner=world.owner)
    caller = as_agent(stranger)
    assert caller.get("/whoami").body["pools"] == []
    assert caller.get("/tasks").body["tasks"] == []
    assert Pool.objects.filter(id=world.pool.id).exists()
