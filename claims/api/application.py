"""The application of the JSON API: django-ninja for addresses, bodies and the OpenAPI document."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.operation import Operation
from ninja.parser import Parser

from claims.api.documents import escape
from claims.api.door import request_id_of, visit_of
from claims.api.problems import Refusal, fault, refuse
from claims.outcomes import Refused, Why

log = structlog.get_logger(__name__)

MOST_FLAWS = 100
PROTOCOL = frozenset({"fence", "schedulerEpoch", "claimGeneration"})
"""Fields that make the protocol: a body without them is from a client that does not know fences."""


class ReadBefore(Parser):
    """The door has read the body already, strictly."""

    def parse_body(self, request: HttpRequest) -> Any:
        return visit_of(request).body


class _Application(NinjaAPI):
    """Operations are called by their views' own names in the OpenAPI document."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        first, *rest = operation.view_func.__name__.split("_")
        return first + "".join(part.title() for part in rest)


api = _Application(
    title="Fencepost",
    version="1",
    description="Fenced claims on work for software agents. The contract is claim.v1.",
    openapi_url=None,
    docs_url=None,
    parser=ReadBefore(),
    urls_namespace="api",
    openapi_extra={
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "bearerFormat": "fp_<prefix>_<secret>"}
            }
        },
        "security": [{"token": []}],
    },
)


@api.exception_handler(Refusal)
def _refusal(request: HttpRequest, error: Any) -> HttpResponse:
    return refuse(error.refused, request_id_of(request))


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: Any) -> HttpResponse:
    flaws = [
        (_pointer(found), str(found["msg"]).removeprefix("Value error, "))
        for found in error.errors[:MOST_FLAWS]
    ]
    lacking = sorted(
        {
            found["loc"][-1]
            for found in error.errors
            if found["type"] == "missing" and found["loc"][-1] in PROTOCOL
        }
    )
    reasons = tuple(f"{pointer}: {message}" for pointer, message in flaws)
    if lacking:
        detail = f"The request lacks {', '.join(lacking)}, which the protocol claim.v1 needs."
        return refuse(Refused(Why.UPGRADE_REQUIRED, detail, None, reasons), request_id_of(request))
    return refuse(
        Refused(Why.MALFORMED, f"{reasons[0]}." if reasons else "", None, reasons), request_id_of(request)
    )


@api.exception_handler(HttpError)
def _http(request: HttpRequest, error: Any) -> HttpResponse:
    why = {401: Why.UNAUTHENTICATED, 429: Why.RATE_LIMITED}.get(error.status_code, Why.MALFORMED)
    return refuse(Refused(why), request_id_of(request))


@api.exception_handler(Http404)
def _absent(request: HttpRequest, error: Any) -> HttpResponse:
    return refuse(Refused(Why.NOT_FOUND), request_id_of(request))


@api.exception_handler(RequestDataTooBig)
def _too_big(request: HttpRequest, error: Any) -> HttpResponse:
    return refuse(Refused(Why.TOO_LARGE), request_id_of(request))


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def _no_database(request: HttpRequest, error: Any) -> HttpResponse:
    """Before a commit is sent nothing has happened; a lost commit has an answer of its own."""
    log.error("database_unavailable", error=type(error).__name__)
    connection.close()
    return refuse(
        Refused(Why.BUSY, "The database did not answer in time; nothing was changed."), request_id_of(request)
    )


@api.exception_handler(DatabaseError)
@api.exception_handler(Exception)
def _fault(request: HttpRequest, error: Any) -> HttpResponse:
    log.error("fault", exc_info=error)
    return fault(
        500,
        "FAULT",
        "The server made a mistake. Asking again with the same key is safe.",
        request_id_of(request),
    )


def _pointer(found: dict[str, Any]) -> str:
    """The JSON pointer of a flaw; for a field of the address its name."""
    parts = [str(part) for part in found["loc"]]
    if parts[:1] == ["body"]:
        return "/" + "/".join(escape(part) for part in parts[2:] if part not in ("one", "many", "[key]"))
    return parts[-1] if parts else ""
