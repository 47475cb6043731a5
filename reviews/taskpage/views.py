"""/tasks/<T-number or id>: one task, in tabs that are pages of their own and fragments too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from claims.models import Task
from claims.selectors import tasks
from claims.selectors.seen import SeenPool
from reviews.board.cards import waits_for
from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import pools_of_request, signed_in
from reviews.shell.words import seen_state
from reviews.taskpage import entries, lanes, next_steps
from reviews.taskpage.template_yaml import template_of

TABS = ("spec", "rounds", "claim", "timeline", "yaml")
ENTRIES_A_PAGE = 40
MOST_MISSED = 24
"""Missed renewals drawn at most; one is due each half lease."""
MISSING = "There is no task {ref} in a pool that you can see."


@signed_in
@require_safe
def page(request: HttpRequest, ref: str) -> HttpResponse:
    """The task at its timeline while it is at work, at its specification before."""
    task = _found(request, ref)
    return _draw(request, task, "spec" if task.claim_generation == 0 else "timeline")


@signed_in
@require_safe
def tab(request: HttpRequest, ref: str, tab: str) -> HttpResponse:
    """One tab."""
    if tab not in TABS:
        raise Http404(MISSING.format(ref=f"{ref}/{tab}"))
    return _draw(request, _found(request, ref), tab)


def _found(request: HttpRequest, ref: str) -> Task:
    task = tasks.find(ref, [pool.id for pool in pools_of_request(request)])
    if task is None:
        raise Http404(MISSING.format(ref=ref[:80]))
    return task


def _pool_of(request: HttpRequest, task: Task) -> SeenPool:
    return next(pool for pool in pools_of_request(request) if pool.id == task.pool_id)


def _draw(request: HttpRequest, task: Task, tab: str) -> HttpResponse:
    pool, viewer = _pool_of(request, task), person_of(request).pk
    entry_count, attempt_count = tasks.counts(task)
    steps = next_steps.steps_of(task, pool, viewer)
    context = {
        "task": task,
        "pool": pool,
        "tab": tab,
        "tabs": _tabs(task, entry_count, attempt_count),
        "body": task.specification.body,
        "seen": seen_state(
            task.state, quiet=getattr(task, "is_quiet", False), sent_back=getattr(task, "is_sent_back", False)
        ),
        "waits_for": waits_for(task, viewer),
        "steps": steps,
        "first_step": next((step for step in steps if step.is_first), None),
        "commit": tasks.commit_of(task),
        "attempt_count": attempt_count,
        **_CONTEXT[tab](request, task),
    }
    return draw(request, "task.html", context, partial="tab", pool=pool)


def _tabs(task: Task, entry_count: int, attempt_count: int) -> list[dict[str, Any]]:
    counts = {"rounds": task.rounds, "timeline": entry_count, "claim": attempt_count}
    words = {"spec": "Spec", "rounds": "Rounds", "claim": "Claim", "timeline": "Timeline", "yaml": "YAML"}
    return [
        {"slug": slug, "word": words[slug], "count": counts.get(slug, 0), "key": at}
        for at, slug in enumerate(TABS, 1)
    ]


def _spec(request: HttpRequest, task: Task) -> dict[str, Any]:
    fit, more = tasks.agents_for(task)
    return {"fit": fit, "fit_more": more}


def _rounds(request: HttpRequest, task: Task) -> dict[str, Any]:
    return {"rounds": tasks.rounds(task)}


def _claim(request: HttpRequest, task: Task) -> dict[str, Any]:
    return {"attempts": tasks.attempts(task), "ticks": _ticks(task), "fit": tasks.agents_for(task)[0]}


def _ticks(task: Task) -> dict[str, Any] | None:
    """The current claim as a line from its grant to now or the end of the lease, with what was missed since."""
    lease, attempt = getattr(task, "lease", None), task.attempt
    if lease is None or attempt is None:
        return None
    now, start = timezone.now(), attempt.started_at
    whole = max((max(lease.expires_at, now) - start).total_seconds(), 1.0)
    half = timedelta(seconds=lease.ttl_seconds / 2)
    due = (lease.expires_at + half * number for number in range(1, MOST_MISSED + 1))
    return {
        "now": _place(now, start, whole),
        "expires": _place(lease.expires_at, start, whole),
        "renewed": _place(lease.renewed_at, start, whole) if lease.renewed_at else None,
        "missed": [_place(at, start, whole) for at in due if at < now],
        "renewals": lease.renewals,
    }


def _place(at: datetime, start: datetime, whole_seconds: float) -> float:
    """Where a moment stands on a line of 597 units: a post of three fits behind it."""
    return round(max(0.0, min(1.0, (at - start).total_seconds() / whole_seconds)) * 597, 1)


def _timeline(request: HttpRequest, task: Task) -> dict[str, Any]:
    wanted = request.GET.get("before", "")
    before = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) <= 18 else None
    found = tasks.timeline(task, before, ENTRIES_A_PAGE)
    told = entries.entries_of(found)
    drawn = lanes.lanes_of(told, {key: row.claim_generation for key, row in found.attempts.items()})
    live = lanes.live_codes(told, drawn) if before is None else [""] * len(drawn)
    return {
        "entries": lanes.drawn(told, drawn),
        "lanes": drawn,
        "live_lanes": live,
        "next_before": found.before,
        "is_newest": before is None,
    }


def _yaml(request: HttpRequest, task: Task) -> dict[str, Any]:
    return {"yaml": template_of(task, task.specification.body)}


_CONTEXT: dict[str, Callable[[HttpRequest, Task], dict[str, Any]]] = {
    "spec": _spec,
    "rounds": _rounds,
    "claim": _claim,
    "timeline": _timeline,
    "yaml": _yaml,
}
