"""/reviews: what waits for this person, and where / leads."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from claims.selectors import approvals, inbox
from claims.vocabulary import Right
from reviews.effects.views import shown
from reviews.inbox.drafts import drafts_of
from reviews.inbox.rows import row_of
from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import pool_named, pools_of_request, signed_in

ROWS_A_BUCKET = 50
OTHERS = 25
HEADINGS = {
    "must": ("Must decide", "you are the named reviewer"),
    "can": ("Can decide", "you, or anyone of the group or pool"),
    "back": ("Back to you", "a new round after your request"),
}


@signed_in
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """/ leads to the inbox of those who review, to the board of everybody else."""
    reviews = any(pool.allows(Right.REVIEWER) for pool in pools_of_request(request))
    return HttpResponseRedirect("/reviews" if reviews else "/board")


@signed_in
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The inbox; asked for as a fragment it answers the buckets alone."""
    person, wanted = person_of(request), _filter(request)
    pool = pool_named(request, request.GET["pool"]) if request.GET.get("pool") else None
    pools = (pool,) if pool else pools_of_request(request)
    decided = inbox.decided_by(person.pk, pools, OTHERS)
    buckets = [_bucket(request, name) for name in inbox.BUCKETS]
    context = {
        "buckets": [one for one in buckets if one["count"]],
        "waiting": sum(one["count"] for one in buckets),
        "oldest": min((row.delivery.delivered_at for one in buckets for row in one["rows"]), default=None),
        "wanted": wanted,
        "asked": shown(approvals.waiting(person.pk, pools)),
        "decided": decided,
        "median": inbox.median_wait_seconds(decided),
        "drafts": drafts_of(person.pk, pools),
        "on_agents": inbox.on_agents(person.pk, pools, OTHERS),
        "on_others": inbox.on_others(person.pk, pools, OTHERS),
        "topics": " ".join(f"pool:{one.name}" for one in pools),
        "query": request.GET.urlencode(),
    }
    return draw(request, "inbox.html", context, partial="buckets", pool=pool)


@signed_in
@require_safe
def bucket(request: HttpRequest, bucket: str) -> HttpResponse:
    """One bucket as a list of its own, and as a fragment."""
    if bucket not in HEADINGS:
        raise Http404(f"There is no bucket {bucket}.")
    one = _bucket(request, bucket)
    return draw(
        request, "inbox_bucket.html", {"one": one, "query": request.GET.urlencode()}, partial="bucket"
    )


def _bucket(request: HttpRequest, name: str) -> dict[str, Any]:
    """A bucket's heading, count and first rows."""
    person, wanted = person_of(request), _filter(request)
    pools = pools_of_request(request)
    if request.GET.get("pool"):
        pools = (pool_named(request, request.GET["pool"]),)
    rows = inbox.bucket_rows(name, person.pk, pools, wanted, ROWS_A_BUCKET)
    count = len(rows) if len(rows) < ROWS_A_BUCKET else inbox.bucket_count(name, person.pk, pools, wanted)
    title, why = HEADINGS[name]
    return {
        "name": name,
        "title": title,
        "why": why,
        "count": count,
        "rows": [row_of(row) for row in rows],
        "more": count - len(rows),
    }


def _filter(request: HttpRequest) -> inbox.InboxFilter:
    return inbox.InboxFilter(
        text=request.GET.get("q", "").strip()[:200].replace("\x00", ""),
        newest=request.GET.get("sort") == "newest",
    )
