"""Statements of pages have a plan of their own each time they are asked.

What a page asks depends on who asks and what was chosen: which pools, which states, how many rows. A
prepared statement gets one plan for all of that after a few calls, and by it the header's counts took ten
times as long with a million tasks. The verbs' own statements are few and always alike; they stay prepared.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection
from django.http import HttpRequest, HttpResponse

API = "/api/"


class OwnPlansMiddleware:
    """Prepares nothing on this thread's connection while a page is made."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request; the connection is as before afterwards."""
        raw = connection.connection  # none yet in a new thread, whose next page is soon enough
        if raw is None or request.path.startswith(API):
            return self.get_response(request)
        before, raw.prepare_threshold = raw.prepare_threshold, None
        try:
            return self.get_response(request)
        finally:
            raw.prepare_threshold = before
