"""Errors as RFC 9457 problems, all of them from one table: ``outcomes.RULES``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse

from claims.outcomes import Refused, Retry, Why

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = {Why.IN_PROGRESS: 1, Why.BUSY: 1, Why.OUTCOME_UNKNOWN: 1, Why.RATE_LIMITED: 5}
_OF_EFFECT = {
    "effectId": "effectId", "slot": "slot", "effectState": "state", "permitDeadline": "permitDeadline", "settlesAt": "settlesAt",
    "hasHappened": "hasHappened", "etag": "etag", "boundDigest": "payloadDigest",
}  # fmt: skip
_TITLES = {
    400: "Bad request", 401: "Not authenticated", 403: "Not permitted", 404: "Not found", 405: "Method not allowed",
    409: "The world moved", 412: "Precondition failed", 413: "Too large", 415: "Unsupported media type",
    422: "Makes no sense", 426: "Upgrade required", 429: "Too many requests", 500: "Fault", 503: "Try again",
}  # fmt: skip


class Refusal(Exception):
    """A refusal on its way out of the door, where no verb was called yet."""

    def __init__(self, why: Why, detail: str = "", *reasons: str, **extra: object) -> None:
        super().__init__(detail or why)
        self.refused = Refused(why, detail, None, reasons, extra)


def problem_of(refused: Refused, request_id: str) -> dict[str, Any]:
    """The problem document of a refusal: what happened, what is true now, what to do next."""
    rule = refused.rule
    body: dict[str, Any] = {
        "type": f"/help/problems/{refused.why.value}",
        "title": _TITLES[rule.status],
        "status": rule.status,
        "code": refused.why.value,
        "detail": refused.sentence,
        "retry": rule.retry.value,
        "legalActions": list(rule.then),
        "requestId": request_id,
    }
    if refused.current is not None:
        body["current"] = {**refused.current.as_json(), **_effect(refused.extra)}
    if refused.reasons:
        body["reasons"] = list(refused.reasons)
    return {**refused.extra, **body}


def _effect(extra: Mapping[str, object]) -> dict[str, object]:
    """The effect that stands in the way as it is now, where one does."""
    known = {inner: extra[outer] for outer, inner in _OF_EFFECT.items() if outer in extra}
    return {"effect": known} if "effectId" in known else {}


def refuse(refused: Refused, request_id: str) -> HttpResponse:
    """The answer to a refused request."""
    response = _problem(problem_of(refused, request_id), request_id)
    wait = RETRY_AFTER_SECONDS.get(refused.why)
    if wait is not None:
        response["Retry-After"] = str(wait)
    if refused.why is Why.UNAUTHENTICATED:
        response["WWW-Authenticate"] = 'Bearer realm="fencepost"'
    if refused.why is Why.UPGRADE_REQUIRED:
        response["Upgrade"] = "claim.v1"
    return response


def fault(status: int, code: str, detail: str, request_id: str) -> HttpResponse:
    """The answer where no refusal of the contract fits: a fault of the server, or no such method."""
    retry = Retry.SAME_KEY if status >= 500 else Retry.NEVER
    body = {
        "type": f"/help/problems/{code}", "title": _TITLES[status], "status": status, "code": code, "detail": detail,
        "retry": retry.value, "legalActions": [], "requestId": request_id,
    }  # fmt: skip
    return _problem(body, request_id)


def _problem(body: dict[str, Any], request_id: str) -> HttpResponse:
    response = HttpResponse(
        orjson.dumps(body, option=orjson.OPT_UTC_Z), content_type=MEDIA_TYPE, status=body["status"]
    )
    response["X-Request-Id"] = request_id
    response["Cache-Control"] = "no-store"
    return response
