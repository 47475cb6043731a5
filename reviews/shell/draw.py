"""Every page and fragment is drawn here: the frame, the rights, conditional answers.

Promises: a page and its fragment come from one template and one view; a fragment has an ETag, so
that asking again costs an empty 304 while nothing has changed; every answer names its request.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.template.loader import render_to_string
from django.utils import timezone

from claims.selectors import feed
from claims.selectors.seen import SeenPool
from reviews.shell import requests
from reviews.shell.nav import NavItem, nav_of, operations_url, topics_of
from reviews.shell.rights import pools_of_request, rights_words


@dataclass(frozen=True, slots=True)
class Shell:
    """What the frame of a page shows."""

    environment: str
    drawn_at: datetime
    theme: str
    keys: str
    request_id: str
    person_name: str = ""
    rights_words: str = ""
    nav: tuple[NavItem, ...] = ()
    pool: SeenPool | None = None
    pool_count: int = 0
    sequences: str = "{}"
    topics: str = ""

    @property
    def gate_word(self) -> str:
        """The gate of the pool in view, in a word."""
        return self.pool.gate.value.lower() if self.pool else ""

    @property
    def pool_url(self) -> str:
        """Where the pool in view is operated, for those who may."""
        return operations_url(self.pool)


def plain_shell(request: HttpRequest) -> Shell:
    """The frame without a person: sign-in and errors. Asks no database."""
    return Shell(
        environment=settings.FENCEPOST_ENVIRONMENT_NAME,
        drawn_at=timezone.now(),
        theme=requests.theme_of(request),
        keys=requests.keys_of(request),
        request_id=requests.request_id(request),
    )


def shell_of(request: HttpRequest, pool: SeenPool | None = None) -> Shell:
    """The frame for the signed-in person; ``pool`` is the one in view, else their only one."""
    person = requests.person_of(request)
    pools = pools_of_request(request)
    if pool is None and len(pools) == 1:
        pool = pools[0]
    return Shell(
        environment=settings.FENCEPOST_ENVIRONMENT_NAME,
        drawn_at=timezone.now(),
        theme=requests.theme_of(request),
        keys=requests.keys_of(request),
        request_id=requests.request_id(request),
        person_name=requests.person_name(person),
        rights_words=rights_words(pools),
        nav=nav_of(request, pools),
        pool=pool,
        pool_count=len(pools),
        topics=topics_of(pools),
        sequences=json.dumps(feed.newest([one.id for one in pools])),
    )


def is_fragment(request: HttpRequest) -> bool:
    """Whether a part of the page was asked for. Without script, and on reload, the whole page is drawn."""
    htmx = requests.htmx_of(request)
    return bool(htmx) and htmx.request_type != "full"


def draw(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    partial: str = "",
    pool: SeenPool | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page ``template``, or its template partial ``partial`` when only that was asked for."""
    if partial and is_fragment(request):
        return _fragment(request, f"{template}#{partial}", context, status)
    body = render_to_string(template, {**context, "shell": shell_of(request, pool)}, request)
    return _answer(request, body, status)


def draw_plain(
    request: HttpRequest, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """A page without a person in its frame."""
    body = render_to_string(template, {**context, "shell": plain_shell(request)}, request)
    return _answer(request, body, status)


def _fragment(request: HttpRequest, name: str, context: Mapping[str, Any], status: int) -> HttpResponse:
    body = render_to_string(name, dict(context), request)
    etag = f'"{hashlib.sha256(body.encode()).hexdigest()[:32]}"'
    if status == 200 and request.method == "GET" and request.headers.get("If-None-Match") == etag:
        answer: HttpResponse = HttpResponseNotModified()
        answer["ETag"] = etag
        return answer
    answer = _answer(request, body, status)
    if status == 200:
        answer["ETag"] = etag
    return answer


def _answer(request: HttpRequest, body: str, status: int) -> HttpResponse:
    answer = HttpResponse(body, status=status)
    answer["X-Request-Id"] = requests.request_id(request)
    answer["Cache-Control"] = "private, no-cache"
    answer["Vary"] = "Cookie, HX-Request, HX-Request-Type"
    return answer
