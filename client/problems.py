"""What can go wrong on the way: the server said no, it did not answer, or the claim is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LOST = frozenset({"FENCED", "CANCELLED", "STALE_INPUT", "NOT_FOUND"})
"""Codes after which the work under this fence is over: nothing it writes will be taken."""


class Problem(Exception):
    """The server refused (RFC 9457). ``retry`` is ``same_key``, ``new_key`` or ``never``."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.body = dict(body)
        self.code = str(body.get("code", f"HTTP_{status}"))
        self.detail = str(body.get("detail", ""))
        self.retry = str(body.get("retry", "never"))
        self.current: dict[str, Any] = dict(body.get("current") or {})
        self.reasons: list[str] = list(body.get("reasons") or [])
        super().__init__(f"{self.code}: {self.detail}")


class Lost(Problem):
    """The claim has lost its authority. Stop: whatever is still done for it is done in vain."""


class Unreachable(Exception):
    """The server did not answer in time, several times; whether the call happened is unknown."""


class PermitLost(Exception):
    """Whether a permit was handed out was not heard. Hand it back under ``key`` and look the effect up."""

    def __init__(self, effect_id: str, key: str) -> None:
        self.effect_id, self.key = effect_id, key
        super().__init__(f"The answer to execute of {effect_id} under the key {key} was not heard.")


class Stopped(Exception):
    """The work must end now; ``reason`` says why in one sentence."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def problem_of(status: int, body: Mapping[str, Any]) -> Problem:
    """The right kind of problem for an answer."""
    kind = Lost if body.get("code") in LOST and status == 409 else Problem
    return kind(status, body)
