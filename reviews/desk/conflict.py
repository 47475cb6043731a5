"""The conflict panel: what changed, by whom and when; the draft below it, word for word.

Promises: nothing is moved or dropped without a press; a verdict moves only where the evidence of
that criterion is the very same in the newer round, a comment only where it is ticked: ticked
beforehand is one whose place has not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from claims.canonical import Item
from claims.models import Delivery
from claims.outcomes import Refused, Why
from claims.selectors import deliveries
from claims.vocabulary import DeliveryState
from reviews.desk import criteria, drafts, page, places
from reviews.desk.page import Opened
from reviews.desk.views import reviewing
from reviews.shell.draw import draw
from reviews.shell.rights import signed_in


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that happened since: who did what, when."""

    text: str
    at: Any


@dataclass(frozen=True, slots=True)
class Typed:
    """One criterion of the draft; ``moves`` says whether its verdict goes along."""

    number: int
    text: str
    given: drafts.Given
    moves: bool

    @property
    def has_words(self) -> bool:
        return bool(self.given.word or self.given.note)


def drawn(request: HttpRequest, one: Opened, refused: Refused | None = None) -> HttpResponse:
    """The panel over the draft; after a refused decision with its status and reason."""
    target = target_of(one)
    after = deliveries.evidence(target) if target else ()
    rows = [
        Typed(
            number,
            str(criterion.get("text", "")),
            one.typed.given(number),
            bool(target) and deliveries.same_evidence(one.items, after, number),
        )
        for number, criterion in enumerate(one.acceptance, 1)
    ]
    context = {
        "one": one,
        "delivery": one.delivery,
        "task": one.delivery.task,
        "label": page.label_of(one),
        "refused": refused,
        "headline": headline_of(one, refused),
        "happened": happened_since(one),
        "target": target,
        "moving": sum(row.moves and bool(row.given.word) for row in rows),
        "changes": changes_between(one.delivery, one.items, target, after) if target else [],
        "rows": rows,
        "typed": one.typed,
        "notes": [
            (note, places.carried(note.place, one.items, after) if target else None)
            for note in one.typed.comments
        ],
        "verdicts": criteria.VERDICTS,
        "posts": page.posts_of([_as_row(row) for row in rows]),
        "judged": sum(bool(row.given.word) for row in rows),
    }
    status = refused.rule.status if refused else 200
    return draw(request, "decision_conflict.html", context, pool=one.pool, status=status)


def _as_row(row: Typed) -> criteria.Row:
    return criteria.Row(row.number, row.text, "", (), "", row.given)


def target_of(one: Opened) -> Delivery | None:
    """The round a draft can move to: the newest one, while it waits for a decision."""
    newest = one.newest
    return newest if newest.round > one.delivery.round and newest.state == DeliveryState.PENDING else None


def headline_of(one: Opened, refused: Refused | None) -> str:
    """What is true now, in a line."""
    if one.is_superseded:
        what = f"round {one.delivery.round} is no longer current"
    elif one.delivery.state != DeliveryState.PENDING:
        what = f"round {one.delivery.round} has been decided"
    else:
        what = "the task has changed"
    if refused is None:
        return what[0].upper() + what[1:]
    if refused.why in (Why.NOT_REVIEWER, Why.SELF_REVIEW, Why.FORBIDDEN):
        return "Your decision was not recorded: another person decides this"
    return f"Your decision was not recorded: {what}"


DID = {
    "ACCEPTED": "accepted round {}",
    "CHANGES_REQUESTED": "sent round {} back",
    "REJECTED": "rejected round {}",
}


def happened_since(one: Opened) -> list[Happened]:
    """The decision on this round and everything after it, oldest first."""
    found: list[Happened] = []
    for row in one.rounds:
        if row.round > one.delivery.round:
            found.append(Happened(f"{row.agent.name} delivered round {row.round}", row.delivered_at))
        decision = getattr(row, "decision", None)
        if row.round >= one.delivery.round and decision is not None:
            is_mine = decision.reviewer_id == one.person.pk
            who = "You" if is_mine else decision.reviewer.get_full_name() or decision.reviewer.get_username()
            found.append(Happened(f"{who} {DID[decision.kind].format(row.round)}", decision.decided_at))
        elif row.round >= one.delivery.round and row.state == DeliveryState.CLOSED:
            found.append(Happened(f"Round {row.round} was closed undecided", row.closed_at))
    return found


@dataclass(frozen=True, slots=True)
class Change:
    """One field of the before/after table."""

    name: str
    before: str
    after: str
    is_code: bool = False


def changes_between(
    before: Delivery, old: Sequence[Item], after: Delivery, new: Sequence[Item]
) -> list[Change]:
    """The fields that matter, both sides."""
    found = [Change("Evidence", _short(before.result_digest), _short(after.result_digest), is_code=True)]
    heads = page.head_of(old), page.head_of(new)
    if any(heads):
        found.insert(0, Change("Head commit", heads[0][:7], heads[1][:7], is_code=True))
    found.append(Change("Tests", _tests(before), _tests(after)))
    found.append(Change("Files", _files(before), _files(after)))
    names = {(item.name, item.sha256) for item in old}
    fresh = sorted(
        {number for item in new if (item.name, item.sha256) not in names for number in item.criteria}
    )
    words = (
        f"for {'criterion' if len(fresh) == 1 else 'criteria'} {', '.join(map(str, fresh))}"
        if fresh
        else "none"
    )
    found.append(Change("New evidence", "", words))
    return found


def _short(digest: str) -> str:
    body = digest.removeprefix("sha256:")
    return f"{body[:4]}…{body[-4:]}"


def _tests(delivery: Delivery) -> str:
    tests = deliveries.facts_of(delivery).get("tests")
    if not isinstance(tests, dict):
        return "no run of this server"
    failed = f", {tests['failed']} failed" if tests.get("failed") else ""
    return f"{tests.get('passed', 0)} passed{failed}"


def _files(delivery: Delivery) -> str:
    facts = deliveries.facts_of(delivery)
    diff = facts.get("diff")
    if not isinstance(diff, dict):
        return "no diff"
    excluded = len((facts.get("scope") or {}).get("excluded") or [])
    return f"{diff.get('files', 0)}, {excluded or 'none'} excluded"


@signed_in
@require_safe
def kept(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """The draft of a round that is no longer current."""
    one = reviewing(request, delivery)
    if one.standing.may_decide and not one.is_superseded:
        return HttpResponseRedirect(reverse("review", args=[delivery]))
    return drawn(request, one)


@signed_in
@require_POST
def settle(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Move the draft to the newest round, or discard it; first keep what the form carries."""
    one = reviewing(request, delivery)
    drafts.keep(one.person.pk, delivery, len(one.acceptance), request.POST.dict())
    if request.POST.get("do") == "discard":
        drafts.discard(one.person.pk, delivery)
        messages.info(request, f"Your draft for round {one.delivery.round} is discarded.")
        return HttpResponseRedirect(reverse("review", args=[one.newest.pk]))
    target = target_of(one)
    if target is None:
        return drawn(request, page.opened(request, delivery))
    after = deliveries.evidence(target)
    keeps = [n for n in range(1, len(one.acceptance) + 1) if deliveries.same_evidence(one.items, after, n)]
    moving = sum(bool(one.typed.given(number).word) for number in keeps)
    carried = {
        note.pk: places.carried(note.place, one.items, after).place
        for note in one.typed.comments
        if "choice" not in request.POST or str(note.pk) in request.POST.getlist("carry")
    }
    drafts.move(one.person.pk, delivery, target.pk, keeps, carried)
    kept_words = f"{moving} verdict{'' if moving == 1 else 's'} with the same evidence"
    left = len(one.typed.comments) - len(carried)
    rest = (
        f" {left} comment{'' if left == 1 else 's'} stayed with round {one.delivery.round}." if left else ""
    )
    messages.info(
        request,
        f"Your draft is on round {target.round} now: every note, and {kept_words}. It is not sent yet.{rest}",
    )
    return HttpResponseRedirect(reverse("review", args=[target.pk]))
