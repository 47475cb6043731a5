"""/tasks/<task>/attempts: every attempt that has evidence, side by side, and what an operator may do with it.

Promises: reading alone changes nothing; which two diffs are laid beside each other is in the address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from claims.models import Task
from claims.selectors import provenance, tasks
from claims.selectors.provenance import Rival
from claims.selectors.seen import SeenPool
from claims.vocabulary import DeliveryState, Right, State
from reviews.arbitration import beside, columns, shots
from reviews.shell.draw import draw
from reviews.shell.rights import pools_of_request, signed_in
from reviews.taskpage.changing import ends_of
from reviews.taskpage.views import Told, found

AGENTS_LIMIT = 20


@signed_in
@require_safe
def page(request: HttpRequest, ref: str) -> HttpResponse:
    """The page."""
    return drawn(request, found(request, ref))


def drawn(request: HttpRequest, task: Task, told: Told | None = None, status: int = 200) -> HttpResponse:
    """The attempts as they are now, with what a refused adoption left to say."""
    pool = next(pool for pool in pools_of_request(request) if pool.id == task.pool_id)
    rivals, more = provenance.rivals(task.pk)
    path = request.GET.get("path", "").replace("\0", "")[:1_000]
    pair = pair_of(rivals, request.GET.get("a", ""), request.GET.get("b", ""))
    context = {
        "task": task,
        "pool": pool,
        "told": told or Told(),
        "columns": columns.columns_of(task, pool, rivals),
        "more": more,
        "comparable": [rival for rival in rivals if beside.has_diff(rival)],
        "pair": pair,
        "beside": beside.beside(*pair, path) if pair else None,
        "shots": shots.pairs(*pair) if pair and not path else [],
        "path": path,
        "key": request.POST.get("key") or str(uuid4()),
        **_deciding(task, pool, rivals),
    }
    return draw(request, "attempts.html", context, pool=pool, status=status)


def _deciding(task: Task, pool: SeenPool, rivals: Sequence[Rival]) -> dict[str, Any]:
    """Who may adopt, what would be ended by it, and which agents could be given the task."""
    may_adopt = pool.allows(Right.OPERATOR)
    adoptable = [rival for rival in rivals if not columns.why_not(task, pool, rival)]
    return {
        "may_adopt": may_adopt,
        "standstill": columns.standstill(task, pool),
        "adoptable": adoptable,
        "ends": ends_of(task) if task.state == State.DELIVERED else "",
        "fit": tasks.agents_for(task, AGENTS_LIMIT)[0] if may_adopt and adoptable else [],
        "operators": [] if may_adopt or not adoptable else provenance.operators_of(pool.id),
    }


def pair_of(rivals: Sequence[Rival], first: str, second: str) -> tuple[Rival, Rival] | None:
    """The two whose diffs are laid beside each other: those that are named, else the newest two rivals.

    A round that was sent back comes after the others: the next round went on from it.
    """
    able = [rival for rival in rivals if beside.has_diff(rival)]
    if len(able) < 2:
        return None
    able.sort(key=_was_sent_back)
    named = {str(rival.generation): rival for rival in able}
    left = named.get(first) or next(rival for rival in able if str(rival.generation) != second)
    right = named.get(second)
    if right is None or right is left:
        right = next(rival for rival in able if rival is not left)
    return left, right


def _was_sent_back(rival: Rival) -> bool:
    return rival.delivery is not None and rival.delivery.state == DeliveryState.CHANGES_REQUESTED
