"""A small world for page tests, made through the real verbs: two pools, people, agents and tasks in every state."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from claims import transitions
from claims.callers import SYSTEM, Actor, Caller
from claims.decide import Judgement, Sighting, VerdictGiven
from claims.fences import Fence
from claims.inputs import NewTask
from claims.kernel import reading
from claims.models import (
    Agent,
    AgentPool,
    Attempt,
    Delivery,
    EvidenceFile,
    Lease,
    Membership,
    Pool,
    ReviewerGroup,
    Task,
)
from claims.outcomes import Created, Delivered, Granted, Refused
from claims.transitions import Account, StagedResult
from claims.vocabulary import ActorKind, ReclaimPolicy, ReviewPolicy, Right, Source, Verdict

PASSWORD = "a long pass phrase"


def done(outcome: Any) -> Any:
    """The outcome, which the test takes for granted to be no refusal."""
    assert not isinstance(outcome, Refused), f"{outcome.why}: {outcome.sentence}"
    return outcome


def person(name: str, first: str, last: str) -> User:
    """A person who can sign in."""
    known = User.objects.filter(username=name).first()
    return known or User.objects.create_user(
        name, f"{name}@example.org", PASSWORD, first_name=first, last_name=last
    )


def as_person(who: User) -> Caller:
    """That person in the browser."""
    return Caller(Actor(ActorKind.PERSON, who.pk, who.get_username()), Source.WEB)


def as_agent(agent: Agent) -> Caller:
    """That agent at the API."""
    return Caller(Actor(ActorKind.AGENT, agent.pk, agent.name), Source.API)


@dataclass
class World:
    """What the tests talk about; ``billing`` is reviewed and manual, ``sandbox`` is neither."""

    billing: Pool
    sandbox: Pool
    ines: User
    ben: User
    noor: User
    mira: User
    stranger: User
    group: ReviewerGroup
    agents: dict[str, Agent] = field(default_factory=dict)

    def write(
        self,
        title: str,
        pool: Pool | None = None,
        access: tuple[str, ...] = (),
        effects: tuple[dict[str, Any], ...] = (),
        **more: Any,
    ) -> Task:
        """A new task with two criteria: OPEN, or BLOCKED by those it ``depends_on``."""
        body: dict[str, Any] = {
            "task": f"{title}.\nKeep what is there working.",
            "scope": {"files": ["app/**"], "excluded": ["app/vendor/**"]},
            "access": list(access),
            "acceptance": [{"text": "It works at 390 px", "proof": "shot-390"}, {"text": "Tests pass"}],
        }
        if effects:
            body["effects"] = list(effects)
        created = done(
            transitions.create(
                Caller(SYSTEM, Source.COMMAND), (pool or self.billing).name, [NewTask(title, body, **more)]
            )
        )
        assert isinstance(created, Created)
        return Task.objects.get(pk=created.tasks[0].task_id)

    def claim(self, task: Task, agent: str = "agent-7", ttl_seconds: int = 600) -> Fence:
        """A grant."""
        task.refresh_from_db()
        caller = as_agent(self.agents[agent])
        granted = done(
            transitions.claim(caller, task.pk, task.state_version, task.pool.scheduler_epoch, ttl_seconds)
        )
        assert isinstance(granted, Granted)
        return granted.fence

    def deliver(
        self, task: Task, fence: Fence, agent: str = "agent-7", needs: str = "Check the empty state at 390 px"
    ) -> Delivery:
        """A delivery of that claim."""
        account = Account("Done as asked.", needs, {"1": "seen at 390", "2": "12 passed"})
        outcome = transitions.deliver(
            as_agent(self.agents[agent]),
            fence,
            str(task.input_digest),
            None,
            account,
            StagedResult({"ok": True}, ()),
        )
        delivered = done(outcome)
        assert isinstance(delivered, Delivered)
        return Delivery.objects.get(pk=delivered.delivery_id)

    def delivered(
        self, title: str, agent: str = "agent-7", needs: str = "Check the empty state at 390 px", **more: Any
    ) -> Delivery:
        """A task taken all the way to a delivery."""
        task = self.write(title, **more)
        return self.deliver(task, self.claim(task, agent), agent, needs)

    def send_back(
        self, delivery: Delivery, who: User, note: str = "The pagination hides the last row."
    ) -> UUID:
        """Changes requested; answers the next attempt."""
        verdicts = {1: VerdictGiven(Verdict.MET), 2: VerdictGiven(Verdict.NOT_MET, note)}
        decided = done(
            transitions.request_changes(
                as_person(who), delivery.pk, Judgement(delivery.subject_digest, verdicts, note)
            )
        )
        return decided.next_attempt_id  # type: ignore[return-value, union-attr]

    def accept(self, delivery: Delivery, who: User, reason: str = "") -> None:
        """The canonical commit."""
        count = len(delivery.task.specification.body.get("acceptance", []))
        verdicts = {number: VerdictGiven(Verdict.MET) for number in range(1, count + 1)}
        done(
            transitions.accept(
                as_person(who), delivery.pk, Judgement(delivery.subject_digest, verdicts, "", reason)
            )
        )

    def run_out(self, task: Task, seconds: int = 360) -> None:
        """The lease of the claim ran out that long ago; it had been granted 15 minutes before that."""
        now = timezone.now()
        Lease.objects.filter(task_id=task.pk).update(expires_at=now - timedelta(seconds=seconds))
        Attempt.objects.filter(task_id=task.pk, outcome__isnull=True).update(
            started_at=now - timedelta(seconds=seconds + 900)
        )

    def release_quiet(self, task: Task, reason: str = "worker-b lost power") -> None:
        """An operator releases the quiet claim."""
        task.refresh_from_db()
        lease = Lease.objects.get(task_id=task.pk)
        done(
            transitions.release_quiet(
                as_person(self.noor), task.pk, Sighting(task.state_version, lease.expires_at, reason)
            )
        )

    def late_delivery(self, task: Task, fence: Fence, agent: str) -> Refused:
        """The lost runner comes back and delivers; it had staged two files."""
        for text in (b"one", b"two"):
            EvidenceFile.objects.get_or_create(
                attempt_id=fence.attempt_id,
                sha256=hashlib.sha256(text).hexdigest(),
                defaults={
                    "task_id": task.pk,
                    "size": len(text),
                    "media_type": "text/plain",
                    "validated": "13.1.0",
                },
            )
        outcome = transitions.deliver(
            as_agent(self.agents[agent]),
            fence,
            str(task.input_digest),
            None,
            None,
            StagedResult({"late": True}, ()),
        )
        assert isinstance(outcome, Refused)
        return outcome


def make_world() -> World:
    """Pools, people and agents; no tasks yet.

    The epochs are written by hand, so the sequence they come from is moved past them; and a pool's
    id is known by its name for good, which holds everywhere but in a test that makes it anew.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setval('claims_scheduler_epoch', greatest(14, nextval('claims_scheduler_epoch')))"
        )
    reading._known_pool_named.cache_clear()
    billing = Pool.objects.create(name="billing", title="Billing", scheduler_epoch=13)
    sandbox = Pool.objects.create(
        name="sandbox",
        title="Sandbox",
        scheduler_epoch=14,
        reclaim_policy=ReclaimPolicy.AUTO,
        allows_unreviewed=True,
    )
    ines, ben = person("ines", "Ines", "Halvorsen"), person("ben", "Ben", "Okafor")
    noor, mira, stranger = (
        person("noor", "Noor", "Haddad"),
        person("mira", "Mira", "Chen"),
        person("sam", "Sam", "Stranger"),
    )
    rights = {
        ines: (Right.REVIEWER, Right.OPERATOR),
        ben: (Right.REVIEWER,),
        noor: (Right.OPERATOR,),
        mira: (Right.PREPARER,),
    }
    for who, held in rights.items():
        for right in held:
            Membership.objects.create(pool=billing, person=who, right=right)
    Membership.objects.create(pool=sandbox, person=mira, right=Right.VIEWER)
    group = ReviewerGroup.objects.create(pool=billing, name="billing-reviewers")
    group.members.add(ines, ben)
    world = World(billing, sandbox, ines, ben, noor, mira, stranger, group)
    for name, labels in {"agent-3": [], "agent-7": ["browser"], "agent-9": []}.items():
        agent = Agent.objects.create(name=name, owner=noor, labels=labels)
        for pool in (billing, sandbox):
            AgentPool.objects.create(agent=agent, pool=pool)
        world.agents[name] = agent
    return world


def fill(world: World) -> dict[str, Task]:
    """A task in every state people see, and one with a history worth reading."""
    found: dict[str, Task] = {}
    found["open"] = world.write("Search: keep the filter when going back", priority=1)
    found["unmanned"] = world.write("Invoices: download as PDF", access=("pdf",))
    found["claimed"] = world.write("Login: explain a locked account")
    world.claim(found["claimed"], "agent-9")
    found["quiet"] = world.write("Dunning: second reminder after 14 days")
    world.claim(found["quiet"], "agent-3")
    world.run_out(found["quiet"])
    found["delivered"] = world.delivered("Refunds: one mail for each refund", reviewer="ines").task
    found["can"] = world.delivered(
        "Export: dates in the customer’s time zone", reviewer_group="billing-reviewers"
    ).task
    found["other"] = world.delivered("Webhooks: sign with the new key", reviewer="ben").task
    found["changes"] = found_changes = world.delivered("Addresses: split house number", reviewer="ines")
    world.send_back(found_changes, world.ines)
    found["changes"] = found_changes.task
    finished = world.delivered("Plans: yearly toggle", reviewer="ines")
    world.accept(finished, world.ines)
    found["done"] = finished.task
    failed = world.write("Import: undo for one day")
    done(
        transitions.fail(
            as_agent(world.agents["agent-9"]),
            world.claim(failed, "agent-9"),
            "the import format is not documented",
            False,
        )
    )
    found["held"] = failed
    found["told"] = told(world)
    for task in found.values():
        task.refresh_from_db()
    return found


def told(world: World) -> Task:
    """Claimed, quiet, released, taken by another, a late delivery FENCED, two rounds: a whole timeline."""
    task = world.write("Billing page: empty state when there are no invoices", reviewer="ines")
    lost = world.claim(task, "agent-3")
    world.run_out(task)
    world.release_quiet(task)
    first = world.deliver(task, world.claim(task, "agent-7"))
    world.late_delivery(task, lost, "agent-3")
    next_attempt = world.send_back(first, world.ines)
    task.refresh_from_db()
    fence = Fence(task.pk, next_attempt, 13, task.claim_generation, task.cancel_generation)
    world.deliver(task, fence, needs="Look again: the last row is back")
    return task


def unreviewed(world: World) -> Task:
    """A sandbox task committed by its agent alone."""
    task = world.write("Try the API", pool=world.sandbox, review_policy=ReviewPolicy.NONE)
    fence = world.claim(task, "agent-9")
    done(
        transitions.commit(
            as_agent(world.agents["agent-9"]),
            fence,
            str(task.input_digest),
            None,
            StagedResult({"ok": True}, ()),
        )
    )
    return task
