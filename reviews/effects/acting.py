"""What a person answers about an effect, handed to its verb with exactly what the page had shown.

Promises: the payload digest, generation, epoch, doubt and version that were seen are posted, so
nobody answers for what he did not see; what a refusal is about stands beside what was typed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from claims import canonical, transitions
from claims.callers import Caller
from claims.decide import Look
from claims.outcomes import Approved, EffectMoved, Refused, Why
from claims.selectors.effects import EffectSeen
from claims.vocabulary import ApprovalState, EffectState, Said
from reviews.desk.views import key_of
from reviews.effects import looking, views
from reviews.effects.views import Told
from reviews.shell.requests import caller_of, local_address
from reviews.shell.rights import signed_in

FIELDS = ("digest", "generation", "epoch", "doubt", "version", "etag", "approval", "expires", "said", "words")
NEEDS_WORDS = {
    "refuse": "Say why; the runner reads it.",
    "revoke": "Say why; the runner reads it.",
    "settle": "Say what you saw and where, or why you give it up; it is kept for ever.",
}


@signed_in
@require_POST
def act(request: HttpRequest, effect: str) -> HttpResponse:
    """Approve, refuse, revoke, settle, or look it up: the button's ``do``."""
    one, do = views.opened(request, effect), request.POST.get("do", "")
    if do not in VERBS:
        raise Http404(views.MISSING)
    typed = {name: request.POST.get(name, "").replace("\x00", "").strip() for name in FIELDS}
    errors = flaws_of(do, typed)
    if errors:
        return views.drawn(request, one, Told(None, do, typed, errors), status=422)
    digest = canonical.digest({"do": do, "effect": effect, **typed})
    outcome = VERBS[do](caller_of(request, key_of(request), digest), one, typed)
    if isinstance(outcome, Refused):
        if outcome.why is Why.NOT_FOUND:
            raise Http404(views.MISSING)
        fresh = views.opened(request, effect)
        return views.drawn(request, fresh, Told(outcome, do, typed), status=outcome.rule.status)
    messages.success(request, words_of(do, one, outcome))
    there = reverse("effect", args=[effect])
    return HttpResponseRedirect(local_address(request, request.POST.get("next", ""), there))


def flaws_of(do: str, typed: dict[str, str]) -> dict[str, str]:
    """What is missing in the form."""
    errors = {}
    if do in NEEDS_WORDS and not typed["words"]:
        errors["words"] = NEEDS_WORDS[do]
    if do == "settle" and typed["said"] not in {outcome[0] for outcome in views.OUTCOMES}:
        errors["said"] = "Choose what became of it."
    return errors


def _approve(caller: Caller, effect: EffectSeen, typed: dict[str, str]) -> Approved | Refused:
    return transitions.approve(
        caller,
        effect.effect_id,
        typed["digest"],
        _number(typed["generation"]),
        _number(typed["epoch"]),
        _number(typed["doubt"]),
        _number(typed["expires"]),
        typed["words"],
    )


def _refuse(caller: Caller, effect: EffectSeen, typed: dict[str, str]) -> Approved | Refused:
    return transitions.refuse(caller, effect.effect_id, typed["digest"], typed["words"])


def _revoke(caller: Caller, effect: EffectSeen, typed: dict[str, str]) -> Approved | Refused:
    return transitions.revoke(caller, effect.effect_id, typed["words"], _id(typed["approval"]))


def _settle(caller: Caller, effect: EffectSeen, typed: dict[str, str]) -> EffectMoved | Refused:
    version, words = _number(typed["version"]), typed["words"]
    if typed["said"] == EffectState.WRITTEN_OFF:
        return transitions.write_off(caller, effect.effect_id, words, version)
    said = Said(typed["said"])
    proof = {"proof": words} if said is Said.HAPPENED else None
    look = Look(said, etag=typed["etag"], receipt=proof, note=words)
    return transitions.reconcile_as_operator(caller, effect.effect_id, look, version)


VERBS: dict[str, Callable[[Caller, EffectSeen, dict[str, str]], Any]] = {
    "approve": _approve,
    "refuse": _refuse,
    "revoke": _revoke,
    "settle": _settle,
    "look": lambda caller, effect, typed: looking.look(caller, effect),
}


def _number(text: str) -> int:
    """The number the page had; -1, which nothing has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else -1


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def words_of(do: str, effect: EffectSeen, outcome: Any) -> str:
    """What happened, in the server's words."""
    about = f"{effect.slot} of T-{effect.number}"
    if isinstance(outcome, looking.Looked):
        return f"The look-up of {about} says {outcome.said}: {outcome.words}. It is kept; settle the effect by it yourself."
    if isinstance(outcome, Approved):
        return _words_of_answer(about, outcome)
    return {
        EffectState.COMMITTED: f"{about} is committed: it happened.",
        EffectState.PREPARED: f"{about} is prepared again: it did not happen, and may be sent with a new permit.",
        EffectState.UNKNOWN: f"{about} stays in doubt; what you saw is kept.",
        EffectState.WRITTEN_OFF: f"{about} is written off, for good.",
    }[outcome.state]


def _words_of_answer(about: str, answer: Approved) -> str:
    if answer.state is ApprovalState.REFUSED:
        return f"Refused. {about} is not sent, and its runner reads why."
    if answer.state is ApprovalState.REVOKED:
        return f"Taken back. {about} needs a new approval before it is sent."
    until = f" until {answer.expires_at:%H:%M:%S} UTC" if answer.expires_at else ""
    return f"Approved. One permit for {about} may be handed out{until}, while this claim stands."
