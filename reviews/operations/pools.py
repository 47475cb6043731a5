"""A pool as a whole: raise its epoch, close or open its gate, with what the page had shown."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from claims import canonical, transitions
from claims.callers import Caller
from claims.outcomes import EpochRaised, GateSet, Refused
from claims.selectors.seen import SeenPool
from claims.vocabulary import Gate, Right
from reviews.desk.views import key_of
from reviews.operations import views
from reviews.operations.views import Told
from reviews.shell.requests import caller_of
from reviews.shell.rights import pool_named, signed_in

WITHOUT_A_REASON = "Say why; the reason is kept among the pool's events."


@signed_in
@require_POST
def act(request: HttpRequest, pool: str) -> HttpResponse:
    """Raise the epoch, close the gate or open it: the button's ``do``."""
    seen, do = pool_named(request, pool, Right.OPERATOR), request.POST.get("do", "")
    if do not in ("raise", Gate.OPEN, Gate.DRAINING):
        raise Http404(f"Nothing of that name can be done with {seen.name}.")
    reason = request.POST.get("reason", "").replace("\x00", "").strip()
    told = Told(do=do, reason=reason, pool=seen.name, errors={} if reason else {"reason": WITHOUT_A_REASON})
    if told.errors:
        return views.drawn(request, told, status=422)
    expected = request.POST.get("epoch", "")
    digest = canonical.digest({"do": do, "pool": seen.name, "epoch": expected, "reason": reason})
    outcome = ordered(caller_of(request, key_of(request), digest), seen, do, expected, reason)
    if isinstance(outcome, Refused):
        request.fencepost_pools = None  # type: ignore[attr-defined]
        refused = Told(outcome, None, do, reason, seen.name)
        return views.drawn(request, refused, status=outcome.rule.status)
    messages.success(request, words_of(outcome))
    return HttpResponseRedirect(reverse("operations") + f"?pool={seen.name}#epoch")


def ordered(
    caller: Caller, pool: SeenPool, do: str, expected: str, reason: str
) -> EpochRaised | GateSet | Refused:
    """The outcome of the verb; an epoch that is no number is one that no pool has."""
    if do != "raise":
        return transitions.gate(caller, pool.name, Gate(do), reason)
    is_number = expected.isascii() and expected.isdigit() and len(expected) <= 18
    return transitions.raise_epoch(caller, pool.name, int(expected) if is_number else -1, reason)


def words_of(outcome: EpochRaised | GateSet) -> str:
    """What happened, in the server's words."""
    if isinstance(outcome, EpochRaised):
        return f"{outcome.pool} is at epoch {outcome.scheduler_epoch}. Nothing granted under {outcome.before} is accepted from now on."
    if outcome.gate is Gate.DRAINING:
        return f"The gate of {outcome.pool} is closed: no new claim is handed out. What is claimed goes on."
    return f"The gate of {outcome.pool} is open: agents are given claims again."
