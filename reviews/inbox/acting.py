"""What a person does with a row: pin it, put it aside, hand it on. Plain posts, each back to where it came from.

Promises: pins and snoozes are private; handing on is the contract's own verb, asked again in the
transition, and recorded with its reason; what was typed is drawn again when it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from claims import canonical, transitions
from claims.models import Delivery
from claims.outcomes import Refused, Why
from claims.selectors import deputies, inbox
from claims.vocabulary import DeliveryState, Right
from reviews.desk import page
from reviews.desk.page import Opened
from reviews.inbox import marks
from reviews.inbox.rows import name_of
from reviews.shell.draw import draw, is_fragment
from reviews.shell.requests import caller_of, local_address, person_of
from reviews.shell.rights import signed_in

ACTS = ("pin", "unpin", "wake")
GONE = "That delivery does not wait for a decision any more."


@signed_in
@require_POST
def mark(request: HttpRequest) -> HttpResponse:
    """Pin a row, let it go, or have a snoozed one back: the button's name, its value the delivery."""
    do = next((name for name in ACTS if name in request.POST), "")
    one = opened(request, request.POST.get(do, ""))
    person = person_of(request)
    if do == "wake":
        marks.wake(person.pk, one.delivery.pk)
    else:
        marks.pin(person.pk, one.delivery.task_id, is_pinned=do == "pin")
    return back(request, one.delivery)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def snooze(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Choose until when, and put the row aside."""
    one = opened(request, str(delivery))
    zone = request.POST.get("zone", "")
    until = marks.moment_of(request.POST.get("until", ""), timezone.now(), zone)
    if request.method != "POST" or until is None:
        context = {**_frame(request, one), "choices": marks.CHOICES}
        return draw(request, "inbox_snooze.html", context, partial="sheet", pool=one.pool)
    marks.snooze(person_of(request).pk, delivery, until)
    at = until.astimezone(marks.zone_of(zone))
    messages.info(
        request,
        f"{one.delivery.task} is put aside until {at:%a} {at.day} {at:%b, %H:%M} {at.tzname()}."
        " A new round brings it back at once.",
    )
    return back(request)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def hand_on(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Choose who decides it instead, and why."""
    one = opened(request, str(delivery))
    if one.delivery.state != DeliveryState.PENDING:
        messages.info(request, GONE)
        return back(request)
    if request.method != "POST":
        return _chooser(request, one)
    typed = {name: request.POST.get(name, "").replace("\x00", "").strip() for name in ("to", "why")}
    chosen = next((person for person, _ in choices_of(one) if str(person.pk) == typed["to"]), None)
    if chosen is None or not typed["why"]:
        error = "Say why you hand it on." if chosen else "Choose who decides it instead."
        return _chooser(request, one, typed, error, 422)
    subject = request.POST.get("subject", "")
    digest = canonical.digest({"do": "hand-on", "delivery": str(delivery), "subject": subject, **typed})
    key = request.POST.get("key", "").replace("\x00", "")[:255] or None
    caller = caller_of(request, key, digest)
    outcome = transitions.hand_on(caller, delivery, subject, chosen.get_username(), typed["why"])
    if isinstance(outcome, Refused):
        if outcome.why is Why.NOT_FOUND:
            raise Http404(page.MISSING)
        return _chooser(request, one, typed, outcome.sentence, outcome.rule.status)
    marks.snooze(one.person.pk, delivery, None)
    messages.success(
        request, f"{one.delivery.task} is handed on: it waits for {name_of(chosen)} now, with your reason."
    )
    return back(request)


def opened(request: HttpRequest, delivery_id: str) -> Opened:
    """The delivery, for a reviewer of its pool. Raises ``Http404`` for everybody else."""
    try:
        one = page.opened(request, UUID(delivery_id))
    except ValueError as error:
        raise Http404(page.MISSING) from error
    if not one.pool.allows(Right.REVIEWER):
        raise Http404(page.MISSING)
    return one


def choices_of(one: Opened) -> list[tuple[Any, int]]:
    """Who may decide instead, each with how many deliveries wait for them by name. Two queries."""
    without = [one.person.pk, *one.delivery.makers, *filter(None, [one.delivery.task.reviewer_id])]
    people = deputies.reviewers([one.pool.id], without)[one.pool.id]
    load = inbox.named_load(one.pool.id)
    return sorted(((person, load.get(person.pk, 0)) for person in people), key=lambda pair: pair[1])


def back(request: HttpRequest, delivery: Delivery | None = None) -> HttpResponse:
    """To the list the person came from, at the row."""
    there = local_address(request, request.POST.get("next", ""), reverse("reviews"))
    return HttpResponseRedirect(f"{there}#delivery-{delivery.pk}" if delivery else there)


def _frame(request: HttpRequest, one: Opened) -> dict[str, Any]:
    there = request.POST.get("next") or request.GET.get("next", "")
    return {
        "one": one,
        "level": 2 if is_fragment(request) else 1,
        "delivery": one.delivery,
        "task": one.delivery.task,
        "next": local_address(request, there, reverse("reviews")),
    }


def _chooser(
    request: HttpRequest,
    one: Opened,
    typed: Mapping[str, str] | None = None,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        **_frame(request, one),
        "choices": choices_of(one),
        "typed": typed or {},
        "error": error,
        "key": request.POST.get("key") or str(uuid4()),
    }
    return draw(request, "inbox_hand_on.html", context, partial="sheet", pool=one.pool, status=status)
