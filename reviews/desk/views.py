"""/reviews/<delivery>: the decision page, its fragments, and the draft that is kept while one types."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from claims.selectors import deliveries
from claims.vocabulary import Right
from reviews.desk import drafts, evidence, page, present, reading, talk
from reviews.desk.page import Asked, Opened
from reviews.desk.viewers import code
from reviews.shell.draw import draw, is_fragment
from reviews.shell.rights import signed_in

YEAR_SECONDS = 365 * 24 * 3600
NOT_YOURS = "Only a reviewer of this pool can write verdicts here."


@signed_in
@require_safe
def show(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """The page."""
    answer = page.drawn(request, page.opened(request, delivery), partial="desk")
    return _keep_view(request, answer)


def _keep_view(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """Remember in this browser how diffs are looked at, where the address says it."""
    view = request.GET.get("view", "")
    if view in code.VIEWS:
        answer.set_cookie(
            page.VIEW_COOKIE,
            view,
            max_age=YEAR_SECONDS,
            samesite="Lax",
            httponly=True,
            secure=request.is_secure(),
        )
    return answer


@signed_in
@require_safe
def sheet(request: HttpRequest, delivery: UUID, sheet: str) -> HttpResponse:
    """One sheet: a dialog of the page, and an address of its own where no script opens it."""
    if sheet not in page.SHEETS:
        raise Http404(page.MISSING)
    one = page.opened(request, delivery)
    if not one.standing.may_decide or one.is_superseded:
        return HttpResponseRedirect(reverse("review", args=[delivery]))
    return page.drawn(request, one, Asked(sheet=sheet), partial="sheets")


@signed_in
@require_safe
def file(request: HttpRequest, delivery: UUID, index: int) -> HttpResponse:
    """One file of the diff, drawn although it is large or far down."""
    one = page.opened(request, delivery)
    if not is_fragment(request):
        return _keep_view(request, page.drawn(request, one, Asked(file=index)))
    facts, lens = deliveries.facts_of(one.delivery), page.lens_of(request)
    try:
        entries = evidence.entries_of(evidence.diffs_of(one.items), facts)
    except reading.Missing:
        entries = []
    if index >= len(entries):
        raise Http404(page.MISSING)
    looked_at = drafts.viewed(one.person.pk, delivery)
    address = reverse("review", args=[delivery])
    is_viewed = entries[index].path in looked_at
    each = evidence.drawn_file(one.items, entries[index], lens, is_viewed=is_viewed, address=address)
    context = {
        "delivery": one.delivery,
        "each": each,
        "lens": lens,
        "diff": {"item": evidence.diffs_of(one.items)[0]},
    }
    return _keep_view(request, draw(request, "decision.html", context, partial="file"))


@signed_in
@require_safe
def command(request: HttpRequest, delivery: UUID, number: int) -> HttpResponse:
    """One command, and the part of its output that is asked for."""
    one = page.opened(request, delivery)
    if not is_fragment(request):
        return page.drawn(request, one, Asked(command=number))
    facts, lens = deliveries.facts_of(one.delivery), page.lens_of(request)
    found = evidence.commands_of(one.items, facts, asked=number, lens=lens, only=True)
    if not found:
        raise Http404(page.MISSING)
    context = {"delivery": one.delivery, "command": found[0], "lens": lens, "is_asked": True}
    return draw(request, "decision.html", context, partial="command")


@signed_in
@require_safe
def arrival(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Whether something happened to this round while it was being read."""
    return page.drawn(request, page.opened(request, delivery), partial="arrival")


@signed_in
@require_safe
def presence(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Who else has this page open. An open page asks again as long as it is looked at, and so stays counted."""
    one = page.opened(request, delivery)
    if not is_fragment(request):
        return page.drawn(request, one)
    context = {"delivery": one.delivery, "others": present.others(one.delivery, one.person.pk)}
    return draw(request, "decision.html", context, partial="presence")


@signed_in
@require_POST
def save(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Keep what was typed. A script hears that it is kept; a form goes on to where its button leads."""
    one = reviewing(request, delivery)
    drafts.keep(one.person.pk, delivery, len(one.acceptance), request.POST.dict())
    _keep_met(request, one)
    _comments(request, one)
    present.renew(delivery, one.person.pk)
    if is_fragment(request):
        return HttpResponse(status=204)
    then = request.POST.get("then", "")
    if then in page.SHEETS:
        return HttpResponseRedirect(reverse("review-sheet", args=[delivery, then]) + f"#sheet-{then}")
    tab = "?tab=talk#talk" if {"comment_do", "remove_comment", "again"} & request.POST.keys() else ""
    return HttpResponseRedirect(reverse("review", args=[delivery]) + tab)


def _keep_met(request: HttpRequest, one: Opened) -> None:
    """Keep Met from the round before: one press, where the evidence is the same."""
    number = request.POST.get("keep", "")
    if number.isascii() and number.isdigit() and len(number) < 4:
        drafts.keep(one.person.pk, one.delivery.pk, len(one.acceptance), {f"verdict-{int(number)}": "met"})


def _comments(request: HttpRequest, one: Opened) -> None:
    if request.POST.get("comment_do") == "add":
        drafts.add_comment(one.person.pk, one.delivery.pk)
    if "again" in request.POST:
        talk.say_again(one, request.POST["again"])
    number = request.POST.get("remove_comment", "")
    if number.isascii() and number.isdigit() and len(number) < 18:
        drafts.remove_comment(one.person.pk, one.delivery.pk, int(number))


@signed_in
@require_POST
def viewed(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Mark a file of the diff as looked at, or not; private to the person."""
    one = page.opened(request, delivery)
    path = request.POST.get("path", "")[:1_000].replace("\x00", "")
    drafts.set_viewed(one.person.pk, delivery, path, is_viewed=request.POST.get("is_viewed") == "yes")
    if is_fragment(request):
        return HttpResponse(status=204)
    anchor = request.POST.get("anchor", "")
    where = f"#f{anchor}" if anchor.isascii() and anchor.isdigit() else "#diff"
    return HttpResponseRedirect(reverse("review", args=[delivery]) + f"?tab=diff{where}")


def reviewing(request: HttpRequest, delivery: UUID) -> Opened:
    """The delivery, for a person with the right to review in its pool.

    Raises ``PermissionDenied`` for others who may see it, ``Http404`` for the rest.
    """
    one = page.opened(request, delivery)
    if not one.pool.allows(Right.REVIEWER):
        raise PermissionDenied(NOT_YOURS)
    return one


def key_of(request: HttpRequest) -> str | None:
    """The form's idempotency key, cut to what a key may be; None where it has none."""
    return request.POST.get("key", "").replace("\x00", "")[:255] or None
