"""The log of the lean `api` process: calls that were not answered with success.

Every change is told by history under its request id, so a line for each success would only say it
twice, and cost a fifth of the call.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse

log = structlog.get_logger(__name__)


class CallLogMiddleware:
    """Gives each call a log context of its own, and tells of those that were refused or failed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        structlog.contextvars.clear_contextvars()
        response = self.get_response(request)
        if response.status_code >= 400:
            told = log.error if response.status_code >= 500 else log.info
            told("call_refused", method=request.method, path=request.path, status=response.status_code)
        return response
