"""Badge and list stay equal through 300 random states: pools, groups, makers, deputies, pins, snoozes, hands."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from claims import deputies, transitions
from claims.decide import Judgement
from claims.fences import Fence
from claims.models import Agent, Delivery, Membership, Pool, ReviewerGroup, Task
from claims.selectors import badges, inbox
from claims.selectors.seen import pools_of
from claims.vocabulary import DeliveryState, Right, SelfReview
from reviews.inbox import marks
from tests.unit.reviews.world import World, as_person

STATES = 300


@dataclass
class Walk:
    """A world that is changed at random, one act at a time."""

    world: World
    chance: random.Random
    pools: list[Pool] = field(default_factory=list)
    groups: dict[int, ReviewerGroup] = field(default_factory=dict)

    @property
    def people(self) -> list[User]:
        return [self.world.ines, self.world.ben, self.world.noor, self.world.mira]

    def someone(self) -> User:
        return self.chance.choice(self.people)

    def pending(self) -> Delivery | None:
        rows = list(Delivery.objects.filter(state=DeliveryState.PENDING).order_by("pk"))
        return self.chance.choice(rows) if rows else None

    def deliver(self) -> None:
        pool = self.chance.choice(self.pools)
        reviewers = ["ines", "ben"] if pool == self.world.billing else ["ben", "noor"]
        who = self.chance.choice(
            [{}, {"reviewer": self.chance.choice(reviewers)}, {"reviewer_group": self.groups[pool.pk].name}]
        )
        agent = self.chance.choice(list(self.world.agents))
        self.world.delivered(f"Task {self.chance.random()}", agent=agent, pool=pool, **who)

    def decide(self) -> None:
        """Whoever may, sends it back or accepts it; a refusal is a state, too."""
        delivery, who = self.pending(), self.someone()
        if delivery is None:
            return
        verb = self.chance.choice([transitions.request_changes, transitions.reject])
        verb(as_person(who), delivery.pk, self.judged(delivery))

    @staticmethod
    def judged(delivery: Delivery) -> Judgement:
        return Judgement(delivery.subject_digest, {}, "Again.", "It is urgent.")

    def again(self) -> None:
        """An agent delivers the next round of something that was sent back."""
        sent = Task.objects.filter(state="CLAIMED").order_by("pk").first()
        if sent is None or sent.attempt is None:
            return
        fence = Fence(
            sent.pk,
            sent.attempt.pk,
            sent.attempt.scheduler_epoch,
            sent.attempt.claim_generation,
            sent.attempt.cancel_generation,
        )
        self.world.deliver(sent, fence, sent.attempt.agent.name)

    def mark(self) -> None:
        delivery, who = self.pending(), self.someone()
        if delivery is None:
            return
        act = self.chance.randrange(4)
        if act == 0:
            marks.pin(who.pk, delivery.task_id, is_pinned=self.chance.random() < 0.7)
        elif act == 1:
            marks.snooze(who.pk, delivery.pk, timezone.now() + timedelta(hours=self.chance.choice([-1, 1])))
        elif act == 2:
            marks.snooze(who.pk, delivery.pk, None)
        else:
            marks.wake(who.pk, delivery.pk)

    def hand_on(self) -> None:
        delivery, who, to = self.pending(), self.someone(), self.someone()
        if delivery is not None:
            transitions.hand_on(
                as_person(who), delivery.pk, delivery.subject_digest, to.username, "I am away."
            )

    def stand_in(self) -> None:
        who, deputy, pool = self.someone(), self.someone(), self.chance.choice(self.pools)
        day = timezone.now().date()
        if self.chance.random() < 0.3:
            deputies.end(who.pk, pool.pk)
        else:
            deputies.name(
                who.pk,
                pool,
                deputy.pk,
                day + timedelta(days=self.chance.choice([-1, 0, 1])),
                day + timedelta(9),
            )

    def rights(self) -> None:
        """An agent changes its owner, a group its members, a person their right, a pool its rule."""
        act, who, pool = self.chance.randrange(4), self.someone(), self.chance.choice(self.pools)
        if act == 0:
            Agent.objects.filter(name=self.chance.choice(list(self.world.agents))).update(owner=who)
        elif act == 1:
            members = self.groups[pool.pk].members
            (members.remove if self.chance.random() < 0.5 else members.add)(who)
        elif act == 2:
            Membership.objects.get_or_create(pool=pool, person=who, right=Right.REVIEWER)
        else:
            Pool.objects.filter(pk=pool.pk).update(self_review=self.chance.choice(list(SelfReview)))


def check(walk: Walk, who: User) -> None:
    seat = replace(marks.seat_of(who.pk, pools_of(who.pk)), pinned=marks.pinned_by(who.pk))
    buckets = inbox.buckets(seat, inbox.InboxFilter(), 1_000)
    rows = [row.pk for bucket in buckets for row in bucket.rows]
    assert len(rows) == len(set(rows)) == badges.reviews_waiting(seat)
    assert [bucket.count for bucket in buckets] == [len(bucket.rows) for bucket in buckets]
    assert not set(rows) & set(seat.hidden)
    mine = Delivery.objects.filter(pk__in=rows, makers__contains=[seat.person_id])
    assert not mine.filter(pool__self_review=SelfReview.REFUSED).exists()


def test_badge_and_list_are_equal_in_three_hundred_random_states(world: World) -> None:
    walk = Walk(world, random.Random(20261130), [world.billing, world.sandbox])
    walk.groups[world.billing.pk] = world.group
    walk.groups[world.sandbox.pk] = ReviewerGroup.objects.create(pool=world.sandbox, name="sandbox-reviewers")
    for who in (world.ben, world.noor):
        Membership.objects.create(pool=world.sandbox, person=who, right=Right.REVIEWER)
    acts: list[Callable[[], None]] = [walk.deliver, walk.decide, walk.again, walk.mark, walk.mark]
    acts += [walk.hand_on, walk.stand_in, walk.rights]
    for number in range(STATES):
        (walk.deliver if number < 8 else walk.chance.choice(acts))()
        check(walk, walk.someone())


def test_the_number_in_the_header_is_the_number_on_the_page(ines: Client, world: World, tasks: dict) -> None:
    marks.snooze(world.ines.pk, tasks["can"].delivery_id, timezone.now() + timedelta(hours=1))
    body = ines.get("/reviews").content.decode()
    assert "2 deliveries wait for your decision" in body
    assert 'href="/reviews" aria-current="page">Reviews <span class="n">2</span>' in body
