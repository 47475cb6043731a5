"""How long a person stays signed in: an idle limit and an absolute one, both in seconds.

The idle limit is the age of the session, moved on at most once a minute so that reading pages does
not write at each request. The absolute limit counts from signing in, whatever the use.
"""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

BEGAN = "fencepost_session_began"
SEEN = "fencepost_session_seen"
SEEN_STEP_SECONDS = 60


class SessionLifetimeMiddleware:
    """Signs a person out whose session passed its absolute limit; keeps the others' idle limit moving."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            keep_or_end(request, int(timezone.now().timestamp()))
        return self.get_response(request)


def keep_or_end(request: HttpRequest, now_seconds: int) -> None:
    """End the session when it began too long ago, else note that it is used."""
    session = request.session
    began = session.setdefault(BEGAN, now_seconds)
    if now_seconds - began > settings.FENCEPOST_SESSION_ABSOLUTE_SECONDS:
        logout(request)
        return
    if now_seconds - session.get(SEEN, 0) >= SEEN_STEP_SECONDS:
        session[SEEN] = now_seconds
