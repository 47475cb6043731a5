"""One call over HTTP: tried again with the same key where that is safe, then an answer or a problem."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import httpx

from .problems import Unreachable, problem_of

TRIES = 5
LONGEST_PAUSE_SECONDS = 8.0
TIMEOUT = httpx.Timeout(30.0, connect=5.0)


class Http:
    """A connection to one server under one token."""

    def __init__(self, url: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        base = url.rstrip("/")
        base = base if base.endswith("/api/v1") else f"{base}/api/v1"
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            "User-Agent": "fencepost-client/0.1",
        }
        self._client = httpx.Client(
            base_url=base, headers=headers, timeout=TIMEOUT, transport=transport, follow_redirects=False
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
        tries: int = TRIES,
    ) -> Any:
        """The answer of one call, with one idempotency key for all its tries.

        Raises ``Problem`` for a refusal and ``Unreachable`` when no try was answered.
        """
        sent = {"Idempotency-Key": uuid4().hex, **(headers or {})} if method != "GET" else dict(headers or {})
        timeout = TIMEOUT if timeout_seconds is None else timeout_seconds
        request = self._client.build_request(
            method, path, json=body, params=query, content=content, headers=sent, timeout=timeout
        )
        failure = ""
        for number in range(tries):
            if number:
                time.sleep(_pause(number))
            try:
                answer = self._client.send(request)
            except httpx.TransportError as error:
                failure = f"{type(error).__name__}: {error}"
                continue
            if answer.is_success:
                return _read(answer)
            problem = problem_of(answer.status_code, _problem_body(answer))
            if problem.retry != "same_key" or number + 1 == tries:
                raise problem
            failure = str(problem)
            time.sleep(min(LONGEST_PAUSE_SECONDS, _retry_after(answer)))
        raise Unreachable(f"{method} {path} was not answered in {tries} tries ({failure})")


def _pause(number: int) -> float:
    """Seconds before the next try: doubling, with jitter, bounded."""
    return float(min(LONGEST_PAUSE_SECONDS, 0.2 * 2**number) * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, not a secret


def _retry_after(answer: httpx.Response) -> float:
    written = answer.headers.get("Retry-After", "0")
    return float(written) if written.isdigit() else 0.0


def _read(answer: httpx.Response) -> Any:
    if "json" in answer.headers.get("Content-Type", ""):
        return answer.json()
    return answer.content


def _problem_body(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if isinstance(body, dict):
        return body
    retry = "same_key" if answer.status_code >= 500 else "never"
    return {"detail": answer.text[:200], "retry": retry}
