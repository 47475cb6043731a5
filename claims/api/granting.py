"""POST: writing tasks and handing out claims."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body

from claims import transitions
from claims.api import answers, rendering
from claims.api.application import api
from claims.api.bodies import AdjustBody, ClaimBody, ClaimNextBody, CreateBody, ManyTasks
from claims.api.door import Door, Visit, visit_of
from claims.api.headers import KEYED, VERSIONED
from claims.api.problems import Refusal
from claims.api.waiting import wait_for
from claims.outcomes import Grants, Refused, Why
from claims.vocabulary import Scope


@api.post(
    "/tasks",
    auth=Door(Scope.PREPARE, body=True),
    response={201: answers.CreatedAnswer},
    openapi_extra=KEYED,
    tags=["tasks"],
)
def create(request: HttpRequest, body: Body[CreateBody]) -> HttpResponse:
    """One task, or up to 1,000, all or none of them."""
    visit = visit_of(request)
    visit.see_pool(body.pool)
    caller = visit.caller(key_required=True)
    written = body.tasks if isinstance(body, ManyTasks) else [body]
    outcome = transitions.create(caller, body.pool, [task.new_task() for task in written])
    return rendering.answer(visit, outcome, rendering.created, 201)


@api.post(
    "/tasks/{task_id}/adjust",
    auth=Door(Scope.PREPARE, body=True),
    response=answers.AdjustedAnswer,
    openapi_extra=VERSIONED,
    tags=["tasks"],
)
def adjust(request: HttpRequest, task_id: str, body: AdjustBody) -> HttpResponse:
    """Change scheduling attributes; none of them enters the input digest."""
    visit = visit_of(request)
    expected = expected_version(visit, body.expectedStateVersion)
    outcome = transitions.adjust(visit.caller(key_required=True), task_of(visit), body.attributes(), expected)
    return rendering.answer(visit, precondition(visit, outcome), rendering.adjusted)


@api.post(
    "/tasks/{task_id}/claim",
    auth=Door(Scope.CLAIM, body=True, attempts=False),
    response=answers.GrantAnswer,
    openapi_extra=VERSIONED,
    tags=["claims"],
)
def claim(request: HttpRequest, task_id: str, body: ClaimBody) -> HttpResponse:
    """Claim one task as it was seen."""
    visit = visit_of(request)
    expected = expected_version(visit, body.expectedStateVersion)
    if expected is None:
        raise Refusal(Why.MALFORMED, "expectedStateVersion is missing.")
    outcome = transitions.claim(
        visit.caller(key_required=True), task_of(visit), expected, body.schedulerEpoch, body.ttlSeconds
    )
    return rendering.answer(
        visit, precondition(visit, outcome), lambda granted: rendering.grants(visit, [granted])[0]
    )


@api.post(
    "/pools/{pool}/claim-next",
    auth=Door(Scope.CLAIM, body=True, attempts=False),
    response=answers.GrantsAnswer,
    openapi_extra=KEYED,
    tags=["claims"],
)
def claim_next(request: HttpRequest, pool: str, body: ClaimNextBody) -> HttpResponse:
    """Up to ``max`` grants: preferred first, then priority, then age. Empty when there is nothing.

    With ``waitSeconds`` the answer waits for the first task, unless too many wait already.
    """
    visit = visit_of(request)
    caller = visit.caller(key_required=True)
    outcome = wait_for(
        lambda: transitions.claim_next(
            caller, visit.pool_name, body.schedulerEpoch, body.max, body.ttlSeconds
        ),
        lambda seen: isinstance(seen, Refused) or bool(seen.grants),
        body.waitSeconds,
        visit.stay,
    )
    response = rendering.answer(
        visit, outcome, lambda granted: {"grants": rendering.grants(visit, granted.grants)}
    )
    if isinstance(outcome, Grants) and not outcome.grants:
        response["Retry-After"] = "1"
    return response


def task_of(visit: Visit) -> UUID:
    """The task of the address. Raises ``Refusal`` with NOT_FOUND where it names none."""
    if visit.task_id is None:
        raise Refusal(Why.NOT_FOUND)
    return visit.task_id


def expected_version(visit: Visit, named: int | None) -> int | None:
    """The state version the caller expects, from the body or from If-Match; both must agree."""
    matched = visit.expected_version()
    if matched is not None and named is not None and matched != named:
        raise Refusal(Why.MALFORMED, "If-Match and expectedStateVersion name different versions.")
    return named if matched is None else matched


def precondition(visit: Visit, outcome: Any) -> Any:
    """STALE_STATE, where the expectation was sent as If-Match, is the failed precondition of HTTP."""
    if (
        isinstance(outcome, Refused)
        and outcome.why is Why.STALE_STATE
        and visit.expected_version() is not None
    ):
        return replace(outcome, why=Why.PRECONDITION_FAILED)
    return outcome
