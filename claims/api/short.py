"""The short way of the two calls that are asked for all the time: claim-next of one, and a plain commit.

Promises: what is answered here is, byte for byte but for ids and moments, what the long way would
have answered. None means that there may be something to refuse, replay, wait for or explain:
nothing was changed, and the caller hands the request to Django, which goes through every check in
the order of claim.v1 section 4. So nothing is ever refused here.

A token that was recognised less than two seconds ago is believed, because the transition reads
its standing again in its own transaction: a token that ended, or whose agent left the pool, never
gets an answer from here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware

from claims import tokens, transitions
from claims.api import rendering
from claims.api.documents import Unreadable, read_document
from claims.api.door import BRAKED, ID, KEY, REQUEST_ID, Visit
from claims.api.limits import is_too_often
from claims.callers import Caller, new_request_id
from claims.canonical import NotCanonical, is_digest
from claims.fences import Fence
from claims.outcomes import Committed, Grants
from claims.transitions import StagedResult
from claims.vocabulary import Scope, Source, TokenKind

Environ = dict[str, Any]
Start = Callable[..., Any]
Application = Callable[[Environ, Start], Iterable[bytes]]

MOST_BYTES = 16_384
_MOST = 2**53 - 1
_CLAIM_NEXT = re.compile(r"/api/v1/pools/([^/]+)/claim-next", re.ASCII)
_COMMIT = re.compile(r"/api/v1/attempts/([0-9a-f-]{36})/commit", re.ASCII)
_UNUSUAL = ("QUERY_STRING", "HTTP_COOKIE", "HTTP_TRANSFER_ENCODING", "HTTP_CONTENT_ENCODING", "HTTP_IF_MATCH")


def before(django: Application) -> Application:
    """The application with the short way in front of it."""
    headers = _headers()

    def application(environ: Environ, start: Start) -> Iterable[bytes]:
        visit = _visit(environ)
        body = _answer(visit, environ) if visit is not None else None
        if visit is None or body is None:
            return django(environ, start)
        start("200 OK", [*headers, ("X-Request-Id", visit.request_id), ("Content-Length", str(len(body)))])
        return (body,)

    return application


class _Secure(HttpRequest):
    """A request as the security middleware sees it where it redirects nothing."""

    def _get_scheme(self) -> str:
        return "https"


def _headers() -> list[tuple[str, str]]:
    """The headers that the long way's answers carry."""
    plain = HttpResponse(content_type="application/json")
    plain["Cache-Control"] = "no-store"
    return list(SecurityMiddleware(lambda request: plain).process_response(_Secure(), plain).items())


def _is_as_safe_as_wanted(environ: Environ) -> bool:
    """Whether the request came over HTTPS, where that is asked for."""
    if not settings.IS_HTTPS:
        return True
    if settings.FENCEPOST_TRUSTED_PROXY:
        return bool(environ.get("HTTP_X_FORWARDED_PROTO") == "https")
    return bool(environ["wsgi.url_scheme"] == "https")


def _visit(environ: Environ) -> Visit | None:
    """Who calls, as the door would find it. None for everything that is not plain."""
    if (
        environ["REQUEST_METHOD"] != "POST"
        or not _is_as_safe_as_wanted(environ)
        or environ.get("CONTENT_TYPE") != "application/json"
        or any(environ.get(name) for name in _UNUSUAL)
    ):
        return None
    scheme, _, written = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme != "Bearer" or len(written) > 200:
        return None
    close_old_connections()
    token = tokens.recognise_lately(written)
    if token is None:
        return None
    given = environ.get("HTTP_X_REQUEST_ID", "")
    request_id = given if REQUEST_ID.fullmatch(given) else new_request_id()
    return Visit(token, request_id, environ["PATH_INFO"], "POST", environ.get("HTTP_IDEMPOTENCY_KEY"), None)


def _answer(visit: Visit, environ: Environ) -> bytes | None:
    """The call's answer, or None."""
    if visit.key_header is not None and KEY.fullmatch(visit.key_header) is None:
        return None
    if (found := _CLAIM_NEXT.fullmatch(visit.path)) is not None:
        visit.pool_name = found.group(1)
        return _claim_next(visit, environ)
    if (found := _COMMIT.fullmatch(visit.path)) is not None:
        return _commit(visit, environ, found.group(1))
    return None


def _claim_next(visit: Visit, environ: Environ) -> bytes | None:
    token = visit.token
    if token.kind is not TokenKind.AGENT or Scope.CLAIM not in token.scopes or visit.key_header is None:
        return None
    if visit.pool_name not in token.pools or not _read(visit, environ):
        return None
    asked: dict[str, Any] = visit.body
    epoch, ttl_seconds = asked.pop("schedulerEpoch", None), asked.pop("ttlSeconds", None)
    is_one_at_once = _is_count(asked.pop("max", 1), 1, 1) and _is_count(asked.pop("waitSeconds", 0), 0, 0)
    if not is_one_at_once or asked or not _is_count(epoch):
        return None
    if ttl_seconds is not None and not _is_count(ttl_seconds, 1, 86_400):
        return None
    if _is_braked(visit, environ):
        return None
    granted = transitions.claim_at_once(_caller(visit), visit.pool_name, epoch, ttl_seconds)
    if not isinstance(granted, Grants):
        return None
    return _written({"grants": rendering.grants(visit, granted.grants)})


def _commit(visit: Visit, environ: Environ, attempt: str) -> bytes | None:
    token = visit.token
    if token.kind is TokenKind.PERSON or Scope.DELIVER not in token.scopes or not _read(visit, environ):
        return None
    asked: dict[str, Any] = visit.body
    fence = _fence(asked.pop("fence", None))
    input_digest, result_digest = asked.pop("inputDigest", None), asked.pop("resultDigest", None)
    if fence is None or str(fence.attempt_id) != attempt or token.attempt_id not in (None, fence.attempt_id):
        return None
    if "result" not in asked or len(asked) > 1 or not isinstance(input_digest, str):
        return None
    if not is_digest(input_digest) or _is_braked(visit, environ):
        return None
    try:
        staged = StagedResult(asked["result"], [])
        committed = transitions.commit_at_once(_caller(visit), fence, input_digest, result_digest, staged)
    except NotCanonical:
        return None
    return _written(rendering.committed(committed)) if isinstance(committed, Committed) else None


def _read(visit: Visit, environ: Environ) -> bool:
    """Read the body, and leave it to be read again. Whether it is a JSON object of a plain size."""
    declared = environ.get("CONTENT_LENGTH") or ""
    if not (declared.isascii() and declared.isdigit() and 0 < int(declared) <= MOST_BYTES):
        return False
    raw = environ["wsgi.input"].read(int(declared))
    environ["wsgi.input"] = BytesIO(raw)
    if len(raw) != int(declared):
        return False
    try:
        visit.body = read_document(raw)
    except (Unreadable, RecursionError):
        return False
    if not isinstance(visit.body, dict):
        return False
    visit.body_digest = hashlib.sha256(orjson.dumps(visit.body, option=orjson.OPT_SORT_KEYS)).digest()
    return True


def _fence(value: object) -> Fence | None:
    if not isinstance(value, dict) or len(value) != 5:
        return None
    ids = [value.get("taskId"), value.get("attemptId")]
    numbers = [value.get(name) for name in ("schedulerEpoch", "claimGeneration", "cancelGeneration")]
    if not all(isinstance(text, str) and ID.fullmatch(text) for text in ids):
        return None
    if not all(_is_count(number) for number in numbers):
        return None
    return Fence(UUID(ids[0]), UUID(ids[1]), *numbers)  # type: ignore[arg-type]


def _is_count(value: object, least: int = 0, most: int = _MOST) -> bool:
    return type(value) is int and least <= value <= most


def _is_braked(visit: Visit, environ: Environ) -> bool:
    """Count the call, once; the door is told what came of it."""
    environ[BRAKED] = is_too_often(visit.token.token_id, "call")
    return bool(environ[BRAKED])


def _caller(visit: Visit) -> Caller:
    plain = visit.caller(key_required=False)
    return Caller(
        plain.actor, Source.API, plain.request_id, plain.key, plain.request_digest, visit.token.token_id
    )


def _written(body: object) -> bytes:
    return orjson.dumps(body, option=orjson.OPT_UTC_Z)
