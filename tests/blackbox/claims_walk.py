"""Section 4 from outside: the door, claims, results, decisions, operators, epochs and keys."""

from __future__ import annotations

import hashlib
import threading
import uuid
from typing import Any

from tests.blackbox.speaking import Answer, Token
from tests.blackbox.world import INPUT, World

DIFF = b"--- a/page.html\n+++ b/page.html\n@@ -1 +1,2 @@\n <h1>Billing</h1>\n+<p>No invoices yet.</p>\n"
SECRET = b"--- a/secret/key\n+++ b/secret/key\n@@ -1 +1 @@\n-a\n+b\n"
REVIEWED = {
    **INPUT,
    "scope": {"files": ["*.html"], "excluded": ["secret/**"]},
    "acceptance": [{"text": "The page says so"}],
    "evidence": [{"kind": "diff", "name": "diff"}],
}
ZERO = "sha256:" + "0" * 64


def walk(world: World) -> None:
    """Every part, in an order in which none hinders the next."""
    for part in (door, claims, hand_in, decisions, cancellation, operators, epochs, keys):
        part(world)


def door(world: World) -> None:
    task = world.create()[0]
    at, epoch = f"/tasks/{task['taskId']}", world.epoch()
    world.nobody.get("/whoami", "UNAUTHENTICATED")
    world.one.get("/whoami")
    world.one.post("/tasks", {"pool": world.pool, "title": "x", "input": INPUT}, "FORBIDDEN")
    world.one.get(f"/tasks/{uuid.uuid4()}", "NOT_FOUND")
    world.one.post(f"{at}/claim", {"expectedStateVersion": 1}, "UPGRADE_REQUIRED")
    world.one.post(f"{at}/claim", {"expectedStateVersion": "1", "schedulerEpoch": epoch}, "MALFORMED")
    world.one.call(
        "POST",
        f"{at}/claim",
        None,
        "UNSUPPORTED_MEDIA",
        content=b"a=1",
        headers={"Content-Type": "text/plain"},
    )
    large = {"pool": world.pool, "title": "x", "input": {"task": "x" * 2_200_000}}
    world.preparer.post("/tasks", large, "TOO_LARGE")


def claims(world: World) -> None:
    task = world.create({"title": "To be claimed"})[0]
    at, epoch = f"/tasks/{task['taskId']}", world.epoch()
    seen = {"expectedStateVersion": 1, "schedulerEpoch": epoch}
    world.one.post(f"{at}/claim", {**seen, "schedulerEpoch": epoch + 1_000}, "OLD_EPOCH")
    world.one.post(f"{at}/claim", {**seen, "expectedStateVersion": 9}, "STALE_STATE")
    world.preparer.post(f"{at}/adjust", {"priority": 1}, "PRECONDITION_FAILED", headers={"If-Match": '"9"'})
    labelled = world.create({"input": {**INPUT, "access": ["nobody-has-this"]}})[0]
    world.claim(labelled, wanted="NOT_ELIGIBLE")
    grant = world.claim(task)
    world.claim(task, world.two, "NOT_CLAIMABLE")
    world.move(grant, "renew", extendSeconds=900)
    world.move(grant, "renew", "WINDOW_EXCEEDED", extendSeconds=3_600)
    world.one.post("/renewals", {"renewals": [{"fence": grant["fence"], "extendSeconds": 900}]})
    world.move(grant, "progress", note="reading", cost={"tokens": 10, "seconds": 1.5})
    tool = {"tool": "git.push", "argsDigest": ZERO}
    world.move(grant, "accept-tool", **tool)
    world.move(grant, "accept-tool", agent=world.gateway, **tool)
    late = {**grant["fence"], "claimGeneration": grant["fence"]["claimGeneration"] + 1}
    world.one.post(f"/attempts/{grant['attemptId']}/renew", {"fence": late, "extendSeconds": 60}, "FENCED")
    world.move(grant, "progress", "FENCED", agent=world.two, note="not mine")
    world.move(grant, "release", reason="only trying")
    world.move(grant, "accept-tool", "FENCED", agent=world.gateway, **tool)
    world.one.get(f"/attempts/{grant['attemptId']}")
    world.one.post(f"/pools/{world.pool}/claim-next", {"schedulerEpoch": epoch, "max": 2, "ttlSeconds": 60})
    world.one.get("/attempts/mine")
    world.one.get(f"{at}/history")
    world.one.get(f"/events?pool={world.pool}&limit=5")


def upload(world: World, grant: Answer, content: bytes, agent: Token) -> list[dict[str, Any]]:
    fence, sha256 = grant["fence"], hashlib.sha256(content).hexdigest()
    numbers = f"epoch={fence['schedulerEpoch']}, generation={fence['claimGeneration']}, cancel={fence['cancelGeneration']}"
    headers = {"Fencepost-Fence": numbers, "Content-Type": "text/x-diff"}
    path = f"/attempts/{grant['attemptId']}/files/{sha256}"
    agent.call("PUT", path, None, 201, content=content, headers=headers)
    item = {
        "name": "diff",
        "kind": "diff",
        "sha256": sha256,
        "size": len(content),
        "mediaType": "text/x-diff",
    }
    return [{**item, "criteria": [1]}]


def delivered(world: World, content: bytes = DIFF, agent: Token | None = None, **task: Any) -> Answer:
    """A delivery of a new task."""
    agent = agent or world.one
    grant = world.claimed(agent, input=REVIEWED, **task)
    evidence = upload(world, grant, content, agent)
    work = {"inputDigest": grant["inputDigest"], "result": {"done": True}, "evidence": evidence}
    answer = world.move(grant, "deliver", agent=agent, summary="Done", needs="Look at the page", **work)
    return Answer(200, {**answer.body, "grant": grant, "taskId": grant["taskId"]})


def hand_in(world: World) -> None:
    grant = world.claimed(input=REVIEWED)
    work = {"inputDigest": grant["inputDigest"], "result": {}}
    world.move(grant, "deliver", "STALE_INPUT", inputDigest=ZERO, result={})
    world.move(grant, "deliver", "THIN_EVIDENCE", **work)
    world.move(grant, "deliver", "NOT_STAGED", inputDigest=grant["inputDigest"])
    world.move(grant, "commit", "REVIEW_REQUIRED", **work)
    world.move(grant, "stage", result={"n": 1}, evidence=upload(world, grant, DIFF, world.one))
    first = world.move(grant, "deliver", inputDigest=grant["inputDigest"])
    again = world.move(grant, "deliver", inputDigest=grant["inputDigest"])
    if first.body != again.body:
        world.book.wrong.append("a repeated deliver had another answer")
    world.move(grant, "renew", "ALREADY_DELIVERED", extendSeconds=60)
    world.one.get(f"/deliveries/{first['deliveryId']}")
    own = world.claimed(reviewPolicy="NONE")
    world.commit(own, {"n": 1})
    world.commit(own, {"n": 1})
    world.commit(own, {"n": 2}, "ALREADY_COMMITTED")
    cancel = f"/tasks/{own['taskId']}/cancel"
    world.preparer.post(cancel, {"reason": "too late"}, "TOO_LATE")


def decisions(world: World) -> None:
    one = delivered(world)
    page = f"/reviews/{one['deliveryId']}"
    act, task = f"{page}/decide", one["taskId"]
    accept = {"do": "accept", "subject": one["subjectDigest"], "verdict-1": "met"}
    unmet = {"verdict-1": "not-met", "note-1": "It does not"}
    world.reviewer.fill(page, act, task, "CRITERIA_UNMET", **{**accept, **unmet})
    world.reviewer.fill(page, act, task, "STALE_DELIVERY", **{**accept, "subject": ZERO})
    changes = {"do": "changes", "subject": one["subjectDigest"], "note": "In the list, too", **unmet}
    world.reviewer.fill(page, act, task, **changes)
    world.reviewer.fill(page, act, task, "ALREADY_DECIDED", **accept)
    world.one.get(f"/deliveries/{one['deliveryId']}")
    second = delivered(world)
    accepted = {**accept, "subject": second["subjectDigest"]}
    page = f"/reviews/{second['deliveryId']}"
    world.reviewer.fill(page, f"{page}/decide", second["taskId"], **accepted)
    outside = delivered(world, SECRET)
    page = f"/reviews/{outside['deliveryId']}"
    accepted = {**accept, "subject": outside["subjectDigest"]}
    world.reviewer.fill(page, f"{page}/decide", outside["taskId"], "SCOPE_VIOLATION", **accepted)
    world.reviewer.fill(
        page, f"{page}/decide", outside["taskId"], **accepted, reason="Agreed with the owner of the key"
    )
    own = delivered(world, agent=world.two)
    page = f"/reviews/{own['deliveryId']}"
    mine = {**accept, "subject": own["subjectDigest"]}
    world.reviewer.fill(page, f"{page}/decide", own["taskId"], "SELF_REVIEW", **mine)
    rejected = delivered(world)
    page = f"/reviews/{rejected['deliveryId']}"
    reject = {"do": "reject", "subject": rejected["subjectDigest"], "note": "Not what was asked", **unmet}
    world.reviewer.fill(page, f"{page}/decide", rejected["taskId"], **reject)


def cancellation(world: World) -> None:
    grant = world.claimed()
    path = f"/tasks/{grant['taskId']}/cancel"
    world.preparer.post(path, {"reason": "no longer wanted"})
    world.preparer.post(path, {"reason": "no longer wanted"})
    world.move(grant, "renew", "CANCELLED", extendSeconds=60)
    world.one.get(f"/attempts/{grant['attemptId']}?waitSeconds=5")


def operators(world: World) -> None:
    grant = world.claimed()
    task = grant["taskId"]
    world.commands.run(
        "release_quiet", f"T-{grant['number']}", "--reason", "trying", "--as", world.names["operator"],
        wanted="NOT_QUIET", about=(world.preparer, task),
    )  # fmt: skip

    def act(do: str, wanted: object = 302, **fields: str) -> None:
        now = world.preparer.http.get(f"/tasks/{task}").json()
        seen = {"version": str(now["stateVersion"]), "lease": now["leaseExpiresAt"] or ""}
        action = f"/operations/{task}/act"
        world.operator.fill(
            "/operations", action, task, wanted, do=do, reason="looking", **{**seen, **fields}
        )

    act("requeue", "NOT_HELD")
    act("extend", even_if_live="yes")
    act("extend", "ALREADY_EXTENDED", even_if_live="yes")
    act("nudge", even_if_live="yes")
    world.move(grant, "renew", extendSeconds=60)
    act("release", even_if_live="yes")
    act("nudge", "NOT_CLAIMED", even_if_live="yes")
    again = world.claim({"taskId": task})
    world.move(again, "fail", reason="cannot be done", retryable=False)
    act("requeue")
    act("reassign", runner=world.names["two"])


def epochs(world: World) -> None:
    grant, epoch, person = world.claimed(), world.epoch(), world.names["operator"]
    named = ("--pool", world.pool, "--reason", "trying", "--as", person)
    world.commands.run("raise_epoch", *named, "--expected", str(epoch + 5), wanted="EPOCH_CONFLICT")
    world.commands.run("gate", "DRAINING", *named)
    world.one.post(f"/pools/{world.pool}/claim-next", {"schedulerEpoch": epoch}, "GATE_CLOSED")
    world.one.get(f"/pools/{world.pool}")
    world.commands.run("gate", "OPEN", *named)
    world.commands.run("raise_epoch", *named, "--expected", str(epoch))
    world.move(grant, "renew", "FENCED", extendSeconds=60)
    world.one.post(f"/pools/{world.pool}/claim-next", {"schedulerEpoch": epoch}, "OLD_EPOCH")


def keys(world: World) -> None:
    task, key = world.create()[0], uuid.uuid4().hex
    at = f"/tasks/{task['taskId']}/claim"
    body = {"expectedStateVersion": 1, "schedulerEpoch": world.epoch()}
    first = world.one.post(at, body, key=key)
    again = world.one.post(at, body, key=key)
    if first["attemptId"] != again["attemptId"]:
        world.book.wrong.append("a repeated claim had another answer")
    world.one.post(at, {**body, "ttlSeconds": 60}, "KEY_REUSED", key=key)
    many = {"pool": world.pool, "tasks": [{"title": "One of many", "input": INPUT}] * 300}
    key, path = uuid.uuid4().hex, "/tasks"
    for _ in range(10):
        if "IN_PROGRESS" in world.book.seen:
            break
        key = uuid.uuid4().hex
        twins = [
            threading.Thread(target=world.preparer.post, args=(path, many, None), kwargs={"key": key})
            for _ in range(2)
        ]
        for twin in twins:
            twin.start()
        for twin in twins:
            twin.join()
    world.preparer.post(path, many, 201, key=key)
