"""Every code a problem document can have, and what makes sense after it.

Promises: meaning, status and retry are those of ``claims.outcomes.RULES``, by which the API answers;
every code has something to do next. Pure: no database.
"""

from __future__ import annotations

from dataclasses import dataclass

from claims.outcomes import RULES, Retry, Rule, Why

RETRY: dict[Retry, str] = {
    Retry.SAME_KEY: "Yes: the same request with the same Idempotency-Key, after the seconds that Retry-After names.",
    Retry.NEW_KEY: "Not as it is: another request, or the same after things have changed, with a new Idempotency-Key.",
    Retry.NEVER: "No: the same request would be refused again.",
}

ACTIONS: dict[str, str] = {
    "abandon": "Abandon an effect that was prepared and is not to be sent.",
    "claim": "Claim the task, with what you have read now.",
    "claim-next": "Stop this work, and claim the next task.",
    "deliver": "Deliver what there is.",
    "effect": "Read the effect: its state, its permit, its etag, and what was seen of it.",
    "execute": "Ask for the permit again, with a new Idempotency-Key, when that has changed.",
    "pool": "Read the pool for its epoch and gate.",
    "read": "Read the task as it is now.",
    "reassign": "An operator can give the task to another agent.",
    "reconcile": "Follow the slot's look-up and say what it saw; an operator can settle it in the browser.",
    "release": "Release the claim and say why.",
    "release-quiet": "An operator can release the claim.",
    "request-changes": "Request changes, or give what is missing.",
    "stage": "Stage the result with its evidence.",
}
"""The calls of ``Rule.then`` in words."""

ADVICE: dict[str, str] = {
    "UNAUTHENTICATED": "Send Authorization: Bearer with a token that is neither expired nor revoked; its owner can have a new one made.",
    "FORBIDDEN": "Ask an administrator of the pool for the right, or use a token with the scope that this call needs.",
    "NOT_FOUND": "Look at the address. If it is right, ask an administrator for a right in the pool.",
    "MALFORMED": "Correct what “reasons” lists; each begins with the place in the body.",
    "UNPROCESSABLE": "Correct what “detail” names.",
    "UPGRADE_REQUIRED": "Send the fence and the other fields of claim.v1, as the API's reference lists them.",
    "GATE_CLOSED": "Wait until an operator opens the gate. Claims that are held can be finished.",
    "ALREADY_COMMITTED": "Nothing is left to do. “current” names the result that counts.",
    "TOO_LATE": "Nothing is left to do: the task has its result.",
    "NOT_REVIEWER": "Leave it to the reviewer who is named, or step in with a reason where the page offers it.",
    "SELF_REVIEW": "Ask another reviewer of the pool.",
    "ALREADY_DECIDED": "Read the decision on the task's page.",
    "IN_PROGRESS": "Wait for the first request to end, and ask again.",
    "KEY_REUSED": "Take a new Idempotency-Key for each new request.",
    "RATE_LIMITED": "Ask less often; let a long poll wait in place of many short ones.",
    "TOO_LARGE": "Send less: split the call, or upload large things as evidence.",
    "UNSUPPORTED_MEDIA": "Send application/json without a Content-Encoding.",
    "BUSY": "Wait a moment and ask again.",
    "OUTCOME_UNKNOWN": "Ask again with the same key: the answer is that of the first time, should it have happened.",
    "METHOD_NOT_ALLOWED": "Use a method that the header Allow names.",
    "FAULT": "Ask again with the same key. If it stays, tell an administrator the request's id.",
}
"""What to do where no call of the API follows."""

_BESIDE: dict[str, Rule] = {
    "METHOD_NOT_ALLOWED": Rule(405, Retry.NEVER, "The address does not have this method."),
    "FAULT": Rule(500, Retry.SAME_KEY, "The server made a mistake."),
}
"""Codes of the API that are no refusals of the contract."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One code as its page shows it."""

    code: str
    status: int
    meaning: str
    retry: str
    next: tuple[str, ...]


def problems() -> tuple[Problem, ...]:
    """All of them, in the order of the contract."""
    return tuple(_problem(why.value, RULES[why]) for why in Why) + tuple(
        _problem(code, rule) for code, rule in _BESIDE.items()
    )


def problem(code: str) -> Problem | None:
    """The problem of this code, in capital or small letters."""
    return next((each for each in problems() if each.code == code.upper()), None)


def _problem(code: str, rule: Rule) -> Problem:
    advice = (ADVICE[code],) if code in ADVICE else ()
    calls = tuple(ACTIONS[call] for call in rule.then)
    return Problem(code, rule.status, rule.sentence, RETRY[rule.retry], advice + calls)
