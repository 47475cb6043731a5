"""GET: the record of a task that is done, as an in-toto statement; the very bytes its page offers."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from pydantic import ConfigDict

from claims.api.answers import Answer
from claims.api.application import api
from claims.api.door import Door, visit_of
from claims.api.problems import Refusal
from claims.api.rendering import write
from claims.outcomes import Why
from claims.selectors import provenance
from claims.vocabulary import Scope

NO_RECORD = "The task has no canonical result, so it has no record yet."


class SubjectAnswer(Answer):
    name: str
    digest: dict[str, str]


class RecordAnswer(Answer):
    """A statement of in-toto, version 1: ``subject`` is the result and its evidence, ``predicate`` the record."""

    subject: list[SubjectAnswer]
    predicateType: str
    predicate: dict[str, Any]

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda schema: _with_type(schema))


def _with_type(schema: dict[str, Any]) -> None:
    """``_type`` is a private name to pydantic, so it is described here and is no attribute."""
    schema["properties"]["_type"] = {"type": "string", "const": provenance.STATEMENT_TYPE, "title": "Type"}
    schema["required"].append("_type")


@api.get("/tasks/{task_id}/record", auth=Door(Scope.READ), response=RecordAnswer, tags=["tasks"])
def record(request: HttpRequest, task_id: str) -> HttpResponse:
    """Who claimed, delivered and decided a DONE task, on which digests; ``fencepost verify`` checks it offline."""
    visit = visit_of(request)
    found = provenance.record_of(visit.task_id) if visit.task_id else None
    if found is None:
        raise Refusal(Why.NOT_FOUND, NO_RECORD if visit.task_id else "")
    return write(orjson.Fragment(provenance.written(found)), visit.request_id)
