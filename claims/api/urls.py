"""Addresses of the JSON API, and what is answered where there is none."""

from __future__ import annotations

from functools import lru_cache

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, URLResolver, path, re_path

from claims.api import attempts, effects, files, granting, preparing, reads, records
from claims.api.application import api
from claims.api.door import request_id_of
from claims.api.openapi import document
from claims.api.problems import fault, refuse
from claims.outcomes import Refused, Why

__all__ = ["attempts", "effects", "files", "granting", "preparing", "reads", "records", "urlpatterns"]


@lru_cache(maxsize=1)
def _document() -> bytes:
    return orjson.dumps(document(api), option=orjson.OPT_NON_STR_KEYS)


def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI 3.1 document; the same for everybody, so that it needs no token."""
    if request.method not in ("GET", "HEAD"):
        return not_allowed(request, ["GET"])
    response = HttpResponse(_document(), content_type="application/json")
    response["X-Request-Id"] = request_id_of(request)
    return response


def nothing_here(request: HttpRequest) -> HttpResponse:
    """An address that no call has."""
    return refuse(Refused(Why.NOT_FOUND), request_id_of(request))


def not_allowed(request: HttpRequest, methods: list[str]) -> HttpResponse:
    """An address that has other methods than this one."""
    response = fault(
        405, "METHOD_NOT_ALLOWED", f"This address has {', '.join(methods)} only.", request_id_of(request)
    )
    response["Allow"] = ", ".join(methods)
    return response


def _explained(pattern: URLPattern) -> URLPattern:
    """The pattern with its 405 as a problem document like every other error."""
    view = pattern.callback

    def explained(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        response: HttpResponse = view(request, *args, **kwargs)
        if isinstance(response, HttpResponseNotAllowed):
            return not_allowed(request, [method.strip() for method in response["Allow"].split(",")])
        return response

    vars(explained).update(vars(view))
    pattern.callback = explained
    return pattern


urlpatterns: list[URLPattern | URLResolver] = [
    path("openapi.json", openapi, name="api-openapi"),
    *(
        _explained(pattern)
        for pattern in api.urls[0]
        if isinstance(pattern, URLPattern) and pattern.name != "api-root"
    ),
    re_path(r"^.*$", nothing_here, name="api-nothing-here"),
]
