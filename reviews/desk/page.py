"""Everything the decision page shows of one delivery, read once.

Promises: a delivery of a pool the person may not see is not found; what was decided is drawn from
the decision, what is being decided from the person's own draft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from claims.canonical import Item
from claims.models import Delivery
from claims.selectors import deliveries, deputies
from claims.selectors.seen import SeenPool
from claims.vocabulary import DeliveryState, Right
from reviews.desk import criteria, drafts, evidence, places, present, standing, talk
from reviews.inbox import marks
from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import pools_of_request

TABS = ("diff", "commands", "tests", "shots", "files", "talk")
SHEETS = ("accept", "changes", "reject")
VIEW_COOKIE = "fencepost-diff"
"""Unified or split, as this person last chose in this browser."""
MISSING = "There is no such delivery in a pool that you can see."


@dataclass(frozen=True)
class Opened:
    """A delivery as one person looks at it; each part is read when it is first asked for."""

    delivery: Delivery
    pool: SeenPool
    person: User

    @cached_property
    def rounds(self) -> list[Delivery]:
        return deliveries.rounds(self.delivery.task_id)

    @cached_property
    def acceptance(self) -> list[dict[str, Any]]:
        return deliveries.acceptance(self.delivery.task_id)

    @cached_property
    def items(self) -> Sequence[Item]:
        return deliveries.evidence(self.delivery)

    @cached_property
    def newest(self) -> Delivery:
        return self.rounds[-1]

    @property
    def is_superseded(self) -> bool:
        """Whether a newer round exists."""
        return self.newest.round > self.delivery.round

    @cached_property
    def typed(self) -> drafts.Typed:
        return drafts.typed(self.person.pk, self.delivery.pk)

    @cached_property
    def standing(self) -> standing.Standing:
        groups = (
            deliveries.groups_of(self.person.pk, self.pool.id) if self.delivery.task.reviewer_group_id else ()
        )
        is_barred = not self.pool.allows(Right.REVIEWER) or self.person.pk in self.delivery.makers
        others = deliveries.reviewers_of(self.pool.id, self.delivery.makers) if is_barred else ()
        named = self.delivery.task.reviewer_id
        is_another = named is not None and named != self.person.pk and self.pool.allows(Right.REVIEWER)
        away = deputies.today(self.person.pk, named, self.pool.id) if is_another else None
        return standing.standing_of(self.delivery, self.pool, self.person.pk, groups, others, away)

    @cached_property
    def before(self) -> criteria.Before | None:
        """The round before this one."""
        earlier = [row for row in self.rounds if row.round < self.delivery.round]
        if not earlier:
            return None
        row = earlier[-1]
        return criteria.Before(row, getattr(row, "decision", None), deliveries.evidence(row))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks to be drawn beyond the page itself, and what a refusal adds."""

    sheet: str = ""
    command: int | None = None
    file: int | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    notice: str = ""


def opened(request: HttpRequest, delivery_id: UUID) -> Opened:
    """The delivery for the signed-in person.

    Raises ``Http404``.
    """
    pools = pools_of_request(request)
    delivery = deliveries.find(delivery_id, [pool.id for pool in pools])
    if delivery is None:
        raise Http404(MISSING)
    pool = next(pool for pool in pools if pool.id == delivery.pool_id)
    return Opened(delivery, pool, person_of(request))


def drawn(
    request: HttpRequest, one: Opened, asked: Asked | None = None, *, partial: str = "", status: int = 200
) -> HttpResponse:
    """The decision page, or one of its fragments."""
    context = context_of(request, one, asked or Asked())
    return draw(request, "decision.html", context, partial=partial, pool=one.pool, status=status)


def context_of(request: HttpRequest, one: Opened, asked: Asked) -> dict[str, Any]:
    """What the template needs."""
    tab = request.GET.get("tab", "")
    seen = seen_evidence(one, lens_of(request), asked)
    said = one.typed if one.standing.is_open else decided_as_typed(one)
    rows = criteria.rows_of(one.acceptance, one.delivery, seen, said, one.before, one.person.pk, asked.errors)
    seat = marks.seat_of(one.person.pk, pools_of_request(request))
    earlier, later = deliveries.neighbours(seat, one.delivery.pk)
    place = said.place if said.place.name else places.place_of(request.GET.get("on", ""), "", "", "")
    return {
        "one": one,
        "delivery": one.delivery,
        "task": one.delivery.task,
        "decision": getattr(one.delivery, "decision", None),
        "standing": one.standing,
        "may_decide": one.standing.may_decide and not one.is_superseded,
        "label": label_of(one),
        "seen": seen,
        "rows": rows,
        "typed": said,
        "progress": criteria.progress_of(rows),
        "verdicts": criteria.VERDICTS,
        "posts": posts_of(rows),
        "tab": tab if tab in TABS else first_tab(seen),
        "tabs": tabs_of(seen, one),
        "talk": talk_of(one),
        "notes": talk.said_of(said.comments, seen),
        "place": place,
        "places": talk.choices_of(seen, place),
        "others": present.others(one.delivery, one.person.pk),
        "again": talk.sayable_again(one) if one.standing.is_open else [],
        "head": head_of(one.items),
        "asked": asked,
        "errors": asked.errors,
        "sheets": SHEETS,
        "key": request.POST.get("key") or str(uuid4()),
        "before_url": earlier,
        "next_url": later,
    }


def lens_of(request: HttpRequest) -> evidence.Lens:
    """How this person looks at the evidence: the address, else what was chosen before in this browser."""
    return evidence.lens_of(request.GET.dict(), request.COOKIES.get(VIEW_COOKIE, ""))


def base_of(one: Opened, number: int) -> criteria.Before | None:
    """The round that this one is compared with: the one that was asked for, else the one before."""
    row = next((row for row in one.rounds if row.round == number and row.pk != one.delivery.pk), None)
    if row is None or (one.before and row.pk == one.before.delivery.pk):
        return one.before
    return criteria.Before(row, getattr(row, "decision", None), deliveries.evidence(row))


def seen_evidence(one: Opened, lens: evidence.Lens, asked: Asked) -> criteria.Seen:
    """The evidence of the delivery, read within its bounds."""
    facts = deliveries.facts_of(one.delivery)
    base = base_of(one, lens.base)
    before = base.items if base else None
    looked_at = drafts.viewed(one.person.pk, one.delivery.pk)
    address = reverse("review", args=[one.delivery.pk])
    return criteria.Seen(
        items=one.items,
        commands=evidence.commands_of(one.items, facts, before, asked=asked.command, lens=lens),
        pages=evidence.pages_of(one.items, facts, before),
        diff=evidence.diff_of(one.items, facts, looked_at, lens, opened=asked.file, address=address),
        tests=evidence.tests_of(one.items, facts, before, lens.tests),
        flags=evidence.flags_of(facts, one.items, one.delivery.summary),
        lens=lens,
        base=base,
        more_shots=evidence.shots_beyond(one.items),
    )


def decided_as_typed(one: Opened) -> drafts.Typed:
    """What was decided, in the shape of a draft; the person's own unsent words where nothing was."""
    decision = getattr(one.delivery, "decision", None)
    if decision is None:
        return one.typed
    verdicts = {
        int(number): drafts.Given(drafts.WORDS_OF.get(given.get("verdict", ""), ""), given.get("note", ""))
        for number, given in (decision.verdicts or {}).items()
    }
    said = places.notes_of(decision.comments)
    return drafts.Typed(verdicts, decision.note, decision.reason, comments=said)


LABELS = {
    DeliveryState.ACCEPTED: ("DONE", "Accepted"),
    DeliveryState.CHANGES_REQUESTED: ("CHANGES", "Sent back"),
    DeliveryState.REJECTED: ("CANCELLED", "Rejected"),
    DeliveryState.CLOSED: ("SUPERSEDED", "Closed undecided"),
}


def label_of(one: Opened) -> tuple[str, str]:
    """State and words of the strip's chip."""
    number = one.delivery.round
    if one.is_superseded:
        return "SUPERSEDED", f"Round {number}, superseded"
    if one.delivery.state == DeliveryState.PENDING:
        return "DELIVERED", f"Delivered, round {number} is current"
    code, word = LABELS[DeliveryState(one.delivery.state)]
    return code, f"{word}, round {number}"


def posts_of(rows: Sequence[criteria.Row]) -> dict[str, Any]:
    """The progress as posts: one a criterion."""
    said = [f"{row.number}: {criteria.SAID.get(row.given.word, 'open')}" for row in rows]
    return {
        "width": 6 + 18 * len(rows),
        "each": [{"x": 18 * at, "number": row.number, "code": row.code} for at, row in enumerate(rows)],
        "label": f"Criteria {', '.join(said)}" if said else "No criteria",
    }


def first_tab(seen: criteria.Seen) -> str:
    """The tab that opens: the diff where there is one, else the first with something in it."""
    if seen.diff.item:
        return "diff"
    return "commands" if seen.commands else "files"


def tabs_of(seen: criteria.Seen, one: Opened) -> list[dict[str, Any]]:
    """The evidence tabs with their counts."""
    counts = {
        "diff": ("Diff", seen.diff.count),
        "commands": ("Commands", len(seen.commands)),
        "tests": ("Tests", len(seen.tests.report.cases) if seen.tests else 0),
        "shots": ("Screenshots", sum(len(page.shots) for page in seen.pages)),
        "files": ("Files", len(seen.items)),
        "talk": ("Conversation", sum(1 for entry in talk_of(one))),
    }
    return [{"slug": slug, "word": word, "count": count} for slug, (word, count) in counts.items()]


def talk_of(one: Opened) -> list[Delivery]:
    """The rounds up to this one, as a conversation."""
    return [row for row in one.rounds if row.round <= one.delivery.round]


def head_of(items: Sequence[Item]) -> str:
    """The head commit that the evidence names, where it does."""
    for item in items:
        for name in ("head", "headCommit", "commit"):
            value = item.meta.get(name)
            if isinstance(value, str) and value:
                return value[:64]
    return ""
