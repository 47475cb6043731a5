"""An outside effect as people read it: what is asked, how it stands, and what each may do about it.

Pure but for the facts passed in. The transitions check every right again.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from claims.inputs import Slot
from claims.selectors.doubts import is_in_doubt
from claims.selectors.effects import EffectSeen
from claims.selectors.seen import SeenPool
from claims.vocabulary import ApprovalState, EffectMode, EffectState, Right, State
from reviews.shell.words import span

MODES = {
    EffectMode.CONDITIONAL: "the target refuses a second write by itself",
    EffectMode.QUERYABLE: "whether it happened can be looked up",
    EffectMode.RESERVATION: "reserved first, then used",
    EffectMode.NON_REPLAYABLE: "cannot be taken back or told apart from a second one",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One effect with its words. ``look_up`` is the kind of the declared recipe, or nothing."""

    effect: EffectSeen
    sender: str
    lead: str
    mode: str
    payload: str
    receipt: str
    look_up: str
    look_up_decides: bool
    is_in_doubt: bool
    has_settled: bool
    waits: bool

    @property
    def task(self) -> str:
        """How people name the task."""
        return f"T-{self.effect.number}"


@dataclass(frozen=True, slots=True)
class Standing:
    """What this person may do now. ``why_not`` stands where the forms would be."""

    may_answer: bool
    may_revoke: bool
    may_settle: bool
    why_not: str = ""


def shown_of(effect: EffectSeen, senders: dict[int, str], slot: Slot | None, now: datetime) -> Shown:
    """The effect in words."""
    sender = _sender(effect, senders)
    recipe = slot.lookup if slot else None
    return Shown(
        effect=effect,
        sender=sender,
        lead=lead_of(effect, sender, now),
        mode=MODES[effect.mode],
        payload=pretty(effect.payload),
        receipt=pretty(effect.receipt) if effect.receipt is not None else "",
        look_up=recipe.kind if recipe else "",
        look_up_decides=bool(recipe and recipe.authoritative),
        is_in_doubt=is_in_doubt(effect),
        has_settled=effect.settles_at is None or effect.settles_at <= now,
        waits=waits_for_a_person(effect),
    )


def standing_of(effect: EffectSeen, pool: SeenPool, person_id: int, makers: Collection[int]) -> Standing:
    """What one person may do; ``makers`` own the agent that would send it."""
    may_settle = is_in_doubt(effect) and pool.allows(Right.OPERATOR)
    if effect.mode is not EffectMode.NON_REPLAYABLE:
        return Standing(False, False, may_settle)
    why = _why_no_answer(effect, pool, person_id, makers)
    granted = effect.approval is not None and effect.approval.state is ApprovalState.GRANTED
    return Standing(not why and waits_for_a_person(effect), not why and granted, may_settle, why)


def _why_no_answer(effect: EffectSeen, pool: SeenPool, person_id: int, makers: Collection[int]) -> str:
    if not pool.allows(Right.REVIEWER):
        return f"Only a reviewer of {pool.name} answers for this effect."
    if person_id in makers:
        return "You own the agent that would send it: another reviewer answers for it."
    if person_id == effect.preparer_id:
        return "You wrote this task: another reviewer answers for it."
    return ""


def waits_for_a_person(effect: EffectSeen) -> bool:
    """Whether a person's answer could be used now: prepared, held by a claim, and never to be repeated."""
    return (
        effect.mode is EffectMode.NON_REPLAYABLE
        and effect.state is EffectState.PREPARED
        and effect.task_state is State.CLAIMED
        and not effect.has_happened
    )


def lead_of(effect: EffectSeen, sender: str, now: datetime) -> str:
    """How it stands, in a sentence or two."""
    if effect.state is EffectState.PREPARED and effect.has_happened:
        return "It is prepared, and somebody saw it happen all the same. An operator has to settle which is true before anything is sent."
    if effect.state is EffectState.EXECUTING and effect.permit:
        return f"{sender} may make the call for {span((effect.permit.deadline - now).total_seconds())} more. Nobody can settle it before that."
    if effect.state is EffectState.UNKNOWN:
        return f"Nobody knows whether {sender or 'the agent'} made the call. {_settling(effect, now)}"
    return _quiet_lead(effect, sender)


def _settling(effect: EffectSeen, now: datetime) -> str:
    if effect.settles_at and effect.settles_at > now:
        left = span((effect.settles_at - now).total_seconds())
        return f"A sender that was paused may still send for {left}; only after that can it be said that it did not happen."
    return "A paused sender can no longer send: look at the target, then say what became of it."


def _quiet_lead(effect: EffectSeen, sender: str) -> str:
    if waits_for_a_person(effect):
        good = effect.approval is not None and effect.approval.is_good
        return (
            f"Approved: {sender} may get one permit for it."
            if good
            else f"{sender} asks to send this once. It cannot be taken back."
        )
    return {
        EffectState.PREPARED: f"{sender or 'An agent'} has bound the payload and has not sent it.",
        EffectState.COMMITTED: "It happened. Its payload and its receipt stay.",
        EffectState.ABANDONED: "It will not be sent. Its payload stays bound.",
        EffectState.WRITTEN_OFF: "An operator gave the question up; whether it happened stays unknown for good.",
    }[effect.state]


def _sender(effect: EffectSeen, senders: dict[int, str]) -> str:
    """The agent of the last permit while that is what counts, else the one that holds the task."""
    of_permit = senders.get(effect.permit.agent_id, "") if effect.permit else ""
    of_task = senders.get(effect.runner_id, "") if effect.runner_id else ""
    return of_task or of_permit if effect.state is EffectState.PREPARED else of_permit or of_task


def pretty(value: Any) -> str:
    """JSON as people read it, keys in their order."""
    return json.dumps(value, ensure_ascii=False, indent=2)
