"""Outside effects over HTTP: every arrow of claim.v1 section 5, and every answer that refuses one."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from claims import canonical, transitions
from claims.models import Effect, Observation, Permit, Task
from tests.api.conftest import Answer, Caller, as_agent, claimed
from tests.support.effects import (
    OTHER_PAYLOAD,
    PAYLOAD,
    RECEIPT,
    a_slot,
    approved,
    etag_of,
    long_ago,
    with_slots,
)
from tests.support.world import World, a_world, expire


def with_effect(world: World, agent: Caller, **slot: Any) -> dict[str, Any]:
    """A grant of a task with one slot."""
    return claimed(world, agent, input=with_slots(a_slot(**slot)))


def prepare(agent: Caller, grant: dict[str, Any], payload: Any = PAYLOAD, **changes: Any) -> Answer:
    key = changes.pop("key", uuid4().hex)
    body = {"fence": grant["fence"], "slot": "mail", "payload": payload, **changes}
    return agent.post(f"/attempts/{grant['attemptId']}/effects", body, key=key)


def move(agent: Caller, grant: dict[str, Any], effect_id: str, verb: str, **body: Any) -> Answer:
    key = body.pop("key", uuid4().hex)
    return agent.post(f"/effects/{effect_id}/{verb}", {"fence": grant["fence"], **body}, key=key)


def prepared(agent: Caller, grant: dict[str, Any]) -> str:
    answer = prepare(agent, grant)
    assert answer.status == 200, answer.body
    return str(answer.body["effectId"])


def executing(agent: Caller, grant: dict[str, Any]) -> tuple[str, str]:
    """An effect whose call may be under way, and its permit."""
    effect_id = prepared(agent, grant)
    answer = move(agent, grant, effect_id, "execute")
    assert answer.status == 200, answer.body
    return effect_id, str(answer.body["permit"]["permitId"])


def test_an_effect_is_prepared_permitted_confirmed_and_read(world: World, agent: Caller) -> None:
    grant = with_effect(world, agent, permitSeconds=30)
    made = prepare(agent, grant).body
    assert (made["state"], made["slot"], made["mode"], made["payload"]) == (
        "PREPARED",
        "mail",
        "QUERYABLE",
        PAYLOAD,
    )
    assert made["effectId"] == canonical.effect_id(UUID(grant["taskId"]), "", "mail")
    assert (made["etag"], made["permit"], made["observations"]) == ("1.1", None, [])

    given = move(agent, grant, made["effectId"], "execute").body
    permit = given["permit"]
    assert (given["state"], permit["idempotencyKey"], permit["number"]) == (
        "EXECUTING",
        made["effectId"],
        1,
    )
    assert permit["claimGeneration"] == grant["fence"]["claimGeneration"]
    assert (permit["secondsRemaining"], permit["live"], permit["resourceEtag"]) == (30.0, True, None)

    body = {"permitId": permit["permitId"], "receipt": RECEIPT, "resourceEtag": '"v2"'}
    done = move(agent, grant, made["effectId"], "confirm", **body).body
    assert (done["state"], done["receipt"], done["resourceEtag"]) == ("COMMITTED", RECEIPT, '"v2"')
    assert [(each["said"], each["via"], each["applied"]) for each in done["observations"]] == [
        ("HAPPENED", "CONFIRM", True)
    ]
    seen = agent.get(f"/effects/{made['effectId']}")
    assert seen.headers["ETag"] == f'"{seen.body["etag"]}"'
    assert seen.body["state"] == "COMMITTED"
    assert agent.get(f"/tasks/{grant['taskId']}").body["effects"][0]["state"] == "COMMITTED"


def test_the_same_key_reads_as_it_did_after_the_effect_has_moved_on(world: World, agent: Caller) -> None:
    grant, keys = with_effect(world, agent), [uuid4().hex for _ in range(2)]
    first = prepare(agent, grant, key=keys[0])
    effect_id = first.body["effectId"]
    permit = move(agent, grant, effect_id, "execute").body["permit"]["permitId"]
    doubt = move(agent, grant, effect_id, "unknown", permitId=permit, note="cut off", key=keys[1])
    assert doubt.body["state"] == "UNKNOWN"
    move(agent, grant, effect_id, "confirm", permitId=permit, receipt=RECEIPT)
    agent.post(f"/attempts/{grant['attemptId']}/release", {"fence": grant["fence"], "reason": "x"})
    assert prepare(agent, grant, key=keys[0]).body == first.body
    again = move(agent, grant, effect_id, "unknown", permitId=permit, note="cut off", key=keys[1])
    assert {**again.body, "permit": None} == {**doubt.body, "permit": None}
    assert again.body["permit"]["live"] is False


def test_the_same_payload_again_is_the_same_effect_and_another_one_conflicts(
    world: World, agent: Caller
) -> None:
    grant = with_effect(world, agent)
    first = prepare(agent, grant).body
    assert prepare(agent, grant).body == first
    other = prepare(agent, grant, OTHER_PAYLOAD)
    assert (other.status, other.code, other.body["retry"]) == (409, "PAYLOAD_CONFLICT", "never")
    assert (other.body["boundPayload"], other.body["boundDigest"]) == (PAYLOAD, first["payloadDigest"])
    effect = other.body["current"]["effect"]
    assert (effect["effectId"], effect["state"]) == (first["effectId"], "PREPARED")
    assert other.body["legalActions"] == ["effect", "reconcile"]


def test_no_caller_makes_up_the_id_of_an_effect(world: World, agent: Caller) -> None:
    grant = with_effect(world, agent)
    computed = canonical.effect_id(UUID(grant["taskId"]), "", "mail")
    wrong = prepare(agent, grant, effectId=uuid4().hex * 2)
    assert (wrong.status, wrong.code, wrong.body["effectId"]) == (400, "MALFORMED", computed)
    assert not Effect.objects.filter(task_id=grant["taskId"]).exists()
    assert prepare(agent, grant, effectId=computed).status == 200
    assert prepare(agent, grant, effectId="x").status == 400


@pytest.mark.parametrize(
    "payload", [None, 0, "", [], {}, {"a": {"b": [1, 2.5, None, True]}}, "x" * 1000, {"π": "€"}]
)
def test_a_payload_is_any_json(payload: Any, world: World, agent: Caller) -> None:
    grant = with_effect(world, agent)
    made = prepare(agent, grant, payload)
    assert (made.status, made.body["payload"]) == (200, payload)
    assert made.body["payloadDigest"] == canonical.digest(payload)


def test_a_payload_that_is_too_long_and_a_slot_that_is_not_declared_are_refused(
    world: World, agent: Caller
) -> None:
    grant = with_effect(world, agent)
    assert prepare(agent, grant, "x" * 300_000).status == 413
    other = prepare(agent, grant, slot="deploy")
    assert (other.status, other.code, other.body["slot"]) == (422, "SLOT_MISMATCH", "deploy")
    without = {"fence": grant["fence"], "slot": "mail"}
    assert agent.post(f"/attempts/{grant['attemptId']}/effects", without).status == 400


def test_execute_is_never_answered_twice(world: World, agent: Caller) -> None:
    grant, key = with_effect(world, agent), uuid4().hex
    effect_id = prepared(agent, grant)
    assert move(agent, grant, effect_id, "execute", key=key).status == 200
    for again in (key, uuid4().hex):
        answer = move(agent, grant, effect_id, "execute", key=again)
        assert (answer.status, answer.code, answer.body["retry"]) == (409, "MUST_RECONCILE", "never")
        effect = answer.body["current"]["effect"]
        assert (effect["effectId"], effect["state"]) == (effect_id, "EXECUTING")
        assert "permit" not in answer.body
    assert Permit.objects.filter(effect_id=effect_id).count() == 1


@pytest.mark.parametrize("verb", ["execute", "confirm", "unknown", "hand-back", "abandon", "reconcile"])
def test_every_verb_of_an_effect_needs_a_key(verb: str, world: World, agent: Caller) -> None:
    grant = with_effect(world, agent)
    effect_id = prepared(agent, grant)
    answer = move(agent, grant, effect_id, verb, **BODIES[verb], key=None)
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert "Idempotency-Key" in answer.body["detail"]


BODIES: dict[str, dict[str, Any]] = {
    "execute": {},
    "confirm": {"permitId": str(uuid4())},
    "unknown": {"permitId": str(uuid4())},
    "hand-back": {"executeKey": "key-1"},
    "abandon": {"reason": "not needed"},
    "reconcile": {"said": "HAPPENED"},
}


@pytest.mark.parametrize("verb", BODIES)
@pytest.mark.parametrize(
    ("field", "by", "code"),
    [
        ("claimGeneration", 1, "FENCED"),
        ("schedulerEpoch", -1, "FENCED"),
        ("cancelGeneration", 1, "CANCELLED"),
    ],
)
def test_another_fence_moves_no_effect(
    verb: str, field: str, by: int, code: str, world: World, agent: Caller
) -> None:
    grant = with_effect(world, agent)
    effect_id = prepared(agent, grant)
    fence = {**grant["fence"], field: grant["fence"][field] + by}
    answer = move(agent, {"fence": fence}, effect_id, verb, **BODIES[verb])
    known = {code, "NOT_FOUND"} if verb in ("confirm", "unknown") else {code, "UNPROCESSABLE"}
    assert answer.code in known, answer.body
    assert Effect.objects.get(id=effect_id).version == 1


@pytest.mark.parametrize("verb", BODIES)
def test_an_effect_of_another_pool_is_not_there(verb: str, world: World, agent: Caller) -> None:
    foreign = a_world()
    theirs = with_effect(foreign, as_agent(foreign.agents[0]))
    effect_id = prepared(as_agent(foreign.agents[0]), theirs)
    mine = with_effect(world, agent)
    own = prepared(agent, mine)
    for unseen in (effect_id, "a" * 64, "x", effect_id.upper()):
        answer = move(agent, theirs, unseen, verb, **BODIES[verb])
        assert (answer.status, answer.code) == (404, "NOT_FOUND")
        assert agent.get(f"/effects/{unseen}").status == 404
    answers = [
        move(agent, {"fence": {**mine["fence"], "taskId": task_id}}, own, verb, **BODIES[verb])
        for task_id in (theirs["taskId"], str(uuid4()))
    ]
    assert [(each.status, each.code) for each in answers] == [(400, "MALFORMED")] * 2
    foreign_attempt = {**mine["fence"], "attemptId": theirs["attemptId"]}
    assert move(agent, {"fence": foreign_attempt}, own, verb, **BODIES[verb]).status == 404


def test_what_a_lost_fence_says_is_kept_and_settles_nothing(world: World, agent: Caller) -> None:
    grant = with_effect(world, agent)
    effect_id, permit = executing(agent, grant)
    agent.post(f"/attempts/{grant['attemptId']}/release", {"fence": grant["fence"], "reason": "x"})
    late = move(agent, grant, effect_id, "confirm", permitId=permit, receipt=RECEIPT)
    assert (late.status, late.code) == (409, "MUST_RECONCILE"), late.body
    seen = agent.get(f"/effects/{effect_id}").body
    assert (seen["state"], seen["hasHappened"], seen["receipt"]) == ("UNKNOWN", True, None)
    assert [(each["said"], each["applied"], each["receipt"]) for each in seen["observations"]] == [
        ("HAPPENED", False, RECEIPT)
    ]
    assert late.body["etag"] == seen["etag"]
    assert late.body["current"]["stateVersion"] == Task.objects.get(id=grant["taskId"]).state_version


def test_a_permit_whose_answer_was_lost_is_handed_back(world: World, agent: Caller) -> None:
    grant, key = with_effect(world, agent), uuid4().hex
    effect_id = prepared(agent, grant)
    none = move(agent, grant, effect_id, "hand-back", executeKey=key)
    assert (none.status, none.code) == (422, "UNPROCESSABLE")
    move(agent, grant, effect_id, "execute", key=key)
    back = move(agent, grant, effect_id, "hand-back", executeKey=key)
    assert (back.status, back.body["state"]) == (200, "UNKNOWN")
    assert back.body["observations"][0]["via"] == "HAND_BACK"


def test_a_look_up_settles_a_doubt_only_after_the_settle_time_and_under_the_etag_of_then(
    world: World, agent: Caller
) -> None:
    grant = with_effect(world, agent)
    effect_id, permit = executing(agent, grant)
    move(agent, grant, effect_id, "unknown", permitId=permit)
    look = {"said": "DID_NOT_HAPPEN", "lookUp": "http"}
    early = move(agent, grant, effect_id, "reconcile", **look, etag=etag_of(effect_id))
    assert (early.status, early.code) == (409, "WEAK_OBSERVATION")
    assert early.body["settlesAt"] == early.body["current"]["effect"]["settlesAt"]
    before = agent.get(f"/effects/{effect_id}").body["etag"]
    long_ago(effect_id, 300)
    now = agent.get(f"/effects/{effect_id}").body
    assert now["etag"] == before.replace(".0", ".1")
    assert move(agent, grant, effect_id, "reconcile", **look, etag=before).code == "WEAK_OBSERVATION"
    settled = move(agent, grant, effect_id, "reconcile", **look, etag=etag_of(effect_id))
    assert (settled.status, settled.body["state"], settled.body["payload"]) == (200, "PREPARED", PAYLOAD)
    again = move(agent, grant, effect_id, "execute").body
    assert (again["state"], again["permit"]["number"]) == ("EXECUTING", 2)


def test_a_look_up_that_the_slot_does_not_declare_is_422(world: World, agent: Caller) -> None:
    grant = with_effect(world, agent)
    effect_id, permit = executing(agent, grant)
    move(agent, grant, effect_id, "unknown", permitId=permit)
    answer = move(agent, grant, effect_id, "reconcile", said="HAPPENED", lookUp="git")
    assert (answer.status, answer.code) == (422, "SLOT_MISMATCH")


def test_a_prepared_effect_is_given_up_unless_its_slot_is_required(world: World, agent: Caller) -> None:
    grant = with_effect(world, agent)
    effect_id = prepared(agent, grant)
    gone = move(agent, grant, effect_id, "abandon", reason="not needed")
    assert (gone.status, gone.body["state"], gone.body["payload"]) == (200, "ABANDONED", PAYLOAD)
    required = with_effect(world, agent, required=True)
    answer = move(agent, required, prepared(agent, required), "abandon", reason="not needed")
    assert (answer.status, answer.code) == (422, "SLOT_MISMATCH")


def test_what_cannot_be_taken_back_waits_for_a_person_and_for_its_turn(world: World, agent: Caller) -> None:
    slot = a_slot(mode="NON_REPLAYABLE", lookup=None)
    first = claimed(world, agent, input=with_slots(slot))
    second = claimed(world, agent, input=with_slots(slot))
    one, two = prepared(agent, first), prepared(agent, second)
    waits = move(agent, first, one, "execute")
    assert (waits.status, waits.code, waits.body["retry"]) == (409, "APPROVAL_REQUIRED", "new_key")
    approved(world, one)
    assert agent.get(f"/effects/{one}").body["approval"]["state"] == "GRANTED"
    permit = move(agent, first, one, "execute").body["permit"]
    assert agent.get(f"/effects/{one}").body["approval"]["state"] == "CONSUMED"
    approved(world, two)
    busy = move(agent, second, two, "execute")
    assert (busy.status, busy.code) == (409, "SERIAL_BUSY")
    assert busy.body["current"]["effect"] == {
        "effectId": two,
        "slot": "mail",
        "state": "PREPARED",
        "etag": etag_of(two),
    }
    assert move(agent, first, one, "confirm", permitId=permit["permitId"]).body["state"] == "COMMITTED"
    assert move(agent, second, two, "execute").status == 200


def test_nothing_is_handed_in_while_an_effect_is_open(world: World, agent: Caller) -> None:
    grant = claimed(world, agent, input=with_slots(a_slot(), evidence=[]))
    effect_id, permit = executing(agent, grant)
    body = {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": {}}
    open_still = agent.post(f"/attempts/{grant['attemptId']}/deliver", body)
    assert (open_still.status, open_still.code) == (409, "EFFECTS_UNRESOLVED")
    assert open_still.body["reasons"] == ["slot mail is EXECUTING"]
    move(agent, grant, effect_id, "confirm", permitId=permit)
    assert agent.post(f"/attempts/{grant['attemptId']}/deliver", body).status == 200


def test_a_grant_tells_the_effects_so_far_and_a_repeat_tells_them_as_they_were(
    world: World, agent: Caller
) -> None:
    grant = with_effect(world, agent)
    effect_id, _ = executing(agent, grant)
    agent.post(f"/attempts/{grant['attemptId']}/release", {"fence": grant["fence"], "reason": "x"})
    key, body = uuid4().hex, {"schedulerEpoch": world.epoch}
    second = as_agent(world.agents[1])
    again = second.post(f"/pools/{world.pool.name}/claim-next", body, key=key).body["grants"][0]
    assert [(each["effectId"], each["state"], each["payload"]) for each in again["effects"]] == [
        (effect_id, "UNKNOWN", PAYLOAD)
    ]
    long_ago(effect_id, 300)
    look = {"said": "DID_NOT_HAPPEN", "lookUp": "http", "etag": etag_of(effect_id)}
    assert move(second, again, effect_id, "reconcile", **look).body["state"] == "PREPARED"
    repeated = second.post(f"/pools/{world.pool.name}/claim-next", body, key=key).body["grants"][0]
    assert repeated["effects"] == again["effects"]
    mine = second.get("/attempts/mine").body["grants"][0]
    assert mine["effects"] == again["effects"]


def test_a_claim_that_lapsed_leaves_its_effect_in_doubt_for_the_next_runner(
    world: World, agent: Caller
) -> None:
    grant = claimed(world, agent, input=with_slots(), reclaim_policy="AUTO")
    effect_id, permit = executing(agent, grant)
    expire(UUID(grant["taskId"]))
    second = as_agent(world.agents[1])
    taken = claimed(world, second, UUID(grant["taskId"]))
    assert [each["state"] for each in taken["effects"]] == ["UNKNOWN"]
    assert move(second, taken, effect_id, "execute").code == "MUST_RECONCILE"
    assert move(agent, grant, effect_id, "confirm", permitId=permit).code == "MUST_RECONCILE"
    assert Observation.objects.filter(effect_id=effect_id, is_applied=False).count() == 1


def test_every_refusal_of_an_effect_says_what_to_do_and_what_is_true(world: World, agent: Caller) -> None:
    grant = with_effect(world, agent)
    effect_id, _ = executing(agent, grant)
    for answer in (
        prepare(agent, grant, OTHER_PAYLOAD),
        prepare(agent, grant, slot="deploy"),
        move(agent, grant, effect_id, "execute"),
        move(agent, grant, effect_id, "abandon", reason="x"),
        move(agent, grant, effect_id, "reconcile", said="HAPPENED", lookUp="http"),
    ):
        assert answer.status in (409, 422), answer.body
        assert answer.body["legalActions"], answer.body
        assert answer.body["retry"] in ("never", "new_key")
        assert answer.body["current"]["claimGeneration"] == grant["fence"]["claimGeneration"]


def test_a_person_reads_effects_and_holds_no_fence(world: World, agent: Caller, preparer: Caller) -> None:
    grant = with_effect(world, agent)
    effect_id = prepared(agent, grant)
    assert preparer.get(f"/effects/{effect_id}").body["payload"] == PAYLOAD
    assert move(preparer, grant, effect_id, "execute").status == 403


def test_an_operators_word_shows_in_the_effect(world: World, agent: Caller) -> None:
    grant = with_effect(world, agent)
    effect_id, permit = executing(agent, grant)
    move(agent, grant, effect_id, "unknown", permitId=permit)
    version = Effect.objects.get(id=effect_id).version
    transitions.write_off(world.person(world.operator), effect_id, "The vendor is gone", version)
    seen = agent.get(f"/effects/{effect_id}").body
    assert (seen["state"], seen["observations"][-1]["note"]) == ("WRITTEN_OFF", "The vendor is gone")
    assert seen["observations"][-1]["actor"] == world.operator.username
