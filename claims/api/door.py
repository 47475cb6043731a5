"""The door every call comes through: who calls, what that token may do, what it may see.

Promises the order of claim.v1 section 4: 401, then what the token is not for (403), 429, then
404 for everything the caller cannot see or that is not there, and only then the body. No cookie
is looked at, and no token is taken from an address.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

import orjson
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from django.http.request import RawPostDataException
from structlog.contextvars import bind_contextvars

from claims import tokens
from claims.api.documents import MAX_BYTES, Unreadable, read_document
from claims.api.limits import is_too_often
from claims.api.problems import Refusal
from claims.callers import Actor, Caller, new_request_id
from claims.outcomes import Why
from claims.selectors import api as selectors
from claims.vocabulary import ActorKind, Scope, Source, TokenKind

ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_EFFECT_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)
REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,80}", re.ASCII)
KEY = re.compile(r'"?([A-Za-z0-9_.:~+=-]{1,255})"?', re.ASCII)
_JSON = re.compile(r"application/json(?:\s*;\s*charset=\"?utf-8\"?)?", re.ASCII | re.IGNORECASE)
BRAKED = "fencepost.braked"
"""Where a request's environment says whether the brake holds it, once it was counted."""
_TOKEN_FIELDS = ("token", "access_token", "authorization")


@dataclass(slots=True)
class Visit:
    """One call that was let in: who, about what, with which body."""

    token: tokens.Known
    request_id: str
    path: str
    method: str
    key_header: str | None
    if_match: str | None
    task_id: UUID | None = None
    attempt: selectors.AttemptPlace | None = None
    delivery_id: UUID | None = None
    effect_id: str = ""
    pool_id: int = 0
    pool_name: str = ""
    body: Any = None
    body_digest: bytes = b""

    @property
    def actor(self) -> Actor:
        return self.token.actor

    @property
    def is_person(self) -> bool:
        return self.actor.kind is ActorKind.PERSON

    def caller(self, *, key_required: bool) -> Caller:
        """Who calls the verb, with the idempotency key and what it stands for.

        Raises ``Refusal`` for a key that is absent where one is required, or badly written.
        """
        if self.key_header is None:
            if key_required:
                raise Refusal(Why.MALFORMED, "This call needs the header Idempotency-Key.")
            return Caller(self.actor, Source.API, self.request_id)
        found = KEY.fullmatch(self.key_header)
        if found is None or self.key_header.count('"') == 1:
            raise Refusal(
                Why.MALFORMED,
                "Idempotency-Key is 1 to 255 letters, digits or any of _ . : ~ + = -, once, quoted or not.",
            )
        stands_for = hashlib.sha256(f"{self.method} {self.path}\n".encode() + self.body_digest).hexdigest()
        return Caller(self.actor, Source.API, self.request_id, found.group(1), f"sha256:{stands_for}")

    def expected_version(self) -> int | None:
        """The state version an If-Match names; None where the header is absent or ``*``."""
        if self.if_match is None or self.if_match.strip() == "*":
            return None
        digits = self.if_match.strip().strip('"')
        if not digits.isascii() or not digits.isdigit() or len(digits) > 16:
            raise Refusal(Why.MALFORMED, 'If-Match holds one ETag of the task, such as "12".')
        return int(digits)

    def stay(self) -> None:
        """While a call waits: raises ``Refusal`` once its token has ended, or its holder left the pool."""
        is_in_pool = tokens.still_opens(self.token.token_id, self.pool_id)
        if not is_in_pool:
            raise Refusal(Why.UNAUTHENTICATED if is_in_pool is None else Why.NOT_FOUND)

    def see_pool(self, name: str) -> int:
        """The id of a pool the caller works in. Raises ``Refusal`` with NOT_FOUND for any other."""
        pool_id = self.token.pools.get(name)
        if pool_id is None:
            raise Refusal(Why.NOT_FOUND)
        return pool_id

    def see_attempt(self, attempt_id: UUID) -> selectors.AttemptPlace:
        """An attempt in a pool the caller works in. Raises ``Refusal`` with NOT_FOUND for any other.

        A token of one attempt reads those that its work builds on, too: whose results its input is
        pinned to, and whose evidence it adopted.
        """
        place = selectors.place_of_attempt(attempt_id)
        if place is None or place.pool_id not in self.token.pools.values():
            raise Refusal(Why.NOT_FOUND)
        own = self.token.attempt_id
        if own in (None, attempt_id) or (self.method == "GET" and selectors.builds_on(own, attempt_id)):
            return place
        raise Refusal(Why.NOT_FOUND)


@dataclass(frozen=True)
class Door:
    """What a call needs: a scope, and which fields its address may carry after the ``?``.

    ``also``: another scope that opens it. ``body``: it carries a JSON document. ``renews``: it has the brake of renewals.
    ``attempts``: a token that is good for one attempt may call it.
    """

    scope: Scope
    query: frozenset[str] = field(default_factory=frozenset)
    body: bool = False
    renews: bool = False
    attempts: bool = True
    also: Scope | None = None

    def __call__(self, request: HttpRequest) -> Visit:
        """Let the caller in, or raise ``Refusal``."""
        token = _recognised(request)
        opening = [scope.value for scope in (self.scope, self.also) if scope]
        if token.scopes.isdisjoint(opening):
            raise Refusal(Why.FORBIDDEN, f"This token does not have the scope {' or '.join(opening)}.")
        if token.kind is TokenKind.ATTEMPT and not self.attempts:
            raise Refusal(Why.FORBIDDEN, "This token is good for its attempt only.")
        is_braked = request.META.get(BRAKED)
        if is_braked is None:
            is_braked = is_too_often(token.token_id, "renew" if self.renews else "call")
        if is_braked:
            raise Refusal(Why.RATE_LIMITED)
        visit = Visit(
            token,
            request_id_of(request),
            request.path_info,
            request.method or "",
            request.headers.get("Idempotency-Key"),
            request.headers.get("If-Match"),
        )
        _look(visit, request)
        self._check_query(request)
        if self.body:
            _read_body(visit, request)
        return visit

    def _check_query(self, request: HttpRequest) -> None:
        for name, values in request.GET.lists():
            if name not in self.query:
                raise Refusal(Why.MALFORMED, f"The address carries an unknown field: {name[:80]!r}.")
            if len(values) > 1:
                raise Refusal(Why.MALFORMED, f"The address carries {name} more than once.")
            if "\x00" in str(values[0]):
                raise Refusal(Why.MALFORMED, f"The field {name} holds the character U+0000.")


def visit_of(request: HttpRequest) -> Visit:
    """The visit that the door opened."""
    return cast("Visit", request.auth)  # type: ignore[attr-defined]


def request_id_of(request: HttpRequest) -> str:
    """The caller's own request id where it is a plain one, else a new one; the same all through."""
    known = getattr(request, "_fencepost_request_id", None)
    if known is None:
        given = request.headers.get("X-Request-Id", "")
        known = given if REQUEST_ID.fullmatch(given) else new_request_id()
        request._fencepost_request_id = known  # type: ignore[attr-defined]
        bind_contextvars(request_id=known)
    return str(known)


def parse_id(text: str) -> UUID:
    """An id of an address, in lower-case canonical form. Raises ``Refusal`` with NOT_FOUND."""
    if ID.fullmatch(text) is None:
        raise Refusal(Why.NOT_FOUND)
    return UUID(text)


def _recognised(request: HttpRequest) -> tokens.Known:
    header, has_cookie = request.headers.get("Authorization"), bool(request.headers.get("Cookie"))
    for name, value in request.GET.items():
        if name.lower() in _TOKEN_FIELDS or str(value).startswith("fp_"):
            raise Refusal(
                Why.UNAUTHENTICATED,
                "A token in an address is not taken, and is to be rotated: addresses are logged.",
            )
    if header is None:
        if has_cookie:
            raise Refusal(Why.FORBIDDEN, "The API takes bearer tokens only, no sessions.")
        raise Refusal(Why.UNAUTHENTICATED)
    if has_cookie:
        raise Refusal(
            Why.MALFORMED, "Send a bearer token or a session cookie, not both; the API takes the token only."
        )
    scheme, _, written = header.partition(" ")
    known = (
        tokens.recognise(written)
        if scheme.lower() == "bearer" and len(written) <= 200
        else tokens.recognise("")
    )
    if known is None:
        raise Refusal(Why.UNAUTHENTICATED)
    return known


def _look(visit: Visit, request: HttpRequest) -> None:
    """Find what the address names, if the caller may see it."""
    named = request.resolver_match.kwargs if request.resolver_match else {}
    if "pool" in named:
        visit.pool_name = named["pool"]
        visit.pool_id = visit.see_pool(named["pool"])
    elif "attempt_id" in named:
        visit.attempt = visit.see_attempt(parse_id(named["attempt_id"]))
        visit.task_id, visit.pool_id = visit.attempt.task_id, visit.attempt.pool_id
    elif "delivery_id" in named:
        visit.delivery_id = parse_id(named["delivery_id"])
        _see_task(visit, selectors.task_of_delivery(visit.delivery_id))
    elif "effect_id" in named:
        if _EFFECT_ID.fullmatch(named["effect_id"]) is None:
            raise Refusal(Why.NOT_FOUND)
        visit.effect_id = named["effect_id"]
        _see_task(visit, selectors.task_of_effect(visit.effect_id))
    elif "task_id" in named:
        _see_task(visit, parse_id(named["task_id"]))


def _see_task(visit: Visit, task_id: UUID | None) -> None:
    pool_id = selectors.pool_of_task(task_id) if task_id else None
    if task_id is None or pool_id is None or pool_id not in visit.token.pools.values():
        raise Refusal(Why.NOT_FOUND)
    if visit.token.attempt_id is not None:
        place = selectors.place_of_attempt(visit.token.attempt_id)
        if place is None or place.task_id != task_id:
            raise Refusal(Why.NOT_FOUND)
    visit.task_id, visit.pool_id = task_id, pool_id


def _read_body(visit: Visit, request: HttpRequest) -> None:
    refuse_encoding(request)
    if not declared_length(request):
        raise Refusal(Why.MALFORMED, "The body is empty; send a JSON object with its Content-Length.")
    if _JSON.fullmatch((request.headers.get("Content-Type") or "").strip()) is None:
        raise Refusal(Why.UNSUPPORTED_MEDIA, "Send the body as application/json in UTF-8.")
    if declared_length(request) > MAX_BYTES:
        raise Refusal(Why.TOO_LARGE, f"A body is at most {MAX_BYTES} bytes.")
    try:
        raw = request.body
    except RequestDataTooBig as error:
        raise Refusal(Why.TOO_LARGE, f"A body is at most {MAX_BYTES} bytes.") from error
    except (RawPostDataException, OSError) as error:
        raise Refusal(Why.MALFORMED, "The body ended before it was complete.") from error
    try:
        visit.body = read_document(raw)
    except Unreadable as error:
        raise Refusal(Why.MALFORMED, str(error), *([error.pointer] if error.pointer else [])) from error
    visit.body_digest = hashlib.sha256(orjson.dumps(visit.body, option=orjson.OPT_SORT_KEYS)).digest()


def refuse_encoding(request: HttpRequest) -> None:
    """Raise ``Refusal`` for an encoded body: nothing is unpacked here."""
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise Refusal(Why.UNSUPPORTED_MEDIA, "Send the body without a Content-Encoding.")


def declared_length(request: HttpRequest) -> int:
    """The number of bytes a body has by its Content-Length, 0 where there is none."""
    if "chunked" in request.headers.get("Transfer-Encoding", "").lower():
        raise Refusal(Why.MALFORMED, "Send the body with a Content-Length, not in chunks.")
    declared = (request.META.get("CONTENT_LENGTH") or "0").strip()
    if not declared.isascii() or not declared.isdigit() or len(declared) > 18:
        raise Refusal(Why.MALFORMED, "Content-Length is not a number.")
    return int(declared)
