"""A decision that was posted: kept as a draft first, then handed to the transition, then told in its words.

Promises: whatever the answer is, every typed word is still there; the same form sent twice decides
once, because it carries its idempotency key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from claims import canonical, transitions
from claims.decide import Judgement, VerdictGiven
from claims.outcomes import Committed, Decided, Refused, Why
from claims.selectors import deliveries
from claims.vocabulary import State
from reviews.desk import conflict, drafts, page
from reviews.desk.page import Asked, Opened
from reviews.desk.views import key_of, reviewing
from reviews.shell.requests import caller_of
from reviews.shell.rights import signed_in
from reviews.shell.words import short_digest

Outcome = Committed | Decided | Refused
VERBS: dict[str, Callable[..., Outcome]] = {
    "accept": transitions.accept,
    "changes": transitions.request_changes,
    "reject": transitions.reject,
}
FIELD_OF = {
    Why.CRITERIA_UNMET: "do",
    Why.UNPROCESSABLE: "note",
    Why.SCOPE_VIOLATION: "reason",
}
AGAIN = (Why.BUSY, Why.IN_PROGRESS, Why.OUTCOME_UNKNOWN, Why.RATE_LIMITED)
"""Answers after which the same form, with the same key, is simply sent again."""


@signed_in
@require_POST
def decide(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Accept, request changes or reject: the button's ``do``."""
    one = reviewing(request, delivery)
    do = request.POST.get("do", "")
    if do not in VERBS:
        return HttpResponseRedirect(reverse("review", args=[delivery]))
    drafts.keep(one.person.pk, delivery, len(one.acceptance), request.POST.dict())
    errors = flaws_of(do, one)
    if errors:
        return page.drawn(request, one, Asked(sheet=do, errors=errors), status=422)
    outcome = _sent(request, one, do)
    if isinstance(outcome, Refused):
        return _refused(request, one, do, outcome)
    drafts.discard(one.person.pk, delivery)
    messages.success(request, _words(one, do, outcome))
    return HttpResponseRedirect(reverse("review", args=[delivery]))


def flaws_of(do: str, one: Opened) -> dict[str, str]:
    """What is missing in a decision, by field: a note for every verdict but Met, a reason where one is due."""
    if not one.standing.may_decide:
        return {}
    errors: dict[str, str] = {}
    for number in range(1, len(one.acceptance) + 1):
        given = one.typed.given(number)
        if given.word in ("not-met", "cannot-tell") and not given.note.strip():
            what = "what is not met" if given.word == "not-met" else "what is missing to tell"
            errors[f"note-{number}"] = f"Say {what}: the agent reads only this."
        elif given.note.strip() and not given.word:
            errors[f"note-{number}"] = (
                "Give a verdict here, or take the note back: it goes out with its verdict."
            )
    if one.standing.needs_reason and not (one.typed.reason.strip() or one.standing.as_deputy):
        errors["reason"] = "Say why you step in."
    if do == "accept" and one.standing.as_deputy and _has_excluded(one) and not _has_own_reason(one):
        errors["reason"] = "An excluded file is touched: say why you accept it all the same."
    if do == "reject" and not one.typed.note.strip():
        errors["note"] = "Say why it is rejected."
    return errors


def _has_excluded(one: Opened) -> bool:
    return bool((deliveries.facts_of(one.delivery).get("scope") or {}).get("excluded"))


def _has_own_reason(one: Opened) -> bool:
    """Whether there are words beside those that were filled in for a deputy."""
    return bool(one.typed.reason.replace(one.standing.as_deputy, "").strip())


def _sent(request: HttpRequest, one: Opened, do: str) -> Outcome:
    given = {number: verdict for number, verdict in sorted(one.typed.verdicts.items()) if verdict.word}
    judgement = Judgement(
        request.POST.get("subject", ""),
        {
            number: VerdictGiven(drafts.FORM_WORDS[verdict.word], verdict.note)
            for number, verdict in given.items()
        },
        one.typed.note,
        one.typed.reason.strip() or one.standing.as_deputy,
    )
    digest = canonical.digest(
        {
            "do": do,
            "delivery": str(one.delivery.pk),
            "subject": judgement.subject_digest,
            "verdicts": {str(number): [verdict.word, verdict.note] for number, verdict in given.items()},
            "note": judgement.note,
            "reason": judgement.reason,
        }
    )
    return VERBS[do](
        caller_of(request, key_of(request), digest), one.delivery.pk, judgement, one.typed.as_comments()
    )


def _refused(request: HttpRequest, one: Opened, do: str, refused: Refused) -> HttpResponse:
    """Errors beside the field they are about; everything else in the conflict panel, over the draft."""
    status = refused.rule.status
    if refused.why in FIELD_OF:
        errors: Mapping[str, str] = {FIELD_OF[refused.why]: _about(refused)}
        return page.drawn(request, one, Asked(sheet=do, errors=errors), status=status)
    if refused.why is Why.NOT_REVIEWER and one.standing.needs_reason:
        return page.drawn(request, one, Asked(sheet=do, errors={"reason": refused.sentence}), status=status)
    if refused.why in AGAIN:
        again = f"{refused.sentence} Nothing you typed is lost; send it again, it will not happen twice."
        return page.drawn(request, one, Asked(sheet=do, notice=again), status=status)
    fresh = page.opened(request, one.delivery.pk)
    return conflict.drawn(request, fresh, refused)


def _about(refused: Refused) -> str:
    if refused.why is Why.SCOPE_VIOLATION and refused.reasons:
        return f"{refused.sentence} ({', '.join(refused.reasons[:5])})"
    return refused.sentence


def _words(one: Opened, do: str, outcome: Any) -> str:
    """What happened, in the server's words."""
    task, agent = one.delivery.task, one.delivery.agent.name
    if isinstance(outcome, Committed):
        return f"Accepted. {task} is done: round {one.delivery.round} is its canonical result, {short_digest(outcome.result_digest)}."
    verb = "Sent back" if do == "changes" else "Rejected"
    if outcome.state is State.CLAIMED:
        return f"{verb}. {agent} has {task} again and your notes with it; it makes round {one.delivery.round + 1}."
    if outcome.state is State.HELD:
        return f"{verb}. {task} is held: its attempts are used up, and an operator can requeue it."
    kept = f" {agent} is asked first." if do == "changes" else ""
    return f"{verb}. {task} is open again.{kept}"
