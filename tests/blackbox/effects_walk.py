"""Sections 5 and 6 from outside: outside effects in all their states, graphs and revisions."""

from __future__ import annotations

import time
import uuid
from typing import Any

from tests.blackbox.speaking import Answer
from tests.blackbox.world import INPUT, World

PAYLOAD = {"to": "ops@example.org", "text": "done"}
LOOK_UP = {"kind": "http", "url": "https://sink.example/calls/{effectId}"}
PATIENCE_SECONDS = 60.0


def slot(**changes: Any) -> dict[str, Any]:
    """A slot whose permits are short and settle fast, so that the walk can wait for it."""
    target = f"https://sink.example/{uuid.uuid4().hex}"
    mail = {"slot": "mail", "mode": "QUERYABLE", "target": target, "lookup": LOOK_UP}
    whole = {**mail, "permitSeconds": 2, "settleSeconds": 1, **changes}
    return {name: value for name, value in whole.items() if value is not None}


def with_slot(world: World, **changes: Any) -> Answer:
    return world.claimed(input={**INPUT, "effects": [slot(**changes)]})


def prepare(world: World, grant: Answer, wanted: object = 200, **changes: Any) -> str:
    answer = world.move(grant, "effects", wanted, **{"slot": "mail", "payload": PAYLOAD, **changes})
    return str(answer.body.get("effectId", ""))


def move(world: World, grant: Answer, effect_id: str, verb: str, wanted: object = 200, **body: Any) -> Answer:
    key = {"key": body.pop("key")} if "key" in body else {}
    return world.one.post(f"/effects/{effect_id}/{verb}", {"fence": grant["fence"], **body}, wanted, **key)


def settled(world: World, effect_id: str) -> str:
    """The effect's etag, once it says that the settle time has passed."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        etag = str(world.one.http.get(f"/effects/{effect_id}").json()["etag"])
        if etag.endswith(".1") or time.monotonic() > end:
            return etag
        time.sleep(0.25)  # from outside there is no row or lock to wait on, only the answer


def walk(world: World) -> None:
    """Every part, in an order in which none hinders the next."""
    for part in (binding, sending, doubts, approvals, graphs, revisions):
        part(world)


def binding(world: World) -> None:
    grant = with_slot(world)
    effect_id = prepare(world, grant)
    prepare(world, grant)
    prepare(world, grant, "PAYLOAD_CONFLICT", payload={"to": "somebody else"})
    prepare(world, grant, "SLOT_MISMATCH", slot="deploy")
    prepare(world, grant, "MALFORMED", effectId="a" * 64)
    world.move(grant, "deliver", "EFFECTS_UNRESOLVED", inputDigest=grant["inputDigest"], result={})
    move(world, grant, effect_id, "abandon", reason="not needed")
    required = with_slot(world, required=True)
    move(world, required, prepare(world, required), "abandon", "SLOT_MISMATCH", reason="not needed")


def sending(world: World) -> None:
    grant, key = with_slot(world, permitSeconds=600), uuid.uuid4().hex
    effect_id = prepare(world, grant)
    permit = move(world, grant, effect_id, "execute", key=key)["permit"]["permitId"]
    move(world, grant, effect_id, "execute", "MUST_RECONCILE", key=key)
    move(world, grant, effect_id, "execute", "MUST_RECONCILE")
    move(world, grant, effect_id, "confirm", permitId=permit, receipt={"id": "msg-1"}, resourceEtag='"v2"')
    world.one.get(f"/effects/{effect_id}")
    world.move(grant, "deliver", inputDigest=grant["inputDigest"], result={})
    lost = with_slot(world, permitSeconds=600)
    effect_id = prepare(world, lost)
    permit = move(world, lost, effect_id, "execute")["permit"]["permitId"]
    world.move(lost, "release", reason="only trying")
    move(world, lost, effect_id, "confirm", "MUST_RECONCILE", permitId=permit, receipt={"id": "msg-2"})
    by = ("--as", world.names["operator"])
    world.commands.run("reconcile_effect", effect_id, "HAPPENED", "--reason", "msg-2 is there", *by)


def doubts(world: World) -> None:
    grant, key = with_slot(world), uuid.uuid4().hex
    effect_id = prepare(world, grant)
    move(world, grant, effect_id, "execute", key=key)
    move(world, grant, effect_id, "hand-back", executeKey=key)
    look = {"said": "DID_NOT_HAPPEN", "lookUp": "http"}
    early = str(world.one.http.get(f"/effects/{effect_id}").json()["etag"])
    move(world, grant, effect_id, "reconcile", "WEAK_OBSERVATION", **look, etag=early)
    move(world, grant, effect_id, "reconcile", "SLOT_MISMATCH", **{**look, "lookUp": "command"}, etag=early)
    move(world, grant, effect_id, "reconcile", **look, etag=settled(world, effect_id))
    permit = move(world, grant, effect_id, "execute")["permit"]["permitId"]
    move(world, grant, effect_id, "unknown", permitId=permit, note="cut off")
    version = str(world.one.http.get(f"/effects/{effect_id}").json()["version"])
    given_up = {"do": "settle", "said": "WRITTEN_OFF", "words": "The vendor is gone", "version": version}
    page = f"/effects/{effect_id}"
    world.operator.fill(page, f"{page}/act", grant["taskId"], **given_up)


def approvals(world: World) -> None:
    once = slot(mode="NON_REPLAYABLE", lookup=None, permitSeconds=600)
    first, second = (world.claimed(input={**INPUT, "effects": [once]}) for _ in range(2))
    one, two = prepare(world, first), prepare(world, second)
    move(world, first, one, "execute", "APPROVAL_REQUIRED")
    digest = world.one.http.get(f"/effects/{one}").json()["payloadDigest"]
    asked = ("approve_effect", one, "--payload-digest", digest, "--as")
    operator = world.names["operator"]
    world.commands.run(*asked, operator, wanted="NOT_REVIEWER", about=(world.preparer, first["taskId"]))
    seen = {"digest": digest, "generation": str(first["fence"]["claimGeneration"]), "doubt": "0"}
    posted = {"do": "approve", "epoch": str(world.epoch()), "expires": "600", **seen}
    page = f"/effects/{one}"
    world.reviewer.fill(page, f"{page}/act", first["taskId"], "STALE_STATE", **{**posted, "generation": "99"})
    world.reviewer.fill(page, f"{page}/act", first["taskId"], **posted)
    permit = move(world, first, one, "execute")["permit"]["permitId"]
    world.commands.run("approve_effect", two, "--payload-digest", digest, "--as", world.names["reviewer"])
    move(world, second, two, "execute", "SERIAL_BUSY")
    move(world, first, one, "confirm", permitId=permit)
    move(world, second, two, "execute")


def graphs(world: World) -> None:
    plain = {"reviewPolicy": "NONE"}
    first, second = world.create({"nodeId": "first", **plain}, {"nodeId": "second", "dependsOn": ["first"]})
    world.claim(second, wanted="NOT_CLAIMABLE")
    nodes = [
        {"title": name, "input": INPUT, "nodeId": name, "dependsOn": [other]} for name, other in ("ab", "ba")
    ]
    world.preparer.post("/tasks", {"pool": world.pool, "tasks": nodes}, "UNPROCESSABLE")
    world.commit(world.claim(first), {"n": 1})
    grant = world.claim(second)
    if [each["result"] for each in grant["predecessors"]] != [{"n": 1}]:
        world.book.wrong.append(f"the grant does not carry its predecessor's result: {grant['predecessors']}")
    newer = revise(world, first["taskId"])
    world.commit(world.claim({"taskId": newer}), {"n": 2})
    world.move(grant, "progress", "STALE_INPUT", note="going on")
    held = world.one.get(f"/tasks/{second['taskId']}")
    fields = {"version": str(held["stateVersion"]), "lease": "", "reason": "newer results"}
    action = f"/operations/{second['taskId']}/act"
    world.operator.fill("/operations", action, second["taskId"], do="requeue", **fields)
    after = world.one.get(f"/tasks/{second['taskId']}")
    if after["state"] != "SUPERSEDED" or after["newestRevision"]["revision"] != 2:
        world.book.wrong.append(f"requeue made no next revision: {after['state']} {after['revisions']}")


def revise(world: World, task_id: str, wanted: object = 201, **changes: Any) -> str:
    version = world.preparer.http.get(f"/tasks/{task_id}").json()["stateVersion"]
    body = {"expectedStateVersion": version, "input": {**INPUT, "task": "Say it otherwise"}, **changes}
    return str(world.preparer.post(f"/tasks/{task_id}/revise", body, wanted).body.get("taskId", ""))


def revisions(world: World) -> None:
    both = {**INPUT, "effects": [slot(permitSeconds=600)]}
    grant = world.claimed(input=both)
    effect_id = prepare(world, grant)
    permit = move(world, grant, effect_id, "execute")["permit"]["permitId"]
    move(world, grant, effect_id, "confirm", permitId=permit)
    newer = revise(world, grant["taskId"], input=both)
    world.move(grant, "renew", "STALE_INPUT", extendSeconds=60)
    revise(world, grant["taskId"], "STALE_STATE")
    again = world.claim({"taskId": newer})
    prepare(world, again, "MUST_RECONCILE")
    said = {"effectId": effect_id, "counts": False, "reason": "It has to be sent anew"}
    world.preparer.post(f"/tasks/{newer}/acknowledge", said)
    prepare(world, again)
    world.preparer.post(f"/tasks/{grant['taskId']}/cancel", {"reason": "x"}, "STALE_STATE")
