"""Outside effects over HTTP: prepared, permitted, told of, looked up; and tools that ask first.

Promises: an effect's id is computed by the server from the task and the slot; no caller makes one
up. Every answer is the effect as the verb left it, and ``execute`` is never answered twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

from claims import transitions
from claims.api import effect_answers as answers
from claims.api import rendering
from claims.api.application import api
from claims.api.attempts import fence_of
from claims.api.bodies import FenceBody
from claims.api.door import Door, Visit, visit_of
from claims.api.effect_bodies import (
    AbandonBody,
    AcceptToolBody,
    ConfirmBody,
    ExecuteBody,
    HandBackBody,
    PrepareBody,
    ReconcileBody,
    UnknownBody,
)
from claims.api.headers import KEYED
from claims.api.problems import Refusal
from claims.fences import Fence
from claims.outcomes import EffectMoved, Refused, Why
from claims.selectors import api as selectors
from claims.vocabulary import Scope

T = TypeVar("T")

MOVING = Door(Scope.DELIVER, body=True)
_MOVES: dict[str, Any] = {
    "auth": MOVING,
    "response": answers.EffectAnswer,
    "openapi_extra": KEYED,
    "tags": ["effects"],
}


@api.get("/effects/{effect_id}", auth=Door(Scope.READ), response=answers.EffectAnswer, tags=["effects"])
def effect(request: HttpRequest, effect_id: str) -> HttpResponse:
    """An effect as it reads now. Its ETag names it for a look-up, and changes when it has settled."""
    visit = visit_of(request)
    found = selectors.effect(visit.effect_id)
    response = rendering.write(found, visit.request_id)
    response["ETag"] = f'"{found["etag"]}"'
    return response


@api.post(
    "/attempts/{attempt_id}/accept-tool",
    auth=Door(Scope.DELIVER, body=True, also=Scope.TOOL),
    response=answers.ToolAnswer,
    openapi_extra=KEYED,
    tags=["claims"],
)
def accept_tool(request: HttpRequest, attempt_id: str, body: AcceptToolBody) -> HttpResponse:
    """A tool asks before it acts. A token with the scope ``tool`` may ask about another agent's claim."""
    visit = visit_of(request)
    fence = fence_of(visit, body.fence)
    is_gateway = (
        Scope.TOOL in visit.token.scopes
        and visit.attempt is not None
        and visit.attempt.agent_id != visit.actor.id
    )
    outcome = transitions.accept_tool(
        visit.caller(key_required=True), fence, body.tool, body.argsDigest, is_gateway
    )
    return rendering.answer(visit, outcome, rendering.tool_accepted)


@api.post("/attempts/{attempt_id}/effects", **_MOVES)
def prepare(request: HttpRequest, attempt_id: str, body: PrepareBody) -> HttpResponse:
    """Bind a payload to a slot that the input declares. The same payload again is the same effect."""
    visit = visit_of(request)
    fence = fence_of(visit, body.fence)
    caller = visit.caller(key_required=True)
    if body.effectId is not None:
        computed = selectors.effect_id_of(fence.task_id, body.slot)
        if body.effectId != computed:
            raise Refusal(
                Why.MALFORMED,
                "effectId is not the one of this task and slot; leave it out.",
                effectId=computed,
            )
    return _moved(visit, transitions.prepare(caller, fence, body.slot, body.payload))


@api.post("/effects/{effect_id}/execute", **{**_MOVES, "response": answers.PermittedAnswer})
def execute(request: HttpRequest, effect_id: str, body: ExecuteBody) -> HttpResponse:
    """The right to make one outside call. Never answered twice: a repeat is MUST_RECONCILE.

    Send ``effectId`` to the outside system as its idempotency key, and the claim generation and
    the resource's ETag where it fences on them.
    """
    visit = visit_of(request)
    caller = visit.caller(key_required=True)
    outcome = transitions.execute(caller, _fence(visit, body.fence), visit.effect_id)
    return rendering.answer(visit, _with_effect(outcome), rendering.permitted)


@api.post("/effects/{effect_id}/confirm", **_MOVES)
def confirm(request: HttpRequest, effect_id: str, body: ConfirmBody) -> HttpResponse:
    """The call was made and answered. Kept as an observation where the fence or the permit is lost."""
    visit = visit_of(request)
    caller = visit.caller(key_required=True)
    fence = _fence(visit, body.fence)
    outcome = transitions.confirm(
        caller, fence, visit.effect_id, body.permitId, body.receipt, body.resourceEtag
    )
    return _moved(visit, outcome)


@api.post("/effects/{effect_id}/unknown", **_MOVES)
def unknown(request: HttpRequest, effect_id: str, body: UnknownBody) -> HttpResponse:
    """The runner cannot tell whether its call was made."""
    visit = visit_of(request)
    caller = visit.caller(key_required=True)
    fence = _fence(visit, body.fence)
    return _moved(visit, transitions.unknown(caller, fence, visit.effect_id, body.permitId, body.note))


@api.post("/effects/{effect_id}/hand-back", **_MOVES)
def hand_back(request: HttpRequest, effect_id: str, body: HandBackBody) -> HttpResponse:
    """The answer to an execute never came: name its key, and the effect is UNKNOWN."""
    visit = visit_of(request)
    caller = visit.caller(key_required=True)
    fence = _fence(visit, body.fence)
    return _moved(visit, transitions.hand_back(caller, fence, visit.effect_id, body.executeKey))


@api.post("/effects/{effect_id}/abandon", **_MOVES)
def abandon(request: HttpRequest, effect_id: str, body: AbandonBody) -> HttpResponse:
    """A prepared effect will not be sent, for good. Not for a required slot."""
    visit = visit_of(request)
    caller = visit.caller(key_required=True)
    fence = _fence(visit, body.fence)
    return _moved(visit, transitions.abandon(caller, fence, visit.effect_id, body.reason))


@api.post("/effects/{effect_id}/reconcile", **_MOVES)
def reconcile(request: HttpRequest, effect_id: str, body: ReconcileBody) -> HttpResponse:
    """What the slot's declared look-up saw. Too weak to settle the effect, it is kept all the same."""
    visit = visit_of(request)
    caller = visit.caller(key_required=True)
    fence = _fence(visit, body.fence)
    return _moved(visit, transitions.reconcile(caller, fence, visit.effect_id, body.look()))


def _moved(visit: Visit, outcome: EffectMoved | Refused) -> HttpResponse:
    """The effect as the verb left it."""
    return rendering.answer(visit, _with_effect(outcome), rendering.effect_moved)


def _with_effect(outcome: T | Refused) -> T | Refused:
    """A refusal that names an effect, with what that reads as now where the verb did not say it."""
    if not isinstance(outcome, Refused) or "effectState" in outcome.extra or "effectId" not in outcome.extra:
        return outcome
    found = selectors.effect(str(outcome.extra["effectId"]))
    known = {"effectState": found["state"], "slot": found["slot"], "etag": found["etag"]}
    return replace(outcome, extra={**known, **outcome.extra})


def _fence(visit: Visit, body: FenceBody) -> Fence:
    """The fence of the body, which must be of the effect's task and of an attempt of it.

    An earlier revision's attempt has no say in a later one's effect, and whose task a fence names
    beyond that is nobody's to learn here.
    """
    fence = body.fence()
    if fence.task_id != visit.task_id:
        raise Refusal(Why.MALFORMED, "The fence is of another task than the effect.")
    place = selectors.place_of_attempt(fence.attempt_id)
    if place is None or place.task_id != fence.task_id:
        raise Refusal(Why.NOT_FOUND)
    if visit.token.attempt_id not in (None, fence.attempt_id):
        raise Refusal(Why.NOT_FOUND)
    return fence
