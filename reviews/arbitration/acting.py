"""Adopting one attempt's evidence from the page that lays them side by side.

Promises: the write is ``transitions.adopt`` and nothing else: a new attempt under a new generation, which
must deliver again; a refusal draws the attempts as they are now beside what was typed.
"""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from claims import canonical
from claims.outcomes import Refused, Why
from reviews.arbitration import views
from reviews.desk.views import key_of
from reviews.shell.requests import caller_of
from reviews.shell.rights import signed_in
from reviews.taskpage.acting import VERBS, flaws_of, words_of
from reviews.taskpage.views import MISSING, Told, found

FIELDS = ("version", "reason", "attempt", "runner")


@signed_in
@require_POST
def adopt(request: HttpRequest, ref: str) -> HttpResponse:
    """Give the task to the named agent, with the evidence of the chosen attempt."""
    task = found(request, ref)
    typed = {name: request.POST.get(name, "").replace("\x00", "").strip() for name in FIELDS}
    errors = flaws_of("adopt", typed)
    if errors:
        return views.drawn(request, task, Told(None, "adopt", typed, errors), status=422)
    digest = canonical.digest({"do": "adopt", "task": str(task.pk), **typed})
    outcome = VERBS["adopt"](caller_of(request, key_of(request), digest), task, typed)
    if isinstance(outcome, Refused):
        if outcome.why is Why.NOT_FOUND:
            raise Http404(MISSING.format(ref=task))
        fresh = found(request, str(task.pk))
        return views.drawn(request, fresh, Told(outcome, "adopt", typed), status=outcome.rule.status)
    messages.success(request, words_of(task, outcome))
    return HttpResponseRedirect(reverse("task-tab", args=[task, "timeline"]))
