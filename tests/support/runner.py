"""A runner in a process of its own: claims a task, makes the one outside call, commits; by the client and HTTP.

It knows nothing of the server but its API. Each step is told through a pipe before it is gone, so that
a test can kill it or stop it there; ``stop_at`` makes it stop itself after a step, as a machine does that
is suspended at the worst moment. A permit's time is counted on its own monotonic clock, from before the
permit was asked for; no call is begun after that.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any
from uuid import uuid4

import httpx

from client import Client, Grant, Problem, Unreachable
from client.http import Http

POLL_SECONDS = 0.6
LOOK_UP_SECONDS = 10.0
SETTLED = ("COMMITTED", "ABANDONED", "WRITTEN_OFF")


@dataclass(frozen=True)
class Orders:
    """What one runner is to do. ``answers``: how the sink answers its first call, and every later one at once."""

    url: str
    token: str
    task_id: str
    sink_url: str
    payload: dict[str, Any]
    answers: str = "at-once"
    stop_at: str = ""


def run(orders: Orders, wire: Connection) -> None:
    """The whole work. What was refused, or not answered, is told, and ends it."""
    runner = Runner(orders, wire)
    try:
        runner.work()
    except Problem as problem:
        runner.tell("refused", code=problem.code, body=problem.body)
    except Unreachable as silence:
        runner.tell("unreachable", detail=str(silence))
    wire.close()


class Runner:
    """One process's work."""

    def __init__(self, orders: Orders, wire: Connection) -> None:
        self.orders, self._wire = orders, wire
        self._http = Http(orders.url, orders.token)
        self._client = Client(orders.url, orders.token)
        self._answers = orders.answers
        self.grant: Grant

    def tell(self, step: str, **more: Any) -> None:
        """Say which step is done; a test that is gone is no reason to stop."""
        try:
            self._wire.send({"step": step, **more})
        except OSError:
            return
        if step == self.orders.stop_at:
            os.kill(os.getpid(), signal.SIGSTOP)

    def work(self) -> None:
        """Claim, settle the effect, commit."""
        self.tell("started")
        self.grant = self._client.claim(self.orders.task_id, 60)
        self.tell("claimed", fence=dict(self.grant.fence))
        effect_id = self._prepared()
        while True:
            effect = self._http.call("GET", f"/effects/{effect_id}")
            if effect["state"] in SETTLED:
                break
            if effect["state"] == "PREPARED" and not effect["hasHappened"]:
                self._execute(effect)
            elif effect["mode"] == "NON_REPLAYABLE":
                self._wait_for_a_person("doubt", effect_id)
            else:
                self._look_up(effect)
        self.tell("settled", state=effect["state"])
        answer = self._client.commit(self.grant, {"sent": effect["payloadDigest"]})
        self.tell("committed", body=answer)

    def _prepared(self) -> str:
        """The effect's id: of the own payload, or of the one that is bound already."""
        path = f"/attempts/{self.grant.attempt_id}/effects"
        try:
            effect = self._post(path, slot="mail", payload=self.orders.payload)
        except Problem as problem:
            if problem.code != "PAYLOAD_CONFLICT":
                raise
            effect = problem.body
            self.tell("conflict", payload=effect["boundPayload"], effect=effect["effectId"])
        self.tell("prepared", effect=effect["effectId"])
        return str(effect["effectId"])

    def _execute(self, effect: dict[str, Any]) -> None:
        """One permit and its one call. The payload is the bound one, whoever bound it."""
        effect_id = effect["effectId"]
        self.tell("executing")
        asked_at = time.monotonic()
        try:
            permit = self._post(f"/effects/{effect_id}/execute")["permit"]
        except Problem as problem:
            if problem.code == "APPROVAL_REQUIRED":
                self._wait_for_a_person("approval", effect_id)
                return
            if problem.code == "MUST_RECONCILE":
                return
            raise
        ends_at = asked_at + float(permit["secondsRemaining"])
        self.tell("permitted", permit=permit["permitId"])
        seconds_left = ends_at - time.monotonic()
        if seconds_left <= 0:
            self._say(effect_id, "unknown", permit, note="The permit ran out before the call.")
            return
        self.tell("checked")
        receipt = self._call(effect, permit, seconds_left)
        self.tell("called", answered=receipt is not None)
        if receipt is None:
            self._say(effect_id, "unknown", permit, note="The call was not answered.")
        else:
            self._say(effect_id, "confirm", permit, receipt=receipt)

    def _call(
        self, effect: dict[str, Any], permit: dict[str, Any], seconds_left: float
    ) -> dict[str, Any] | None:
        """The outside call; its receipt, or None where the answer tells nothing."""
        headers = {
            "Idempotency-Key": permit["idempotencyKey"],
            "Permit-Id": permit["permitId"],
            "Claim-Generation": str(permit["claimGeneration"]),
            "Sink-Answers": self._answers,
        }
        self._answers = "at-once"
        try:
            answer = httpx.post(
                self.orders.sink_url, json=effect["payload"], headers=headers, timeout=seconds_left
            )
        except httpx.TransportError:
            return None
        return dict(answer.json()) if answer.is_success else None

    def _say(self, effect_id: str, verb: str, permit: dict[str, Any], **fields: Any) -> None:
        """Tell of the call. Where that is only an observation by now, the look-up decides."""
        try:
            self._post(f"/effects/{effect_id}/{verb}", permitId=permit["permitId"], **fields)
        except Problem as problem:
            if problem.code != "MUST_RECONCILE":
                raise
            self.tell("too-late", verb=verb)
            return
        self.tell("told", verb=verb)

    def _look_up(self, effect: dict[str, Any]) -> None:
        """Bring what the slot's declared look-up sees; wait a little while it is too weak."""
        recipe = self.grant.input["effects"][0]["lookup"]
        url = recipe["url"].replace("{effectId}", effect["effectId"])
        status = httpx.get(url, timeout=LOOK_UP_SECONDS).status_code
        said = {200: "HAPPENED", 404: "DID_NOT_HAPPEN"}[status]
        self.tell("looked-up", said=said)
        try:
            self._post(
                f"/effects/{effect['effectId']}/reconcile",
                said=said,
                lookUp=recipe["kind"],
                etag=effect["etag"],
            )
        except Problem as problem:
            if problem.code not in ("WEAK_OBSERVATION", "MUST_RECONCILE"):
                raise
            _pause()
            return
        self.tell("reconciled", said=said)

    def _wait_for_a_person(self, what: str, effect_id: str) -> None:
        self.tell(what, effect=effect_id)
        _pause()

    def _post(self, path: str, **fields: Any) -> dict[str, Any]:
        """A call under the fence, with one key for its tries."""
        body = {"fence": dict(self.grant.fence), **fields}
        answer: dict[str, Any] = self._http.call("POST", path, body, headers={"Idempotency-Key": uuid4().hex})
        return answer


def _pause() -> None:
    threading.Event().wait(POLL_SECONDS)
