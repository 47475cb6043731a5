"""/effects/<id>: one outside effect, what is asked of whom, and the forms of those who may answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from claims.outcomes import Refused
from claims.selectors import approvals, doubts, effects
from claims.selectors.effects import EffectSeen
from claims.selectors.seen import SeenPool
from reviews.effects.facts import Shown, Standing, shown_of, standing_of
from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import pools_of_request, signed_in

MISSING = "There is no such effect in a pool that you can see."
EXPIRIES = ((900, "15 min"), (3_600, "1 h"), (28_800, "8 h"), (86_400, "24 h"))
OUTCOMES = (
    ("HAPPENED", "It happened", "the effect is committed"),
    ("DID_NOT_HAPPEN", "It did not happen", "it may be sent again, under the same id and payload"),
    ("CANNOT_TELL", "Cannot tell yet", "it stays in doubt; what you saw is kept"),
    ("WRITTEN_OFF", "Write it off", "final and marked for ever; frees the serial key"),
)
_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Told:
    """What an act that was refused left to say: the refusal, and what had been typed."""

    refused: Refused | None = None
    do: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)


@signed_in
@require_safe
def page(request: HttpRequest, effect: str) -> HttpResponse:
    """The page; asked for as a fragment it answers what is on it."""
    return drawn(request, opened(request, effect), Told())


def opened(request: HttpRequest, effect_id: str) -> EffectSeen:
    """The effect, for a person with any right in its pool. Raises ``Http404`` otherwise."""
    found = effects.effect(effect_id) if _ID.fullmatch(effect_id) else None
    if found is None or pool_of(request, found) is None:
        raise Http404(MISSING)
    return found


def pool_of(request: HttpRequest, effect: EffectSeen) -> SeenPool | None:
    """The effect's pool as this person sees it; None where it is not seen."""
    return next((pool for pool in pools_of_request(request) if pool.id == effect.pool_id), None)


def shown(found: Sequence[EffectSeen]) -> list[Shown]:
    """Effects in words, with their senders and declared look-ups. Two queries, none for none."""
    if not found:
        return []
    senders, slots = approvals.senders_of(found), doubts.slots({each.task_id for each in found})
    now = timezone.now()
    return [shown_of(each, senders, slots.get((each.task_id, each.slot)), now) for each in found]


def standing(request: HttpRequest, effect: EffectSeen) -> Standing:
    """What the person of this request may do about the effect."""
    pool = pool_of(request, effect)
    if pool is None:
        raise Http404(MISSING)
    makers = approvals.makers_of({effect.task_id}).get(effect.task_id, frozenset())
    return standing_of(effect, pool, person_of(request).pk, makers)


def drawn(request: HttpRequest, effect: EffectSeen, told: Told, status: int = 200) -> HttpResponse:
    """The page as it is now, with what a refused act left to say."""
    context: dict[str, Any] = {
        "one": shown([effect])[0],
        "effect": effect,
        "standing": standing(request, effect),
        "told": told,
        "outcomes": OUTCOMES,
        "expiries": EXPIRIES,
        "expires": told.typed.get("expires") or "3600",
        "key": request.POST.get("key") or str(uuid4()),
        "next": request.POST.get("next") or request.GET.get("next", ""),
    }
    pool = pool_of(request, effect)
    return draw(request, "effect.html", context, partial="effect", pool=pool, status=status)
