"""What the holder of a claim does: renew, tell, give back, stage, deliver, commit.

Every call but the reads carries the fence; the attempt of the address is the attempt of the fence.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema
from pydantic import Field

from claims import transitions
from claims.api import answers, read_answers, rendering
from claims.api.application import api
from claims.api.bodies import (
    CommitBody,
    DeliverBody,
    FailBody,
    FenceBody,
    ItemBody,
    ProgressBody,
    ReleaseBody,
    RenewalsBody,
    RenewBody,
    StageBody,
)
from claims.api.door import Door, Visit, visit_of
from claims.api.headers import KEY_TAKEN, KEYED
from claims.api.problems import Refusal, problem_of
from claims.api.waiting import wait_for
from claims.canonical import NotCanonical, canonical
from claims.fences import Fence
from claims.outcomes import Refused, Why
from claims.selectors import api as selectors
from claims.transitions import Account, StagedResult
from claims.vocabulary import Scope

DELIVERING = Door(Scope.DELIVER, body=True)
RENEWING = Door(Scope.DELIVER, body=True, renews=True)


class WaitQuery(Schema):
    waitSeconds: int = Field(0, ge=0, le=25)


@api.get("/attempts/mine", auth=Door(Scope.READ), response=answers.GrantsAnswer, tags=["claims"])
def mine(request: HttpRequest) -> HttpResponse:
    """The caller's live grants, as they were answered when they were made."""
    visit = visit_of(request)
    if visit.is_person:
        return rendering.write({"grants": []}, visit.request_id)
    live = selectors.live_grants(visit.actor.id, list(visit.token.pools.values()), visit.token.attempt_id)
    return rendering.write({"grants": rendering.grants(visit, live)}, visit.request_id)


@api.get(
    "/attempts/{attempt_id}",
    auth=Door(Scope.READ, frozenset({"waitSeconds"})),
    response=read_answers.AttemptAnswer,
    tags=["claims"],
)
def attempt(request: HttpRequest, attempt_id: str, query: Query[WaitQuery]) -> HttpResponse:
    """An attempt as it stands. With ``waitSeconds`` it answers when the claim is lost, nudged or decided on."""
    visit = visit_of(request)
    place = _place(visit)
    first = selectors.attempt_now(place.attempt_id)

    def is_news(seen: selectors.Row | None) -> bool:
        return first is None or seen is None or not seen["live"] or _standing(seen) != _standing(first)

    seen = (
        first
        if query.waitSeconds == 0
        else wait_for(lambda: selectors.attempt_now(place.attempt_id), is_news, query.waitSeconds, visit.stay)
    )
    if seen is None:
        raise Refusal(Why.NOT_FOUND)
    return rendering.write(seen, visit.request_id)


def _standing(seen: selectors.Row) -> tuple[object, ...]:
    """What a waiting runner wants to hear about."""
    return (
        seen["live"],
        seen["outcome"],
        seen["nudged"],
        seen["current"]["state"],
        (seen["delivery"] or {}).get("state"),
    )


@api.post(
    "/attempts/{attempt_id}/renew",
    auth=RENEWING,
    response=answers.RenewedAnswer,
    openapi_extra=KEY_TAKEN,
    tags=["claims"],
)
def renew(request: HttpRequest, attempt_id: str, body: RenewBody) -> HttpResponse:
    """The lease runs ``extendSeconds`` from now, never shorter than it ran. Works after expiry, too."""
    visit = visit_of(request)
    outcome = transitions.renew(
        visit.caller(key_required=False), fence_of(visit, body.fence), body.extendSeconds
    )
    return rendering.answer(visit, outcome, rendering.renewed)


@api.post(
    "/renewals", auth=RENEWING, response=answers.RenewalsAnswer, openapi_extra=KEY_TAKEN, tags=["claims"]
)
def renewals(request: HttpRequest, body: RenewalsBody) -> HttpResponse:
    """Several renewals, one transaction a pool; each has its own answer or problem, in the order they were sent."""
    visit = visit_of(request)
    asked = [(item.fence.fence(), item.extendSeconds) for item in body.renewals]
    visible = [_is_visible(visit, fence) for fence, _ in asked]
    known = [item for item, is_visible in zip(asked, visible, strict=True) if is_visible]
    renewed = iter(transitions.renew_many(visit.caller(key_required=False), known))
    told: list[dict[str, Any]] = []
    for item, is_visible in zip(asked, visible, strict=True):
        outcome = next(renewed) if is_visible else Refused(Why.NOT_FOUND)
        body_of_item = (
            {"problem": problem_of(outcome, visit.request_id)}
            if isinstance(outcome, Refused)
            else rendering.renewed(outcome)
        )
        told.append({"attemptId": item[0].attempt_id, **body_of_item})
    return rendering.write({"renewals": told}, visit.request_id)


@api.post(
    "/attempts/{attempt_id}/progress",
    auth=DELIVERING,
    response=answers.ProgressedAnswer,
    openapi_extra=KEY_TAKEN,
    tags=["claims"],
)
def progress(request: HttpRequest, attempt_id: str, body: ProgressBody) -> HttpResponse:
    """Say what is being done, and what it has cost so far."""
    visit = visit_of(request)
    outcome = transitions.progress(
        visit.caller(key_required=False), fence_of(visit, body.fence), body.note, body.told_cost()
    )
    return rendering.answer(visit, outcome, rendering.progressed)


@api.post(
    "/attempts/{attempt_id}/release",
    auth=DELIVERING,
    response=answers.LeftAnswer,
    openapi_extra=KEYED,
    tags=["claims"],
)
def release(request: HttpRequest, attempt_id: str, body: ReleaseBody) -> HttpResponse:
    """Give the task back, unharmed."""
    visit = visit_of(request)
    outcome = transitions.release(
        visit.caller(key_required=True), fence_of(visit, body.fence), body.reason, body.told_cost()
    )
    return rendering.answer(visit, outcome, rendering.left)


@api.post(
    "/attempts/{attempt_id}/fail",
    auth=DELIVERING,
    response=answers.LeftAnswer,
    openapi_extra=KEYED,
    tags=["claims"],
)
def fail(request: HttpRequest, attempt_id: str, body: FailBody) -> HttpResponse:
    """Say that it could not be done; ``retryable``: another try may help."""
    visit = visit_of(request)
    outcome = transitions.fail(
        visit.caller(key_required=True),
        fence_of(visit, body.fence),
        body.reason,
        body.retryable,
        body.told_cost(),
    )
    return rendering.answer(visit, outcome, rendering.left)


@api.post(
    "/attempts/{attempt_id}/stage",
    auth=DELIVERING,
    response=answers.StagedAnswer,
    openapi_extra=KEY_TAKEN,
    tags=["results"],
)
def stage(request: HttpRequest, attempt_id: str, body: StageBody) -> HttpResponse:
    """Put a result and its manifest aside, to be handed in later. The digest is recomputed and compared."""
    visit = visit_of(request)
    staged = _staged(body.result, body.evidence)
    outcome = transitions.stage(
        visit.caller(key_required=False), fence_of(visit, body.fence), staged, body.resultDigest
    )
    return rendering.answer(visit, outcome, rendering.staged)


@api.post(
    "/attempts/{attempt_id}/deliver",
    auth=DELIVERING,
    response=answers.DeliveredAnswer,
    openapi_extra=KEY_TAKEN,
    tags=["results"],
)
def deliver(request: HttpRequest, attempt_id: str, body: DeliverBody) -> HttpResponse:
    """Hand in a result for review: the one staged under ``resultDigest``, or the one that comes along."""
    visit = visit_of(request)
    outcome = transitions.deliver(
        visit.caller(key_required=False),
        fence_of(visit, body.fence),
        body.inputDigest,
        body.resultDigest,
        Account(body.summary, body.needs, body.claims),
        _inline(body),
        body.told_cost(),
    )
    return rendering.answer(visit, outcome, rendering.delivered)


@api.post(
    "/attempts/{attempt_id}/commit",
    auth=DELIVERING,
    response=answers.CommittedAnswer,
    openapi_extra=KEY_TAKEN,
    tags=["results"],
)
def commit(request: HttpRequest, attempt_id: str, body: CommitBody) -> HttpResponse:
    """The canonical commit of a task that asks for no review, where the pool allows it."""
    visit = visit_of(request)
    outcome = transitions.commit(
        visit.caller(key_required=False),
        fence_of(visit, body.fence),
        body.inputDigest,
        body.resultDigest,
        _inline(body),
        body.told_cost(),
    )
    return rendering.answer(visit, outcome, rendering.committed)


def _place(visit: Visit) -> selectors.AttemptPlace:
    if visit.attempt is None:
        raise Refusal(Why.NOT_FOUND)
    return visit.attempt


def fence_of(visit: Visit, body: FenceBody) -> Fence:
    """The fence of the body, which must be of the attempt in the address and of that attempt's task."""
    place, fence = _place(visit), body.fence()
    if fence.attempt_id != place.attempt_id:
        raise Refusal(Why.MALFORMED, "The fence is of another attempt than the address.")
    if fence.task_id != place.task_id:
        raise Refusal(Why.NOT_FOUND)
    return fence


def _is_visible(visit: Visit, fence: Fence) -> bool:
    place = selectors.place_of_attempt(fence.attempt_id)
    if place is None or place.task_id != fence.task_id or place.pool_id not in visit.token.pools.values():
        return False
    own: UUID | None = visit.token.attempt_id
    return own is None or own == fence.attempt_id


def _inline(body: CommitBody) -> StagedResult | None:
    if not body.is_inline:
        return None
    return _staged({} if body.result is None else body.result, body.evidence or [])


def _staged(result: object, evidence: list[ItemBody]) -> StagedResult:
    names = [item.name for item in evidence]
    if len(set(names)) != len(names):
        raise Refusal(
            Why.UNPROCESSABLE,
            "Two pieces of evidence have the same name.",
            *sorted({name for name in names if names.count(name) > 1}),
        )
    staged = StagedResult(result, [item.item() for item in evidence])
    _plain_json({"result": result, "evidence": [item.as_json() for item in staged.evidence]}, "result")
    return staged


def _plain_json(value: object, name: str, most_bytes: int = 1_000_000) -> None:
    """Refuse what has no canonical form, or is too long."""
    try:
        size = len(canonical(value))
    except NotCanonical as error:
        raise Refusal(Why.MALFORMED, f"/{name} has no canonical form: {error}.") from error
    if size > most_bytes:
        raise Refusal(Why.TOO_LARGE, f"/{name} is longer than {most_bytes} bytes.")
