"""/reviews: what waits for this person, and where / leads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_safe

from claims.selectors import approvals, inbox
from claims.selectors.inbox import Bucket, Seat
from claims.vocabulary import Right
from reviews.effects.views import shown
from reviews.inbox import marks
from reviews.inbox.drafts import drafts_of
from reviews.inbox.rows import Row, row_of
from reviews.shell import counts
from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import pool_named, pools_of_request, signed_in

ROWS_A_BUCKET = 25
ROWS_ALONE = 50
"""Rows of a bucket among the others, and on its own page."""
OTHERS = 25
HEADINGS = {
    "must": ("Must decide", "you are the named reviewer, or their deputy today"),
    "can": ("Can decide", "you, or anyone of the group or pool"),
    "back": ("Back to you", "a new round after your request"),
}


@signed_in
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """/ leads to the inbox of those who review, to the board of everybody else."""
    reviews = any(pool.allows(Right.REVIEWER) for pool in pools_of_request(request))
    return HttpResponseRedirect("/reviews" if reviews else "/board")


def seat_of_request(request: HttpRequest) -> Seat:
    """From where the person of this request looks; at one pool where the address names it."""
    person, named = person_of(request), request.GET.get("pool")
    pools = (pool_named(request, named),) if named else pools_of_request(request)
    return replace(marks.seat_of(person.pk, pools), pinned=marks.pinned_by(person.pk))


@signed_in
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The inbox; asked for as a fragment it answers the buckets alone."""
    seat, wanted = seat_of_request(request), _filter(request)
    decided = inbox.decided_by(seat, OTHERS)
    buckets = [_told(seat, one) for one in inbox.buckets(seat, wanted, ROWS_A_BUCKET)]
    asleep = _asleep(seat)
    if not wanted.text:
        counts.tell_deliveries(request, seat, sum(one["count"] for one in buckets))
    context = {
        "buckets": [one for one in buckets if one["count"]],
        "waiting": sum(one["count"] for one in buckets),
        "oldest": min((row.delivery.delivered_at for one in buckets for row in one["rows"]), default=None),
        "wanted": wanted,
        "asked": shown(approvals.waiting(seat.person_id, seat.pools)),
        "decided": decided,
        "median": inbox.median_wait_seconds(decided),
        "drafts": drafts_of(seat.person_id, seat.pools),
        "asleep": asleep,
        "on_agents": inbox.on_agents(seat, OTHERS),
        "on_others": inbox.on_others(seat, OTHERS),
        "left": inbox.decided_elsewhere(seat, OTHERS),
        "topics": " ".join(f"pool:{one.name}" for one in seat.pools),
        "query": request.GET.urlencode(),
    }
    pool = seat.pools[0] if request.GET.get("pool") else None
    return draw(request, "inbox.html", context, partial="buckets", pool=pool)


@signed_in
@require_safe
def bucket(request: HttpRequest, bucket: str) -> HttpResponse:
    """One bucket as a list of its own, and as a fragment."""
    if bucket not in HEADINGS:
        raise Http404(f"There is no bucket {bucket}.")
    seat = seat_of_request(request)
    (one,) = inbox.buckets(seat, _filter(request), ROWS_ALONE, [bucket])
    context = {
        "one": _told(seat, one),
        "left": inbox.decided_elsewhere(seat, OTHERS),
        "topics": " ".join(f"pool:{one.name}" for one in seat.pools),
        "query": request.GET.urlencode(),
    }
    return draw(request, "inbox_bucket.html", context, partial="bucket")


def _told(seat: Seat, bucket: Bucket) -> dict[str, Any]:
    """A bucket's heading, count and first rows."""
    title, why = HEADINGS[bucket.name]
    return {
        "name": bucket.name,
        "title": title,
        "why": why,
        "count": bucket.count,
        "rows": [row_of(row, seat.person_id, is_pinned=row.task_id in seat.pinned) for row in bucket.rows],
        "more": bucket.count - len(bucket.rows),
    }


def _asleep(seat: Seat) -> list[Row]:
    """What the person put aside until a moment, the first to come back first. One query where there is nothing."""
    until = {key: at for key, at in marks.snoozed_until(seat.person_id).items() if at}
    if not until:
        return []
    rows = inbox.put_aside(replace(seat, hidden=list(until)), OTHERS)
    found = [row_of(row, seat.person_id, until=until[row.pk]) for row in rows]
    return sorted(found, key=lambda row: (until[row.delivery.pk], row.delivery.pk))


def _filter(request: HttpRequest) -> inbox.InboxFilter:
    return inbox.InboxFilter(
        text=request.GET.get("q", "").strip()[:200].replace("\x00", ""),
        newest=request.GET.get("sort") == "newest",
    )
