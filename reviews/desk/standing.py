"""What a person may do with a delivery now, and in words why not. The transition asks again.

Pure but for the lists passed in: no query is made here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from claims.models import Delivery
from claims.selectors.seen import SeenPool
from claims.vocabulary import DeliveryState, Right, SelfReview


@dataclass(frozen=True, slots=True)
class Standing:
    """``may_decide`` and ``may_accept`` draw the buttons; ``why_not`` stands where they would be.

    ``needs_reason`` says why a decision of this person needs one; ``is_open``: no decision was made yet.
    ``as_deputy`` is the reason of a deputy, filled in; ``is_theirs``: it waits for this person.
    """

    is_open: bool
    may_decide: bool
    may_accept: bool
    why_not: str = ""
    why_no_accept: str = ""
    needs_reason: str = ""
    as_deputy: str = ""
    is_theirs: bool = False


def standing_of(
    delivery: Delivery,
    pool: SeenPool,
    person_id: int,
    groups: Collection[int],
    others: Sequence[str],
    away_until: date | None = None,
) -> Standing:
    """The standing of one person; ``others`` are names of people who may decide.

    ``away_until`` is the last day on which they are the deputy of the named reviewer, if they are.
    """
    if delivery.state != DeliveryState.PENDING:
        return Standing(False, False, False, why_not=_closed(delivery))
    can = (
        f" {_either(others)} can."
        if others
        else " Nobody else of this pool can yet; an administrator can give the right."
    )
    if not pool.allows(Right.REVIEWER):
        return Standing(True, False, False, why_not=f"You can read this, not decide it.{can}")
    needs_reason = _needs_reason(delivery, person_id, groups)
    is_theirs = not needs_reason or away_until is not None
    if person_id in delivery.makers and delivery.pool.self_review != SelfReview.MARKED:
        return Standing(
            True,
            False,
            False,
            why_not=f"{delivery.agent.name} is an agent of yours: maker is not checker.{can}",
            is_theirs=is_theirs,
        )
    old_epoch = _old_epoch(delivery)
    return Standing(
        True,
        True,
        not old_epoch,
        why_no_accept=old_epoch,
        needs_reason=needs_reason if away_until is None else _as_deputy(delivery, away_until),
        as_deputy=_as_deputy(delivery, away_until) if away_until else "",
        is_theirs=is_theirs,
    )


def _as_deputy(delivery: Delivery, until: date) -> str:
    """The reason that a deputy need not type."""
    return f"As deputy for {_named(delivery)}, away until {until:%a} {until.day} {until:%b}."


def _old_epoch(delivery: Delivery) -> str:
    now = delivery.pool.scheduler_epoch
    if delivery.scheduler_epoch == now:
        return ""
    return f"It was delivered under epoch {delivery.scheduler_epoch} and the pool is at {now}: it can be sent back, not accepted."


def _needs_reason(delivery: Delivery, person_id: int, groups: Collection[int]) -> str:
    task = delivery.task
    if task.reviewer_id is None and task.reviewer_group_id is None:
        return ""
    if task.reviewer_id == person_id or task.reviewer_group_id in groups:
        return ""
    return f"{_named(delivery)} is named for this task. Stepping in needs a reason, and is marked for ever."


def _named(delivery: Delivery) -> str:
    task = delivery.task
    if task.reviewer:
        return str(task.reviewer.get_full_name() or task.reviewer.get_username())
    return f"The group {task.reviewer_group}"


def _closed(delivery: Delivery) -> str:
    if delivery.state == DeliveryState.CLOSED:
        return "This round was closed undecided: its claim lost its authority."
    return "This round is decided."


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
