"""/operations: what needs an operator, with the facts to decide it by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from claims.models import Task
from claims.outcomes import Refused
from claims.selectors import operations, quiet
from claims.selectors.seen import SeenPool
from claims.vocabulary import Right
from reviews.operations import dossier, workers
from reviews.shell.draw import draw
from reviews.shell.rights import pool_named, pools_of_request, signed_in

NOT_YOURS = "Only operators see this page. An administrator of a pool can give you the right."


@dataclass(frozen=True, slots=True)
class Told:
    """What a refused act left to say: the refusal, and what the operator had typed."""

    refused: Refused | None = None
    task: Task | None = None
    do: str = ""
    reason: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


@signed_in
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The page; asked for as a fragment it answers what is on it."""
    return drawn(request, Told())


def operated(request: HttpRequest) -> tuple[SeenPool, ...]:
    """The pools this person operates, or the one the address names.

    Raises ``PermissionDenied`` without any, ``Http404`` for one that is not theirs.
    """
    if request.GET.get("pool"):
        return (pool_named(request, request.GET["pool"], Right.OPERATOR),)
    pools = tuple(pool for pool in pools_of_request(request) if pool.allows(Right.OPERATOR))
    if not pools:
        raise PermissionDenied(NOT_YOURS)
    return pools


def drawn(request: HttpRequest, told: Told, status: int = 200) -> HttpResponse:
    """The page as it is now, with what a refused act left to say."""
    pools = operated(request)
    ids = [pool.id for pool in pools]
    rows, now = quiet.rows(ids), timezone.now()
    wanted = request.GET.get("task", "")
    chosen = told.task or dossier.first_chosen(rows, wanted)
    held = operations.held(ids)
    drains = operations.drains(ids)
    context: dict[str, Any] = {
        "pools": pools,
        "rows": [
            {"task": row, "guess": dossier.guess_of(row, _nothing(rows, row), now).partition(":")[0]}
            for row in rows
        ],
        "quiet_count": quiet.count(ids) if len(rows) == quiet.QUIET_LIMIT else len(rows),
        "pulse": quiet.pulse(ids),
        "chosen": chosen,
        "is_quiet": bool(chosen and getattr(chosen, "is_quiet", False)),
        "dossier": dossier.dossier_of(chosen, quiet.around(chosen), now) if chosen else None,
        "held": held,
        "held_count": operations.held_count(ids) if len(held) == operations.HELD_LIMIT else len(held),
        "gates": [{"pool": pool, "drain": drains[pool.id]} for pool in pools],
        "workers": workers.lines(),
        "told": told,
        "now": now,
        "key": request.POST.get("key") or str(uuid4()),
        "topics": " ".join(f"pool:{pool.name}" for pool in pools),
        "address": request.get_full_path() if request.method == "GET" else "/operations",
    }
    pool = pools[0] if len(pools) == 1 else None
    return draw(request, "operations.html", context, partial="all", pool=pool, status=status)


def _nothing(rows: list[Task], row: Task) -> quiet.Around:
    """What the list itself tells of a claim: how many more of its runner are quiet."""
    same = sum(other.runner_id == row.runner_id for other in rows) - 1
    return quiet.Around(0, 0, 0, same, None, None, (), 0)
