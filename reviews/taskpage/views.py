"""/tasks/<T-number or id>: one task, in tabs that are pages of their own and fragments too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_safe

from claims.models import Task
from claims.outcomes import Refused, Why
from claims.selectors import adoptable, costs, effects, graph, people, preparing, tasks, waiting
from claims.selectors.seen import SeenPool
from claims.vocabulary import ActorKind, ReclaimPolicy, Right
from reviews.board.cards import waits_for
from reviews.effects.views import shown
from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import pools_of_request, signed_in
from reviews.shell.words import seen_state
from reviews.taskpage import (
    changes,
    changing,
    earlier,
    entries,
    lanes,
    next_steps,
    picture,
    revising,
    scheduling,
)
from reviews.taskpage.template_yaml import template_of

TABS = {
    "spec": "Spec",
    "rounds": "Rounds",
    "claim": "Claim",
    "effects": "Effects",
    "timeline": "Timeline",
    "yaml": "YAML",
}
CHANGE = "change"
"""Revise, change in place and cancel: reached from the side of every tab, and drawn in the place of one."""
ENTRIES_A_PAGE = 40
MOST_MISSED = 24
"""Missed renewals drawn at most; one is due each half lease."""
MISSING = "There is no task {ref} in a pool that you can see."


@dataclass(frozen=True, slots=True)
class Told:
    """What an act that was refused left to say: the refusal, and what had been typed."""

    refused: Refused | None = None
    do: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    flaws: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    """What the tab is drawn with instead of what it shows of the task."""


@signed_in
@require_safe
def page(request: HttpRequest, ref: str) -> HttpResponse:
    """The task at its timeline while it is at work, at its specification before."""
    task = found(request, ref)
    return drawn(request, task, "spec" if task.state_version == 1 else "timeline")


@signed_in
@require_safe
def tab(request: HttpRequest, ref: str, tab: str) -> HttpResponse:
    """One tab."""
    if tab not in TABS and tab != CHANGE:
        raise Http404(MISSING.format(ref=f"{ref}/{tab}"))
    return drawn(request, found(request, ref), tab)


@signed_in
@require_safe
def deps(request: HttpRequest, ref: str) -> HttpResponse:
    """The graph around the task as a file: a picture that runs nothing and loads nothing."""
    task = found(request, ref)
    graph_of = waiting.graph(task.pool_id, task.lineage_id)
    drawing = {"picture": picture.picture_of(graph_of, task.lineage_id)}
    answer = HttpResponse(render_to_string("task/deps.svg", drawing), content_type="image/svg+xml")
    answer["Content-Security-Policy"] = "sandbox; default-src 'none'"
    answer["Content-Disposition"] = f'inline; filename="{task}-graph.svg"'
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cache-Control"] = "private, no-cache"
    return answer


def found(request: HttpRequest, ref: str) -> Task:
    """The task, for a person with any right in its pool. Raises ``Http404`` otherwise."""
    task = tasks.find(ref, [pool.id for pool in pools_of_request(request)])
    if task is None:
        raise Http404(MISSING.format(ref=ref[:80]))
    return task


def _pool_of(request: HttpRequest, task: Task) -> SeenPool:
    return next(pool for pool in pools_of_request(request) if pool.id == task.pool_id)


def drawn(
    request: HttpRequest, task: Task, tab: str, told: Told | None = None, status: int = 200
) -> HttpResponse:
    """One tab as it is now, with what a refused act left to say."""
    pool, viewer = _pool_of(request, task), person_of(request).pk
    steps = next_steps.steps_of(task, pool, viewer)
    around = graph.around(task.pk, task.lineage_id)
    context = {
        "task": task,
        "pool": pool,
        "tab": tab,
        "told": told or Told(),
        "tabs": _tabs(task),
        "body": task.specification.body,
        "seen": seen_state(
            task.state, quiet=getattr(task, "is_quiet", False), sent_back=getattr(task, "is_sent_back", False)
        ),
        "waits_for": waits_for(task, viewer),
        "steps": steps,
        "first_step": next((step for step in steps if step.is_first), None),
        "commit": tasks.commit_of(task),
        "around": around,
        "picture": picture.picture_of(waiting.graph(task.pool_id, task.lineage_id), task.lineage_id)
        if tab == "spec" and (around.before or around.after)
        else None,
        "in_the_way": [node for node in around.before if node.is_in_the_way],
        "may_change": pool.allows(Right.PREPARER, Right.OPERATOR),
        "may_operate": pool.allows(Right.OPERATOR),
        "is_newest": around.newest is None or around.newest.number == task.number,
        "key": _key(request, told),
        **_CONTEXT[tab](request, task),
        **(told.more if told else {}),
    }
    return draw(request, "task.html", context, partial="tab", pool=pool, status=status)


def _key(request: HttpRequest, told: Told | None) -> str:
    """The key of the forms: that of the one that was refused, for a refusal burns none."""
    is_used = told is not None and told.refused is not None and told.refused.why is Why.KEY_REUSED
    return ("" if is_used else request.POST.get("key", "")) or str(uuid4())


def _tabs(task: Task) -> list[dict[str, Any]]:
    entry_count, attempt_count = tasks.counts(task)
    declared = len(task.specification.body.get("effects", []))
    counts = {"rounds": task.rounds, "timeline": entry_count, "claim": attempt_count, "effects": declared}
    return [
        {"slug": slug, "word": word, "count": counts.get(slug, 0), "key": at}
        for at, (slug, word) in enumerate(TABS.items(), 1)
    ]


def _spec(request: HttpRequest, task: Task) -> dict[str, Any]:
    fit, more = tasks.agents_for(task)
    writer = task.preparer_id or 0
    known = people.names([writer] if writer else [])
    return {"fit": fit, "fit_more": more, "written_by": known.get(writer, task.created_by)}


def _rounds(request: HttpRequest, task: Task) -> dict[str, Any]:
    return {"rounds": tasks.rounds(task)}


def _claim(request: HttpRequest, task: Task) -> dict[str, Any]:
    spent = costs.of_task(task.pk)
    return {
        "attempts": tasks.attempts(task),
        "ticks": _ticks(task),
        "fit": tasks.agents_for(task)[0],
        "costs": changing.costs_of(spent),
        "adoptable": adoptable.attempts({task.pk}).get(task.pk, []) if changing.can_adopt(task) else [],
    }


def _effects(request: HttpRequest, task: Task) -> dict[str, Any]:
    lineage = effects.of_lineage(task.lineage_id)
    own = [each for each in lineage if each.task_id == task.pk]
    prepared = {each.slot for each in own}
    return {
        "own": shown(own),
        "unsent": [
            slot for slot in task.specification.body.get("effects", []) if slot["slot"] not in prepared
        ],
        "earlier": earlier.of_task(task, [each for each in lineage if each.task_id != task.pk]),
    }


def _change(request: HttpRequest, task: Task) -> dict[str, Any]:
    pool = _pool_of(request, task)
    asks = scheduling.may_change(task) and pool.allows(Right.PREPARER, Right.OPERATOR)
    around = preparing.around(task.pool_id) if asks else None
    return {
        "revising": revising.form_of(task),
        "scheduling": scheduling.form_of(task),
        "can_be_scheduled": scheduling.may_change(task),
        "deciders": around,
        "known_reviewers": [one.name for one in around.reviewers] if around else [],
        "known_groups": [name for name, _ in around.groups] if around else [],
        "attempts_made": f"{task.attempts_used} made",
        "policies": list(ReclaimPolicy),
        "ends": changing.ends_of(task),
    }


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
    rows = tasks.timeline(task, before, ENTRIES_A_PAGE)
    refused = [row.actor_id for row in rows.refusals if row.actor_kind == ActorKind.PERSON]
    told = entries.entries_of(rows, changes.known_for(task, rows.history, refused), task.revision)
    columns = lanes.lanes_of(told, {key: row.claim_generation for key, row in rows.attempts.items()})
    live = lanes.live_codes(told, columns) if before is None else [""] * len(columns)
    return {
        "entries": lanes.drawn(told, columns),
        "lanes": columns,
        "live_lanes": live,
        "next_before": rows.before,
        "is_newest_page": before is None,
    }


def _yaml(request: HttpRequest, task: Task) -> dict[str, Any]:
    return {"yaml": template_of(task, task.specification.body)}


_CONTEXT: dict[str, Callable[[HttpRequest, Task], dict[str, Any]]] = {
    "spec": _spec,
    "rounds": _rounds,
    "claim": _claim,
    "effects": _effects,
    CHANGE: _change,
    "timeline": _timeline,
    "yaml": _yaml,
}
