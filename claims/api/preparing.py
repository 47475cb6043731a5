"""POST: changing what is asked for: the next revision, a cancellation, what of earlier effects counts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from claims import transitions
from claims.api import answers, rendering
from claims.api.application import api
from claims.api.door import Door, visit_of
from claims.api.effect_bodies import AcknowledgeBody, CancelBody, ReviseBody
from claims.api.granting import expected_version, precondition, task_of
from claims.api.headers import KEYED, VERSIONED
from claims.api.problems import Refusal
from claims.outcomes import Why
from claims.vocabulary import Scope

PREPARING = Door(Scope.PREPARE, body=True)


@api.post(
    "/tasks/{task_id}/revise",
    auth=PREPARING,
    response={201: answers.RevisedAnswer},
    openapi_extra=VERSIONED,
    tags=["tasks"],
)
def revise(request: HttpRequest, task_id: str, body: ReviseBody) -> HttpResponse:
    """The next revision of a task, with an input of its own. No fence of an earlier one writes after it."""
    visit = visit_of(request)
    expected = expected_version(visit, body.expectedStateVersion)
    if expected is None:
        raise Refusal(Why.MALFORMED, "expectedStateVersion is missing.")
    outcome = transitions.revise(
        visit.caller(key_required=True),
        task_of(visit),
        expected,
        body.input,
        body.title,
        [each.answer() for each in body.acknowledge],
    )
    return rendering.answer(visit, precondition(visit, outcome), rendering.revised, 201)


@api.post(
    "/tasks/{task_id}/cancel",
    auth=PREPARING,
    response=answers.CancelledAnswer,
    openapi_extra=KEYED,
    tags=["tasks"],
)
def cancel(request: HttpRequest, task_id: str, body: CancelBody) -> HttpResponse:
    """From this answer on nothing of the task is accepted. TOO_LATE once it has its result."""
    visit = visit_of(request)
    outcome = transitions.cancel(visit.caller(key_required=True), task_of(visit), body.reason)
    return rendering.answer(visit, outcome, rendering.cancelled)


@api.post(
    "/tasks/{task_id}/acknowledge",
    auth=PREPARING,
    response=answers.AcknowledgedAnswer,
    openapi_extra=KEYED,
    tags=["effects"],
)
def acknowledge(request: HttpRequest, task_id: str, body: AcknowledgeBody) -> HttpResponse:
    """Whether an effect of an earlier revision counts for this one, or is to be done again."""
    visit = visit_of(request)
    outcome = transitions.acknowledge(visit.caller(key_required=True), task_of(visit), body.answer())
    return rendering.answer(visit, outcome, rendering.acknowledged)
