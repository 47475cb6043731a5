"""What a preparer or an operator does with one task: cancel, revise, acknowledge, adopt.

Promises: the state version that was seen is posted; what a refusal or a flaw is about is drawn beside
what was typed, with the task as it is now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from claims import canonical, transitions
from claims.callers import Caller
from claims.decide import Sighting
from claims.inputs import NewTask
from claims.models import Task
from claims.outcomes import Acknowledged, Cancelled, Granted, Refused, Revised, Why
from claims.taskfile import TemplateInvalid, load_template
from claims.transitions import Answer
from reviews.desk.views import key_of
from reviews.shell.requests import caller_of
from reviews.shell.rights import signed_in
from reviews.taskpage import views
from reviews.taskpage.views import Told

FIELDS = ("version", "reason", "source", "effect", "counts", "attempt", "runner")
TAB_OF = {"cancel": views.CHANGE, "revise": views.CHANGE, "acknowledge": "effects", "adopt": "claim"}
ONLY_INPUT = "{name} is not part of the input and cannot be revised; it is changed by adjust."


@signed_in
@require_POST
def act(request: HttpRequest, ref: str) -> HttpResponse:
    """Cancel, revise, acknowledge or adopt: the button's ``do``."""
    task, do = views.found(request, ref), request.POST.get("do", "")
    if do not in VERBS:
        raise Http404(views.MISSING.format(ref=ref[:80]))
    typed = {name: request.POST.get(name, "").replace("\x00", "").strip() for name in FIELDS}
    errors, flaws = flaws_of(do, typed), flaws_of_source(typed["source"]) if do == "revise" else ()
    if errors or flaws:
        told = Told(None, do, typed, errors, flaws)
        return views.drawn(request, task, TAB_OF[do], told, status=422)
    digest = canonical.digest({"do": do, "task": str(task.pk), **typed})
    outcome = VERBS[do](caller_of(request, key_of(request), digest), task, typed)
    if isinstance(outcome, Refused):
        return _refused(request, task, outcome, Told(outcome, do, typed, flaws=outcome.reasons))
    messages.success(request, words_of(task, outcome))
    number = outcome.task.number if isinstance(outcome, Revised) else task.number
    tab = "effects" if do == "acknowledge" else "timeline"
    return HttpResponseRedirect(reverse("task-tab", args=[f"T-{number}", tab]))


def _refused(request: HttpRequest, task: Task, refused: Refused, told: Told) -> HttpResponse:
    if refused.why is Why.NOT_FOUND:
        raise Http404(views.MISSING.format(ref=task))
    fresh = views.found(request, str(task.pk))
    return views.drawn(request, fresh, TAB_OF[told.do], told, status=refused.rule.status)


def flaws_of(do: str, typed: dict[str, str]) -> dict[str, str]:
    """What is missing in the form."""
    errors = {}
    if do in ("cancel", "adopt") and not typed["reason"]:
        errors["reason"] = "Say why; the reason is kept in the history."
    if do == "adopt" and _id(typed["attempt"]) is None:
        errors["attempt"] = "Choose the evidence to go on from."
    if do == "adopt" and not typed["runner"]:
        errors["runner"] = "Choose the agent that gets it."
    if do == "acknowledge" and typed["counts"] not in ("yes", "no"):
        errors["counts"] = "Say whether it counts or is to be done again."
    return errors


def flaws_of_source(source: str) -> tuple[str, ...]:
    """What is wrong with the text of a revision, each with its place."""
    try:
        template = load_template(source)
    except TemplateInvalid as invalid:
        return tuple(str(flaw) for flaw in invalid.flaws[:20])
    plain = NewTask(template.task.title, template.task.input)
    others = [
        each.name
        for each in fields(NewTask)
        if getattr(template.task, each.name) != getattr(plain, each.name)
    ]
    named = [*(["pool"] if template.pool else []), *others]
    return tuple(ONLY_INPUT.format(name=name.replace("_", " ")) for name in named)


def _cancel(caller: Caller, task: Task, typed: dict[str, str]) -> Cancelled | Refused:
    return transitions.cancel(caller, task.pk, typed["reason"])


def _revise(caller: Caller, task: Task, typed: dict[str, str]) -> Revised | Refused:
    new = load_template(typed["source"]).task
    return transitions.revise(caller, task.pk, _number(typed["version"]), new.input, new.title)


def _acknowledge(caller: Caller, task: Task, typed: dict[str, str]) -> Acknowledged | Refused:
    answer = Answer(typed["effect"][:64], typed["counts"] == "yes", typed["reason"][:2_000])
    return transitions.acknowledge(caller, task.pk, answer)


def _adopt(caller: Caller, task: Task, typed: dict[str, str]) -> Granted | Refused:
    sighting = Sighting(_number(typed["version"]), None, typed["reason"])
    return transitions.adopt(caller, task.pk, sighting, typed["runner"], attempt_id=_id(typed["attempt"]))


VERBS: dict[str, Callable[[Caller, Task, dict[str, str]], Any]] = {
    "cancel": _cancel,
    "revise": _revise,
    "acknowledge": _acknowledge,
    "adopt": _adopt,
}


def _number(text: str) -> int:
    """The state version the page had; 0, which no task has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def words_of(task: Task, outcome: Any) -> str:
    """What happened, in the server's words."""
    if isinstance(outcome, Cancelled):
        return f"{task} is cancelled. Nothing of it is accepted from now on; it can still be revised."
    if isinstance(outcome, Revised):
        state = outcome.task.state.lower()
        return f"T-{outcome.task.number} is revision {outcome.revision} of {task}, and {state}."
    if isinstance(outcome, Granted):
        return f"{task} is claimed again, generation {outcome.fence.claim_generation}, with the evidence you chose; it must be delivered again."
    said = "counts for this revision" if outcome.counts else "is to be done again"
    return f"Kept: the earlier effect {said}."
