"""What a preparer or an operator does with one task: cancel, revise, adjust, acknowledge, adopt.

Promises: the state version that was seen is posted; what a refusal or a flaw is about is drawn beside
what was typed, with the task as it is now: field by field where both changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
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
from claims.outcomes import Acknowledged, Adjusted, Cancelled, Granted, Refused, Revised, Why
from claims.selectors import graph, tasks
from claims.taskfile import TemplateInvalid, load_template
from claims.transitions import Answer
from reviews.desk.views import key_of
from reviews.shell.requests import caller_of
from reviews.shell.rights import signed_in
from reviews.taskpage import changes, entries, revising, scheduling, views
from reviews.taskpage.views import Told

FIELDS = ("version", "reason", "effect", "counts", "attempt", "runner", "wasTitle")
TEXTS = ("source", "kept")
"""Fields whose every line counts, the empty ones at their end too."""
TAB_OF = {
    "cancel": views.CHANGE,
    "revise": views.CHANGE,
    "adjust": views.CHANGE,
    "acknowledge": "effects",
    "adopt": "claim",
}
MERGES = {"merge": "revise", "fit": "adjust"}
"""What puts typed changes on what is now, and the act whose form it fills. Nothing is written by it."""
MOVED = (Why.STALE_STATE, Why.KEY_REUSED)
"""Refusals that say that the form was drawn from another task than there is now."""
FORM_OF = {"revise": "revising", "adjust": "scheduling"}
"""Under which name a form is drawn; its module has one function each for what can become of it."""
TYPED: dict[str, Callable[[Task, Mapping[str, str]], Any]] = {
    "revise": revising.typed_form,
    "adjust": scheduling.typed_form,
}
AGAINST: dict[str, Callable[[Task, Task, Mapping[str, str]], Any]] = {
    "revise": revising.against,
    "adjust": scheduling.against,
}
MERGED: dict[str, Callable[[Task, Task, Mapping[str, str]], Any]] = {
    "revise": revising.merged,
    "adjust": scheduling.merged,
}
UNCHANGED = "Nothing was changed: {task} is scheduled like that already."
ONLY_INPUT = "{name} is not part of the input and cannot be revised; it is changed by adjust."


@signed_in
@require_POST
def act(request: HttpRequest, ref: str) -> HttpResponse:
    """Cancel, revise, acknowledge or adopt: the button's ``do``."""
    task, do = views.found(request, ref), request.POST.get("do", "")
    kind = MERGES.get(do, do)
    if kind not in VERBS:
        raise Http404(views.MISSING.format(ref=ref[:80]))
    typed = typed_in(request)
    errors, flaws = flaws_of(kind, typed), flaws_of_source(typed["source"]) if kind == "revise" else ()
    if errors or flaws:
        told = Told(None, kind, typed, errors, flaws, form_of(kind, task, typed))
        return views.drawn(request, task, TAB_OF[kind], told, status=422)
    if do in MERGES:
        return _merged(request, task, kind, typed)
    digest = canonical.digest({"do": do, "task": str(task.pk), **typed})
    outcome = VERBS[do](caller_of(request, key_of(request), digest), task, typed)
    if isinstance(outcome, Refused):
        return _refused(request, task, outcome, Told(outcome, do, typed, flaws=outcome.reasons))
    return _done(request, task, do, outcome)


def typed_in(request: HttpRequest) -> dict[str, str]:
    """What was sent, by field; browsers send CRLF, and PostgreSQL keeps no NUL."""
    post = {name: request.POST.get(name, "").replace("\x00", "") for name in (*FIELDS, *TEXTS)}
    texts = {name: post[name].replace("\r\n", "\n") for name in TEXTS}
    return {
        **scheduling.typed_in(request.POST.dict()),
        **{name: post[name].strip() for name in FIELDS},
        **texts,
    }


def _done(request: HttpRequest, task: Task, do: str, outcome: Any) -> HttpResponse:
    is_unchanged = isinstance(outcome, Adjusted) and not outcome.changed
    (messages.info if is_unchanged else messages.success)(request, words_of(task, outcome))
    number = outcome.task.number if isinstance(outcome, Revised) else task.number
    tab = views.CHANGE if is_unchanged else "effects" if do == "acknowledge" else "timeline"
    return HttpResponseRedirect(reverse("task-tab", args=[f"T-{number}", tab]))


def _refused(request: HttpRequest, task: Task, refused: Refused, told: Told) -> HttpResponse:
    """The form again, with the task as it is now; one whose input moved is drawn over its newest revision."""
    if refused.why is Why.NOT_FOUND:
        raise Http404(views.MISSING.format(ref=task))
    fresh = views.found(request, str(task.pk))
    field = scheduling.field_of(refused) if told.do == "adjust" else ""
    if field:
        told = replace(told, refused=None, errors={field: refused.sentence})
    more = form_of(told.do, task, told.typed)
    if more and refused.why in MOVED:
        fresh = newest_of(request, fresh)
        more = {FORM_OF[told.do]: AGAINST[told.do](task, fresh, told.typed), "last": _last(fresh)}
    return views.drawn(request, fresh, TAB_OF[told.do], replace(told, more=more), status=refused.rule.status)


def _last(task: Task) -> entries.Entry | None:
    """The last thing that happened to a task, in the words of its timeline."""
    rows = tasks.timeline(task, None, 1)
    known = changes.known_for(task, rows.history, [])
    found = entries.entries_of(replace(rows, refusals=()), known, task.revision)
    return found[-1] if found else None


def _merged(request: HttpRequest, task: Task, do: str, typed: dict[str, str]) -> HttpResponse:
    """The form filled with your changes on what is now."""
    newest = newest_of(request, task)
    told = Told(None, do, typed, more={FORM_OF[do]: MERGED[do](task, newest, typed)})
    return views.drawn(request, newest, views.CHANGE, told)


def newest_of(request: HttpRequest, task: Task) -> Task:
    """The newest revision of the task's lineage."""
    newest = graph.around(task.pk, task.lineage_id).newest
    return task if newest is None or newest.number == task.number else views.found(request, str(newest))


def form_of(do: str, task: Task, typed: Mapping[str, str]) -> dict[str, Any]:
    """The form of an act as it was sent, for the two that have one of their own."""
    return {FORM_OF[do]: TYPED[do](task, typed)} if do in FORM_OF else {}


def flaws_of(do: str, typed: dict[str, str]) -> dict[str, str]:
    """What is missing or wrong in the form, by field."""
    errors = scheduling.flaws_of(typed) if do == "adjust" else {}
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


def _adjust(caller: Caller, task: Task, typed: dict[str, str]) -> Adjusted | Refused:
    """A form that changes nothing asks nothing, unless it was sent before and has moved the task itself."""
    attributes = scheduling.attributes_of(task, typed)
    if not attributes:
        return Adjusted(task.pk, task.state_version, ())
    return transitions.adjust(caller, task.pk, attributes, _number(typed["version"]))


def _acknowledge(caller: Caller, task: Task, typed: dict[str, str]) -> Acknowledged | Refused:
    answer = Answer(typed["effect"][:64], typed["counts"] == "yes", typed["reason"][:2_000])
    return transitions.acknowledge(caller, task.pk, answer)


def _adopt(caller: Caller, task: Task, typed: dict[str, str]) -> Granted | Refused:
    sighting = Sighting(_number(typed["version"]), None, typed["reason"])
    return transitions.adopt(caller, task.pk, sighting, typed["runner"], attempt_id=_id(typed["attempt"]))


VERBS: dict[str, Callable[[Caller, Task, dict[str, str]], Any]] = {
    "cancel": _cancel,
    "revise": _revise,
    "adjust": _adjust,
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
    if isinstance(outcome, Adjusted):
        named = [scheduling.WORDS[scheduling.COLUMNS[name]].lower() for name in outcome.changed]
        return f"{task}: {', '.join(named)} changed." if named else UNCHANGED.format(task=task)
    if isinstance(outcome, Granted):
        return f"{task} is claimed again, generation {outcome.fence.claim_generation}, with the evidence you chose; it must be delivered again."
    said = "counts for this revision" if outcome.counts else "is to be done again"
    return f"Kept: the earlier effect {said}."
