"""The OpenAPI 3.1 document: what django-ninja writes, with the problems every call may answer."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import get_schema

from claims.api.answers import ProblemAnswer
from claims.api.problems import MEDIA_TYPE
from claims.outcomes import RULES

PREFIX = "/api/v1/"
_METHODS = ("get", "put", "post", "delete", "patch")


def document(api: NinjaAPI) -> dict[str, Any]:
    """The document, ready to be written."""
    schema: dict[str, Any] = dict(get_schema(api, path_prefix=PREFIX))
    components = schema.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = _problem_schema()
    for operations in schema["paths"].values():
        for method, operation in operations.items():
            if method in _METHODS:
                _complete(operation)
    return schema


def _complete(operation: dict[str, Any]) -> None:
    """Name the problem as the answer to whatever is not done."""
    operation["security"] = [{"token": []}]
    operation["responses"]["default"] = {
        "description": "Not done, and why",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _problem_schema() -> dict[str, Any]:
    schema = ProblemAnswer.model_json_schema(ref_template="#/components/schemas/{model}")
    schema["properties"]["code"]["enum"] = [*sorted(RULES), "FAULT", "METHOD_NOT_ALLOWED"]
    schema["properties"]["retry"]["enum"] = ["same_key", "new_key", "never"]
    return schema
