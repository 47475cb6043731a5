"""Races of the desk: what a reviewer types, what happens elsewhere meanwhile, and where each typed word ended up.

A race is drawn from a seed and a number alone, and has a pool, a reviewer and a delivery of its own.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import close_old_connections

from claims import founding, transitions
from claims.decide import Judgement, VerdictGiven
from claims.models import AgentPool, CanonicalCommit, Decision, Delivery, History, Membership, Pool, Task
from claims.vocabulary import DecisionKind, Right, State, Verdict
from reviews.models import CommentDraft, Draft, VerdictDraft
from tests.support import deliveries
from tests.unit.reviews.world import World, as_person, done, person

SEED = os.environ.get("FENCEPOST_SEED", "1")
WHATS = ("a new round", "another's decision", "cancel", "epoch raised", "rights revoked", "signed out")
ENDINGS = ("submit", "submit at once", "reload", "back", "second tab")
ENDINGS_WITHOUT_SCRIPT = ("submit", "submit at once", "save")
CRITERIA = 4


@dataclass(frozen=True)
class Plan:
    """What one race does; `at` is the step in whose midst it happens."""

    number: int
    what: str
    has_script: bool
    steps: tuple[str, ...]
    at: int
    ending: str
    accepts: bool

    def __str__(self) -> str:
        script = "with" if self.has_script else "without"
        return f"seed {SEED}, race {self.number}: {self.what} at step {self.at} of {self.steps}, {script} script, then {self.ending}{', accepting' if self.accepts else ''}"


def plan(number: int) -> Plan:
    """The race of this number. Twelve in a row have every happening with and without script."""
    drawn = random.Random(f"{SEED}-{number}")
    has_script = number // len(WHATS) % 2 == 0
    accepts = drawn.random() < 0.4
    steps = ["comment", "note"] + (
        [] if accepts else [f"criterion {n}" for n in range(1, drawn.randint(2, CRITERIA))]
    )
    drawn.shuffle(steps)
    return Plan(
        number,
        WHATS[number % len(WHATS)],
        has_script,
        tuple(steps),
        drawn.randrange(len(steps)),
        drawn.choice(ENDINGS if has_script else ENDINGS_WITHOUT_SCRIPT),
        accepts,
    )


@dataclass
class Ground:
    """The pool, the people and the delivery of one race."""

    world: World
    pool: Pool
    rae: User
    delivery: Delivery
    words: list[str] = field(default_factory=list)

    def word(self, what: str) -> str:
        """A word that nobody else has typed."""
        word = f"{what.replace(' ', '')}-{self.delivery.pk.hex[-6:]}-{len(self.words)}"
        self.words.append(word)
        return word


def prepared(world: World, number: int) -> Ground:
    """A delivery whose named reviewer is a person of this race alone."""
    pool = founding.found_pool(f"race-{SEED}-{number}")
    rae = person(f"rae-{SEED}-{number}", "Rae", "Racer")
    for who, right in (
        (rae, Right.REVIEWER),
        (world.ben, Right.REVIEWER),
        (world.noor, Right.OPERATOR),
        (world.mira, Right.PREPARER),
    ):
        founding.give_rights(pool, {who: right})
    agent = world.agents["agent-7"]
    AgentPool.objects.get_or_create(agent=agent, pool=pool)
    task = deliveries.new_task(pool, f"Race {number}", reviewer=rae.get_username())
    delivery = deliveries.deliver(task, agent, items=deliveries.usual_items(diff=deliveries.IN_SCOPE))
    return Ground(world, pool, rae, delivery)


def new_round(on: Ground) -> None:
    """Ben steps in and sends the round back; the agent delivers the next one."""
    judged = Judgement(
        on.delivery.subject_digest, {1: VerdictGiven(Verdict.NOT_MET, "no")}, "Again.", "Rae is away."
    )
    if not hasattr(transitions.request_changes(as_person(on.world.ben), on.delivery.pk, judged), "state"):
        return  # Rae was first
    task = Task.objects.get(pk=on.delivery.task_id)
    items = deliveries.usual_items("Other words", deliveries.IN_SCOPE)
    deliveries.deliver(task, on.world.agents["agent-7"], deliveries.next_fence(task), items)


def others_decision(on: Ground) -> None:
    """Ben steps in and accepts."""
    met = {number: VerdictGiven(Verdict.MET) for number in range(1, CRITERIA + 1)}
    judged = Judgement(on.delivery.subject_digest, met, "", "Rae is away.")
    transitions.accept(as_person(on.world.ben), on.delivery.pk, judged)


def cancelled(on: Ground) -> None:
    transitions.cancel(as_person(on.world.mira), on.delivery.task_id, "not wanted any more")


def epoch_raised(on: Ground) -> None:
    epoch = Pool.objects.get(pk=on.pool.pk).scheduler_epoch
    done(transitions.raise_epoch(as_person(on.world.noor), on.pool.name, epoch, "a host came back"))


def rights_revoked(on: Ground) -> None:
    Membership.objects.filter(pool=on.pool, person=on.rae).delete()


def signed_out(on: Ground) -> None:
    for session in Session.objects.all():
        if session.get_decoded().get("_auth_user_id") == str(on.rae.pk):
            session.delete()


HAPPENINGS: dict[str, Callable[[Ground], None]] = dict(
    zip(WHATS, (new_round, others_decision, cancelled, epoch_raised, rights_revoked, signed_out), strict=True)
)


def given_back(on: Ground) -> None:
    """The right that was revoked."""
    founding.give_rights(on.pool, {on.rae: Right.REVIEWER})


def kept(on: Ground) -> str:
    """All that the server has of what Rae typed, sent or not, on whichever round."""
    close_old_connections()
    rounds = Delivery.objects.filter(task_id=on.delivery.task_id).values_list("pk", flat=True)
    mine: dict[str, Any] = {"person": on.rae, "delivery_id__in": list(rounds)}
    texts = [row.note for row in VerdictDraft.objects.filter(**mine)]
    texts += [f"{row.note} {row.reason} {row.comment}" for row in Draft.objects.filter(**mine)]
    texts += [row.text for row in CommentDraft.objects.filter(**mine)]
    for decision in Decision.objects.filter(reviewer=on.rae, delivery_id__in=list(rounds)):
        texts += [decision.note, decision.reason, str(decision.verdicts), str(decision.comments)]
    return "\n".join(texts)


def flaws(on: Ground, is_before: bool, what: str) -> Iterator[str]:
    """What a stale decision would have left behind; `is_before`: it happened before the decision was sent."""
    task = Task.objects.get(pk=on.delivery.task_id)
    commit = CanonicalCommit.objects.filter(task=task).first()
    decided = Decision.objects.filter(delivery=on.delivery).first()
    by_rae = decided is not None and decided.reviewer_id == on.rae.pk
    if (commit is not None) != (task.state == State.DONE):
        yield f"{task.state} with commit {commit}"
    if (
        by_rae
        and is_before
        and not (what == "epoch raised" and decided and decided.kind != DecisionKind.ACCEPTED)
    ):
        yield f"{decided} was recorded after {what}"
    if commit is None:
        return
    fence = f"{commit.scheduler_epoch}.{commit.claim_generation}.{commit.cancel_generation}"
    last = History.objects.filter(task_id=task.pk).order_by("-state_version").first()
    if decided is None or decided.kind != DecisionKind.ACCEPTED or commit.delivery_id != on.delivery.pk:
        yield f"{commit} without an acceptance of its delivery"
    if last is None or last.verb != "accept" or last.validated != fence:
        yield f"the last row is {last and last.verb} validated {last and last.validated}, not accept validated {fence}"
    if by_rae and Delivery.objects.filter(task=task).count() > 1:
        yield "a superseded round was accepted"
