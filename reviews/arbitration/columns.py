"""One attempt as a column: what became of it, what it cost, and whether its evidence can be taken over. Pure.

Promises: what stands here is for reading; the transition asks again, under the task's lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from claims.models import Attempt, Task
from claims.selectors.costs import Costs, Sum
from claims.selectors.provenance import Rival
from claims.selectors.seen import SeenPool
from claims.vocabulary import DeliveryState, Gate, State
from reviews.desk.evidence import Flag, flags_of
from reviews.taskpage.changing import costs_of

DELIVERED = {
    DeliveryState.ACCEPTED: ("DONE", "accepted"),
    DeliveryState.CHANGES_REQUESTED: ("CHANGES", "sent back"),
    DeliveryState.REJECTED: ("CANCELLED", "rejected"),
    DeliveryState.CLOSED: ("SUPERSEDED", "closed undecided"),
}
ENDED = {
    "COMMITTED": ("DONE", "Committed"),
    "FENCED": ("FENCED", "Fenced"),
    "RELEASED": ("OPEN", "Given back"),
    "FAILED": ("CANCELLED", "Failed"),
    "LAPSED": ("OPEN", "Lapsed"),
    "CANCELLED": ("CANCELLED", "Cancelled"),
    "SUPERSEDED": ("SUPERSEDED", "Superseded"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """``state`` is a code and its words; ``why_not`` stands where its evidence cannot be adopted."""

    rival: Rival
    state: tuple[str, str]
    cost: str
    added: int | None
    removed: int | None
    flags: Sequence[Flag]
    why_not: str
    is_old_epoch: bool

    @property
    def is_adoptable(self) -> bool:
        return not self.why_not


def columns_of(task: Task, pool: SeenPool, rivals: Sequence[Rival]) -> list[Column]:
    """The columns in the order of the rivals."""
    return [
        Column(
            rival=rival,
            state=state_of(rival),
            cost=cost_of(rival.attempt),
            added=_totals(rival).get("added"),
            removed=_totals(rival).get("removed"),
            flags=_flags(rival),
            why_not=why_not(task, pool, rival),
            is_old_epoch=rival.attempt.scheduler_epoch != pool.scheduler_epoch,
        )
        for rival in rivals
    ]


def state_of(rival: Rival) -> tuple[str, str]:
    """What became of an attempt: of its delivery where it made one, else how it ended."""
    delivery, outcome = rival.delivery, rival.attempt.outcome
    if delivery is not None and delivery.state == DeliveryState.PENDING:
        return "DELIVERED", f"Round {delivery.round} waits for its decision"
    if delivery is not None:
        code, word = DELIVERED[DeliveryState(delivery.state)]
        return code, f"Round {delivery.round}, {word}"
    if not outcome:
        return "CLAIMED", "Holds the claim"
    return ENDED.get(str(outcome), ("SUPERSEDED", str(outcome).capitalize()))


def cost_of(attempt: Attempt) -> str:
    """What an attempt told that it cost, in a line."""
    told = attempt.cost or {}
    money = told.get("money") or {}
    amounts = {money["currency"]: Decimal(str(money["amount"]))} if money else {}
    figures = Sum(1, int(bool(told)), float(told.get("seconds") or 0), int(told.get("tokens") or 0), amounts)
    return costs_of(Costs(accepted=figures))[0].told


def standstill(task: Task, pool: SeenPool) -> str:
    """Why nothing at all can be adopted for the task now; empty where something may."""
    if pool.gate is Gate.DRAINING:
        return f"The gate of {pool.name} is closed: no new claim is handed out."
    if task.state == State.CLAIMED:
        runner = task.runner.name if task.runner else "An agent"
        return f"{runner} holds the claim; evidence is adopted once it has ended."
    if task.state == State.DONE:
        return f"{task} is done: its result stays, whatever else was made for it."
    if task.state == State.HELD and task.is_stale:
        return "Its input is no longer current; requeue it first."
    if task.state not in (State.OPEN, State.HELD, State.DELIVERED):
        return f"{task} is {task.state.lower()}: nothing of it is accepted any more."
    return ""


def why_not(task: Task, pool: SeenPool, rival: Rival) -> str:
    """Why this attempt's evidence cannot be adopted now; empty where it may."""
    standing = standstill(task, pool)
    if standing:
        return standing
    if not rival.attempt.outcome:
        return "It still holds the claim."
    if not rival.result_digest:
        return "It staged no result that could be adopted."
    is_current = rival.is_pending and rival.attempt.scheduler_epoch == pool.scheduler_epoch
    if is_current:
        return "It waits for its decision: a reviewer decides it."
    return ""


def _totals(rival: Rival) -> Mapping[str, Any]:
    """Lines added and removed, as the server counted them when it was delivered."""
    totals = _facts(rival).get("diff")
    return totals if isinstance(totals, dict) else {}


def _flags(rival: Rival) -> list[Flag]:
    """What is weak about a delivery, as its decision page says it; nothing was looked at where there is none."""
    if rival.delivery is None:
        return []
    return flags_of(_facts(rival), rival.items, rival.delivery.summary)


def _facts(rival: Rival) -> Mapping[str, Any]:
    return rival.delivery.facts if rival.delivery and isinstance(rival.delivery.facts, dict) else {}
