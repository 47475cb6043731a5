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

from claims.models import PoolEvent, Task
from claims.outcomes import Refused
from claims.selectors import adoptable, doubts, drain, effects, operations, people, poolevents, quiet, tasks
from claims.selectors.seen import SeenPool
from claims.vocabulary import EffectState, Gate, Right, Verb
from reviews.effects.views import OUTCOMES, shown
from reviews.operations import dossier, workers
from reviews.shell import counts
from reviews.shell.draw import draw
from reviews.shell.rights import pool_named, pools_of_request, signed_in
from reviews.shell.words import bounded

_UNDER_WAY = (EffectState.EXECUTING, EffectState.UNKNOWN)
NOT_YOURS = "Only operators see this page. An administrator of a pool can give you the right."


@dataclass(frozen=True, slots=True)
class Told:
    """What a refused act left to say: the refusal, and what the operator had typed."""

    refused: Refused | None = None
    task: Task | None = None
    do: str = ""
    reason: str = ""
    pool: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def raise_of(self) -> str:
        """The pool whose epoch was to be raised."""
        return self.pool if self.do == "raise" else ""

    @property
    def gate_of(self) -> str:
        """The pool whose gate was to be moved."""
        return "" if self.do == "raise" else self.pool


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
    context = {
        "pools": pools,
        "told": told,
        "key": request.POST.get("key") or str(uuid4()),
        "topics": " ".join(f"pool:{pool.name}" for pool in pools),
        "address": request.get_full_path() if request.method == "GET" else "/operations",
        "gates": _gates(pools),
        "workers": workers.lines(),
        **_quiet(request, ids, told),
        **_effects(ids),
        **_held(ids),
    }
    context["headline"] = headline(context["quiet_count"], context["doubt_count"], context["held_count"])
    pool = pools[0] if len(pools) == 1 else None
    return draw(request, "operations.html", context, partial="all", pool=pool, status=status)


def headline(quiet_claims: int, in_doubt: int, held: int) -> str:
    """What needs an operator, in one line."""
    parts = [
        f"{bounded(count)} {one if count == 1 else many}"
        for count, one, many in (
            (quiet_claims, "quiet claim", "quiet claims"),
            (in_doubt, "effect in doubt", "effects in doubt"),
            (held, "held task", "held tasks"),
        )
        if count
    ]
    if not parts:
        return "Nothing needs an operator"
    said = " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
    return f"{said} {'needs' if quiet_claims + in_doubt + held == 1 else 'need'} an operator"


def _quiet(request: HttpRequest, ids: list[int], told: Told) -> dict[str, Any]:
    """Quiet claims, and the dossier of the one that is chosen."""
    rows, now = quiet.rows(ids), timezone.now()
    first = dossier.first_chosen(rows, request.GET.get("task", ""))
    chosen = told.task or (quiet.find(first.pk, ids) if first else None)
    pulse = quiet.pulse(ids)
    counts.tell_quiet(request, ids, pulse.quiet)
    own = effects.of_task(chosen.pk) if chosen and chosen.declares_effects else []
    return {
        "rows": [
            {"task": row, "guess": dossier.guess_of(row, _nothing(rows, row), now).partition(":")[0]}
            for row in rows
        ],
        "quiet_count": pulse.quiet,
        "pulse": pulse,
        "chosen": chosen,
        "is_quiet": bool(chosen and getattr(chosen, "is_quiet", False)),
        "dossier": dossier.dossier_of(chosen, quiet.around(chosen), now) if chosen else None,
        "open_effects": own,
        "doubted_by_release": [each for each in own if each.state in _UNDER_WAY],
        "now": now,
    }


def _effects(ids: list[int]) -> dict[str, Any]:
    """Effects that only a person or a look-up can settle, then the calls that are under way."""
    found = shown(effects.for_operators(ids))
    doubtful = [one for one in found if one.is_in_doubt]
    return {
        "doubtful": doubtful,
        "outcomes": OUTCOMES,
        "doubt_count": doubts.count(ids) if len(found) == effects.LIMIT else len(doubtful),
        "under_way": [one for one in found if not one.is_in_doubt],
    }


def _held(ids: list[int]) -> dict[str, Any]:
    """Held tasks, each with the evidence that could be adopted and the agents that could go on."""
    held = operations.held(ids)
    evidence = adoptable.attempts([task.pk for task in held if not task.is_stale])
    return {
        "held": [
            {
                "task": task,
                "attempts": evidence.get(task.pk, []),
                "fit": tasks.agents_for(task, quiet.AGENTS_LIMIT)[0] if task.pk in evidence else [],
            }
            for task in held
        ],
        "held_count": operations.held_count(ids) if len(held) == operations.HELD_LIMIT else len(held),
    }


def _gates(pools: tuple[SeenPool, ...]) -> list[dict[str, Any]]:
    """Each pool with its epoch, its gate, who moved them last, and what keeps it from being drained."""
    last = poolevents.last([pool.id for pool in pools])
    names = people.names(event.actor_id for event in last.values())
    return [
        {
            "pool": pool,
            "drain": drain.status(pool.id),
            "raised": _event(last.get((pool.id, Verb.RAISE_EPOCH.value)), names),
            "moved": _event(last.get((pool.id, Verb.GATE.value)), names),
            "other_gate": Gate.OPEN if pool.gate is Gate.DRAINING else Gate.DRAINING,
        }
        for pool in pools
    ]


def _event(event: PoolEvent | None, names: Mapping[int, str]) -> dict[str, Any] | None:
    if event is None:
        return None
    return {"row": event, "who": names.get(event.actor_id, event.actor_name)}


def _nothing(rows: list[Task], row: Task) -> quiet.Around:
    """What the list itself tells of a claim: how many more of its runner are quiet."""
    same = sum(other.runner_id == row.runner_id for other in rows) - 1
    return quiet.Around(0, 0, 0, same, None, None, (), 0)
