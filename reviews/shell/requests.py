"""What a page knows of its request: its id, the person, the theme. No database."""

from __future__ import annotations

from typing import cast

import structlog
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from claims.callers import Actor, Caller, new_request_id
from claims.vocabulary import ActorKind, Source

THEMES = ("light", "dark")


def request_id(request: HttpRequest) -> str:
    """The id under which this request is in the logs; the same for the whole request."""
    known = getattr(request, "fencepost_request_id", None)
    if known is None:
        known = str(structlog.contextvars.get_contextvars().get("request_id") or new_request_id())
        request.fencepost_request_id = known  # type: ignore[attr-defined]
    return str(known)


def htmx_of(request: HttpRequest) -> HtmxDetails:
    """What htmx says of this request; false where a whole page was asked for, as without script."""
    return cast(HtmxDetails, request.htmx)  # type: ignore[attr-defined]


def person_name(person: User) -> str:
    """The name pages call a person by: the full one, else the sign-in name."""
    return person.get_full_name() or person.get_username()


def person_of(request: HttpRequest) -> User:
    """The signed-in person.

    Raises ``TypeError`` when there is none: such a view lacks ``signed_in``.
    """
    if not isinstance(request.user, User) and not request.user.is_authenticated:
        raise TypeError("this page is drawn for a signed-in person only")
    return request.user


def caller_of(request: HttpRequest, key: str | None = None, request_digest: str | None = None) -> Caller:
    """The person of this request as the caller of a verb; ``key`` is the form's idempotency key.

    History keeps the sign-in name, as it does of calls with a token and of commands.
    """
    person = person_of(request)
    actor = Actor(ActorKind.PERSON, person.pk, person.get_username())
    return Caller(actor, Source.WEB, request_id(request), key, request_digest)


def theme_of(request: HttpRequest) -> str:
    """``light``, ``dark``, or nothing for the system's own."""
    theme = request.COOKIES.get("fencepost-theme", "")
    return theme if theme in THEMES else ""


def keys_of(request: HttpRequest) -> str:
    """``off`` when the person turned single keys off."""
    return "off" if request.COOKIES.get("fencepost-keys") == "off" else "on"


def local_address(request: HttpRequest, wanted: str, otherwise: str = "/") -> str:
    """``wanted`` when it is an address of this server, else ``otherwise``: never a way out to another site."""
    if wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None):
        return wanted
    return otherwise
