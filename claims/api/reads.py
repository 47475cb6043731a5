"""GET: who am I, pools, tasks and what happened. Lists are keyset pages with a ``next``."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from ninja import Query, Schema
from pydantic import Field

from claims.api import read_answers as answers
from claims.api.application import api
from claims.api.door import Door, Visit, visit_of
from claims.api.problems import Refusal
from claims.api.rendering import write
from claims.outcomes import Why
from claims.selectors import api as selectors
from claims.vocabulary import Scope, State

Limit = Annotated[int, Field(ge=1, le=200)]
Text = Annotated[str, Field(min_length=1, max_length=200)]
Number = Annotated[int, Field(ge=0, le=2**53 - 1)]


class TaskQuery(Schema):
    pool: Text | None = None
    state: Text | None = None
    label: Text | None = None
    q: Text | None = None
    cursor: Text | None = None
    limit: Limit = 50


class HistoryQuery(Schema):
    after: Number = 0
    limit: Limit = 100


class RefusalQuery(Schema):
    before: Number | None = None
    limit: Limit = 100


class EventQuery(Schema):
    pool: Text | None = None
    after: Text = "0.0.0"
    limit: Limit = 100


def _fields(query: type[Schema]) -> frozenset[str]:
    return frozenset(query.model_fields)


@api.get("/whoami", auth=Door(Scope.READ), response=answers.WhoAmIAnswer, tags=["people and pools"])
def whoami(request: HttpRequest) -> HttpResponse:
    """Whose token this is, what it may be used for, and in which pools."""
    visit = visit_of(request)
    rights = selectors.rights_of(visit.actor.id) if visit.is_person else {}
    pools = selectors.pools_of(_pool_ids(visit))
    for each in pools:
        each["rights"] = rights.get(each.pop("id"), ["RUNNER"])
    body: dict[str, Any] = {"scopes": sorted(visit.token.scopes), "pools": pools, "labels": []}
    if visit.is_person:
        return write({"person": visit.actor.name, **body}, visit.request_id)
    attempt = {"attemptId": visit.token.attempt_id} if visit.token.attempt_id else {}
    return write(
        {"agent": visit.actor.name, **body, **selectors.agent_standing(visit.actor.id), **attempt},
        visit.request_id,
    )


@api.get("/pools/{pool}", auth=Door(Scope.READ), response=answers.PoolAnswer, tags=["people and pools"])
def pool(request: HttpRequest, pool: str) -> HttpResponse:
    """A pool: its epoch and gate, its policies, counts by state, and what keeps it from being drained."""
    visit = visit_of(request)
    return write(selectors.pool_now(visit.pool_id), visit.request_id)


@api.get(
    "/tasks",
    auth=Door(Scope.READ, _fields(TaskQuery), attempts=False),
    response=answers.TasksAnswer,
    tags=["tasks"],
)
def tasks(request: HttpRequest, query: Query[TaskQuery]) -> HttpResponse:
    """Tasks of one pool, or of all the caller's pools, newest first."""
    visit = visit_of(request)
    if query.state is not None and query.state not in list(State):
        raise Refusal(Why.MALFORMED, f"state is one of {', '.join(State)}.")
    before = _number_cursor(query.cursor)
    wanted = selectors.TaskFilter(
        _pool_ids(visit, query.pool), query.state, query.label, query.q, before, query.limit
    )
    found = selectors.tasks(wanted)
    following = str(found[-1]["number"]) if len(found) == query.limit else None
    return write({"tasks": found, "next": following}, visit.request_id)


@api.get("/tasks/{task_id}", auth=Door(Scope.READ), response=answers.TaskAnswer, tags=["tasks"])
def task(request: HttpRequest, task_id: str) -> HttpResponse:
    """A task with its input. Its ETag is its state version."""
    visit = visit_of(request)
    if visit.task_id is None:
        raise Refusal(Why.NOT_FOUND)
    found = selectors.task(visit.task_id)
    etag = f'"{found["stateVersion"]}"'
    if request.headers.get("If-None-Match") == etag:
        return _with_etag(HttpResponseNotModified(), etag, visit)
    return _with_etag(write(found, visit.request_id), etag, visit)


@api.get(
    "/tasks/{task_id}/history",
    auth=Door(Scope.READ, _fields(HistoryQuery)),
    response=answers.HistoryAnswer,
    tags=["tasks"],
)
def history(request: HttpRequest, task_id: str, query: Query[HistoryQuery]) -> HttpResponse:
    """Every change of a task, oldest first; ``after`` is a state version."""
    visit = visit_of(request)
    if visit.task_id is None:
        raise Refusal(Why.NOT_FOUND)
    found = selectors.history(visit.task_id, query.after, query.limit)
    following = found[-1]["stateVersion"] if len(found) == query.limit else None
    return write({"history": found, "next": following}, visit.request_id)


@api.get(
    "/tasks/{task_id}/refusals",
    auth=Door(Scope.READ, _fields(RefusalQuery)),
    response=answers.RefusalsAnswer,
    tags=["tasks"],
)
def refusals(request: HttpRequest, task_id: str, query: Query[RefusalQuery]) -> HttpResponse:
    """What was refused about a task, newest first; ``next`` is the ``before`` of the following call."""
    visit = visit_of(request)
    if visit.task_id is None:
        raise Refusal(Why.NOT_FOUND)
    found = selectors.refusals(visit.task_id, query.before, query.limit)
    following = found[-1]["id"] if len(found) == query.limit else None
    return write({"refusals": found, "next": following}, visit.request_id)


@api.get(
    "/events",
    auth=Door(Scope.READ, _fields(EventQuery), attempts=False),
    response=answers.EventsAnswer,
    tags=["events"],
)
def events(request: HttpRequest, query: Query[EventQuery]) -> HttpResponse:
    """History as a feed. Follow ``next`` and no row is missed and none comes twice."""
    visit = visit_of(request)
    try:
        after = selectors.EventCursor.parse(query.after)
    except ValueError as error:
        raise Refusal(Why.MALFORMED, "after is the next of an earlier answer.") from error
    found, cursor = selectors.events(_pool_ids(visit, query.pool), after, query.limit)
    return write({"events": found, "next": str(cursor)}, visit.request_id)


def _pool_ids(visit: Visit, name: str | None = None) -> list[int]:
    """The pool that was named, or all the caller's."""
    return list(visit.token.pools.values()) if name is None else [visit.see_pool(name)]


def _number_cursor(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 16:
        raise Refusal(Why.MALFORMED, "cursor is the next of an earlier answer.")
    return int(cursor)


def _with_etag(response: HttpResponse, etag: str, visit: Visit) -> HttpResponse:
    response["ETag"] = etag
    response["X-Request-Id"] = visit.request_id
    response["Cache-Control"] = "no-cache"
    return response
