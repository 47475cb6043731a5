"""What an operator orders, handed to its verb with what the page had shown. Refusals redraw the truth beside the words."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST

from claims import canonical, transitions
from claims.callers import Caller
from claims.decide import Sighting
from claims.models import Task
from claims.outcomes import Granted, Refused
from claims.selectors import quiet
from claims.vocabulary import State
from reviews.desk.views import key_of
from reviews.operations import views
from reviews.operations.views import Told
from reviews.shell.requests import caller_of
from reviews.shell.rights import signed_in
from reviews.shell.words import span

VERBS = ("release", "reassign", "extend", "nudge", "requeue")
MISSING = "There is no such task in a pool that you operate."


@signed_in
@require_POST
def act(request: HttpRequest, task: UUID) -> HttpResponse:
    """Release, reassign, extend once, nudge or requeue one task: the button's ``do``."""
    pools = views.operated(request)
    seen = quiet.find(task, [pool.id for pool in pools])
    do = request.POST.get("do", "")
    if seen is None or do not in VERBS:
        raise Http404(MISSING)
    reason = request.POST.get("reason", "").strip()
    errors = flaws_of(do, reason, request.POST.get("runner", ""))
    if errors:
        return views.drawn(request, Told(task=seen, do=do, reason=reason, errors=errors), status=422)
    outcome = ordered(_caller(request, task, do), request, task, do)
    if isinstance(outcome, Refused):
        fresh = quiet.find(task, [pool.id for pool in pools]) or seen
        return views.drawn(request, Told(outcome, fresh, do, reason), status=outcome.rule.status)
    messages.success(request, words_of(do, seen, outcome))
    return HttpResponseRedirect(reverse("operations"))


def flaws_of(do: str, reason: str, runner: str) -> dict[str, str]:
    """What is missing in the form."""
    errors = {}
    if not reason:
        errors["reason"] = "Say why; the reason is kept in the history."
    if do == "reassign" and not runner:
        errors["runner"] = "Choose the agent that gets it."
    return errors


def _caller(request: HttpRequest, task: UUID, do: str) -> Caller:
    names = ("version", "lease", "reason", "even_if_live", "runner")
    digest = canonical.digest(
        {"do": do, "task": str(task), **{name: request.POST.get(name, "") for name in names}}
    )
    return caller_of(request, key_of(request), digest)


def ordered(caller: Caller, request: HttpRequest, task: UUID, do: str) -> Any:
    """The outcome of the verb."""
    sighting = Sighting(
        _version(request.POST.get("version", "")),
        _moment(request.POST.get("lease", "")),
        request.POST.get("reason", "").replace("\x00", "").strip(),
        even_if_live=request.POST.get("even_if_live") == "yes",
    )
    if do == "reassign":
        return transitions.reassign(
            caller, task, sighting, request.POST.get("runner", "").replace("\x00", "")
        )
    verb = {
        "release": transitions.release_quiet,
        "extend": transitions.extend_once,
        "nudge": transitions.nudge,
        "requeue": transitions.requeue,
    }[do]
    return verb(caller, task, sighting)


def _version(text: str) -> int:
    """The state version the page had; 0, which no task has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0


def _moment(text: str) -> datetime | None:
    try:
        return parse_datetime(text)
    except ValueError:
        return None


def words_of(do: str, task: Task, outcome: Any) -> str:
    """What happened, in the server's words."""
    runner = task.runner.name if task.runner else "its runner"
    if isinstance(outcome, Granted):
        return f"{task} is reassigned: generation {outcome.fence.claim_generation}. {runner} is fenced from now on."
    if do == "release":
        where = "held: its attempts are used up" if outcome.state is State.HELD else "open again"
        return f"{task} is {where}. {runner} with generation {task.claim_generation} is answered FENCED from now on."
    if do == "extend":
        left = (
            span((outcome.lease_expires_at - task.lease.expires_at).total_seconds())
            if outcome.lease_expires_at
            else ""
        )
        return f"{runner} has {task} until {outcome.lease_expires_at:%H:%M:%S} UTC, {left} more than it had."
    if do == "nudge":
        return f"{runner} is asked for a sign of life with its next call about {task}."
    if outcome.task_id != task.pk:
        return f"{task} had a stale input: its next revision takes its place, with the results there are now."
    return f"{task} is open again; its attempts start anew."
