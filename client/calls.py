"""The calls of the JSON API, one method each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from .effects import Effects
from .evidence import Evidence
from .grants import Grant
from .http import Http
from .working import Working

Fence = Mapping[str, Any]
Body = dict[str, Any]


class Client:
    """A server under one token. Every method raises ``Problem`` for a refusal and ``Unreachable`` for silence."""

    def __init__(self, url: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        self._http = Http(url, token, transport)
        self._work: dict[str, Working] = {}
        self.effects = Effects(self._http)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def whoami(self) -> Body:
        """Whose token this is, and in which pools it works."""
        return self._get("/whoami")

    def pool(self, name: str) -> Body:
        """A pool with its scheduler epoch and gate."""
        return self._get(f"/pools/{name}")

    def tasks(self, **query: Any) -> Body:
        """A page of tasks; ``pool``, ``state``, ``label``, ``q``, ``cursor`` and ``limit`` narrow it."""
        return self._get("/tasks", query)

    def task(self, task_id: str) -> Body:
        """A task with its input."""
        return self._get(f"/tasks/{task_id}")

    def create(self, pool: str, tasks: Sequence[Mapping[str, Any]]) -> list[Body]:
        """Write tasks, all or none; needs a personal token with the scope ``prepare``.

        A task may have a ``nodeId`` and name others in ``dependsOn``: nodes of this call, or tasks of
        the pool by number (T-1042) or id.
        """
        answer = self._post("/tasks", {"pool": pool, "tasks": list(tasks)})
        return list(answer["tasks"])

    def revise(
        self,
        task_id: str,
        input: Mapping[str, Any],
        expected_state_version: int,
        title: str | None = None,
        acknowledge: Sequence[Mapping[str, Any]] = (),
    ) -> Body:
        """The next revision of a task. ``acknowledge`` holds {effectId, counts, reason} for earlier effects."""
        body = {
            "expectedStateVersion": expected_state_version,
            "input": dict(input),
            "title": title,
            "acknowledge": list(acknowledge),
        }
        return self._post(f"/tasks/{task_id}/revise", body)

    def cancel(self, task_id: str, reason: str) -> Body:
        """From its answer on nothing of the task is accepted."""
        return self._post(f"/tasks/{task_id}/cancel", {"reason": reason})

    def acknowledge(self, task_id: str, effect_id: str, reason: str, *, counts: bool) -> Body:
        """Whether an earlier revision's effect counts for this task, or is to be done again."""
        body = {"effectId": effect_id, "counts": counts, "reason": reason}
        return self._post(f"/tasks/{task_id}/acknowledge", body)

    def claim(self, task_id: str, ttl_seconds: int | None = None) -> Grant:
        """Claim one task as it is now."""
        task = self.task(task_id)
        epoch = self.pool(task["pool"])["schedulerEpoch"]
        body = {
            "expectedStateVersion": task["stateVersion"],
            "schedulerEpoch": epoch,
            "ttlSeconds": ttl_seconds,
        }
        asked_at = time.monotonic()
        return Grant.parse(self._post(f"/tasks/{task_id}/claim", body), asked_at)

    def claim_next(
        self,
        pool: str,
        most: int = 1,
        ttl_seconds: int | None = None,
        wait_seconds: int = 0,
        epoch: int | None = None,
    ) -> list[Grant]:
        """Up to ``most`` grants; waits up to ``wait_seconds`` (0 to 25) for the first. Empty when there is nothing."""
        epoch = self.pool(pool)["schedulerEpoch"] if epoch is None else epoch
        body = {"schedulerEpoch": epoch, "max": most, "ttlSeconds": ttl_seconds, "waitSeconds": wait_seconds}
        asked_at = time.monotonic()
        answer = self._http.call(
            "POST", f"/pools/{pool}/claim-next", body, timeout_seconds=30.0 + wait_seconds
        )
        return [Grant.parse(grant, asked_at) for grant in answer["grants"]]

    def mine(self) -> list[Grant]:
        """The live grants of this agent."""
        asked_at = time.monotonic()
        return [Grant.parse(grant, asked_at) for grant in self._get("/attempts/mine")["grants"]]

    def attempt(self, attempt_id: str, wait_seconds: int = 0) -> Body:
        """An attempt as it stands; with ``wait_seconds`` it answers once there is news for its runner."""
        query = {"waitSeconds": wait_seconds} if wait_seconds else {}
        answer: Body = self._http.call(
            "GET", f"/attempts/{attempt_id}", query=query, timeout_seconds=30.0 + wait_seconds
        )
        return answer

    def renew(self, grant: Grant, seconds: int, timeout_seconds: float | None = None, tries: int = 1) -> Body:
        """Let the lease run ``seconds`` from now. By default one try: ``Working`` knows when to try again."""
        body = {"fence": grant.fence, "extendSeconds": seconds}
        answer: Body = self._http.call(
            "POST", f"/attempts/{grant.attempt_id}/renew", body, timeout_seconds=timeout_seconds, tries=tries
        )
        return answer

    def working(self, grant: Grant, on_stop: Callable[[str], None] | None = None) -> Working:
        """Renew beside the work, for as long as the ``with`` block runs."""
        work = self._work[grant.attempt_id] = Working(self, grant, on_stop)
        return work

    def progress(self, grant: Grant, note: str, cost: Mapping[str, Any] | None = None) -> Body:
        """Say what is being done, and what it has cost so far."""
        return self._post(
            f"/attempts/{grant.attempt_id}/progress", {"fence": grant.fence, "note": note, "cost": cost}
        )

    def accept_tool(self, fence: Fence, tool: str, args_digest: str) -> Body:
        """For a tool server: is the claim current for which it is asked to act? Raises ``Lost`` if not.

        ``args_digest`` is ``sha256:`` and the hex digest of the arguments. Ask before each act.
        """
        body = {"fence": dict(fence), "tool": tool, "argsDigest": args_digest}
        return self._post(f"/attempts/{fence['attemptId']}/accept-tool", body)

    def release(self, grant: Grant, reason: str, cost: Mapping[str, Any] | None = None) -> Body:
        """Give the task back, unharmed. ``cost`` holds totals: seconds, tokens, money, labels."""
        return self._end(grant, "release", {"fence": grant.fence, "reason": reason, "cost": cost})

    def fail(
        self, grant: Grant, reason: str, *, retryable: bool, cost: Mapping[str, Any] | None = None
    ) -> Body:
        """Say that it could not be done."""
        body = {"fence": grant.fence, "reason": reason, "retryable": retryable, "cost": cost}
        return self._end(grant, "fail", body)

    def upload(self, grant: Grant, sha256: str, content: bytes, media_type: str) -> Body:
        """Keep bytes as evidence of the attempt."""
        headers = {"Fencepost-Fence": grant.fence_header, "Content-Type": media_type}
        path = f"/attempts/{grant.attempt_id}/files/{sha256}"
        answer: Body = self._http.call("PUT", path, content=content, headers=headers, timeout_seconds=120.0)
        return answer

    def deliver(
        self,
        grant: Grant,
        result: Any = None,
        evidence: Evidence | None = None,
        summary: str = "",
        needs: str = "",
        claims: Mapping[int, str] | None = None,
    ) -> Body:
        """Upload the evidence and hand it in for review. ``claims`` holds one line for each criterion's number."""
        body = self._handed_in(grant, result, evidence)
        account = {
            "summary": summary,
            "needs": needs,
            "claims": {str(number): text for number, text in (claims or {}).items()},
        }
        return self._end(grant, "deliver", {**body, **account})

    def commit(self, grant: Grant, result: Any = None, evidence: Evidence | None = None) -> Body:
        """Upload the evidence and commit, where the task asks for no review."""
        return self._end(grant, "commit", self._handed_in(grant, result, evidence))

    def delivery(self, delivery_id: str) -> Body:
        """A delivery with its decision."""
        return self._get(f"/deliveries/{delivery_id}")

    def history(self, task_id: str, after: int = 0) -> list[Body]:
        """Changes of a task above a state version, oldest first: one page."""
        return list(self._get(f"/tasks/{task_id}/history", {"after": after, "limit": 200})["history"])

    def refusals(self, task_id: str) -> list[Body]:
        """What was refused about a task, newest first: one page."""
        return list(self._get(f"/tasks/{task_id}/refusals", {"limit": 200})["refusals"])

    def events(self, after: str = "0.0.0", pool: str | None = None) -> Body:
        """The next rows of history, and the ``next`` to go on from."""
        return self._get("/events", {"after": after, "limit": 200, **({"pool": pool} if pool else {})})

    def _handed_in(self, grant: Grant, result: Any, evidence: Evidence | None) -> Body:
        items = evidence.items if evidence else []
        for item in items:
            self.upload(grant, item.sha256, item.read(), item.media_type)
        return {
            "fence": grant.fence,
            "inputDigest": grant.input_digest,
            "result": {} if result is None else result,
            "evidence": [item.as_json() for item in items],
        }

    def _end(self, grant: Grant, verb: str, body: Mapping[str, Any]) -> Body:
        """A call that ends the claim, and with it the renewing."""
        answer = self._post(f"/attempts/{grant.attempt_id}/{verb}", body)
        work = self._work.pop(grant.attempt_id, None)
        if work is not None:
            work.finish()
        return answer

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Body:
        answer: Body = self._http.call("GET", path, query=query)
        return answer

    def _post(self, path: str, body: Mapping[str, Any]) -> Body:
        answer: Body = self._http.call("POST", path, body)
        return answer
