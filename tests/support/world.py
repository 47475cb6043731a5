"""A small world for tests: a pool, people with rights, agents, and tasks made by the real verbs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import connection

from claims import decide, evidence, transitions
from claims.callers import SYSTEM, Actor, Caller
from claims.canonical import Item
from claims.fences import Fence
from claims.inputs import NewTask
from claims.models import Agent, AgentPool, Attempt, Delivery, Lease, Membership, Pool, Task
from claims.outcomes import Created, Delivered, Granted, Grants, Refused, Staged
from claims.transitions import Account, StagedResult
from claims.vocabulary import ActorKind, Right, Source, Verdict

_serial = count(1)

DIFF = b"""diff --git a/page.html b/page.html
--- a/page.html
+++ b/page.html
@@ -1 +1,2 @@
 <h1>Billing</h1>
+<p>No invoices yet.</p>
"""


def a_specification(**changes: Any) -> dict[str, Any]:
    """A small input: two criteria, a diff as evidence."""
    return {
        "task": "Say that there are no invoices",
        "scope": {"files": ["*.html"], "excluded": ["secret/**"]},
        "acceptance": [
            {"text": "The page says so", "proof": "diff"},
            {"text": "Nothing else changes", "proof": "diff"},
        ],
        "evidence": [{"kind": "diff", "name": "diff"}],
        **changes,
    }


@dataclass
class World:
    """One pool and everybody in it. All of it is made anew, so worlds never meet."""

    pool: Pool
    preparer: User
    reviewer: User
    operator: User
    owner: User
    agents: list[Agent] = field(default_factory=list)

    def caller(
        self, agent: Agent | None = None, key: str | None = None, request_digest: str | None = None
    ) -> Caller:
        """A call by an agent, the first one when none is named."""
        who = agent or self.agents[0]
        return Caller(
            Actor(ActorKind.AGENT, who.id, who.name), Source.API, key=key, request_digest=request_digest
        )

    def person(self, user: User, key: str | None = None) -> Caller:
        """A call by a person in the browser."""
        return Caller(Actor(ActorKind.PERSON, user.id, user.username), Source.WEB, key=key)

    def agent(self, *labels: str, owner: User | None = None) -> Agent:
        """One more agent that works in the pool."""
        agent = Agent.objects.create(
            name=f"agent-{next(_serial)}-{uuid4().hex[:6]}", owner=owner or self.owner, labels=list(labels)
        )
        AgentPool.objects.create(agent=agent, pool=self.pool)
        self.agents.append(agent)
        return agent

    def tasks(self, number: int = 1, **attributes: Any) -> list[UUID]:
        """New tasks, made as the server itself makes them."""
        attributes.setdefault("input", a_specification())
        attributes.setdefault("title", "Empty state")
        made = transitions.create(
            Caller(SYSTEM, Source.COMMAND), self.pool.name, [NewTask(**attributes) for _ in range(number)]
        )
        assert isinstance(made, Created), made
        return [task.task_id for task in made.tasks]

    def task(self, **attributes: Any) -> UUID:
        """One new task."""
        return self.tasks(**attributes)[0]

    def claimed(
        self,
        agent: Agent | None = None,
        task_id: UUID | None = None,
        ttl_seconds: int | None = None,
        **attributes: Any,
    ) -> Granted:
        """A grant of a task, a new one when none is named."""
        task_id = task_id or self.task(**attributes)
        version = Task.objects.values_list("state_version", flat=True).get(id=task_id)
        granted = transitions.claim(self.caller(agent), task_id, version, self.epoch, ttl_seconds)
        assert isinstance(granted, Granted), granted
        return granted

    def staged(
        self, granted: Granted, agent: Agent | None = None, content: bytes = DIFF, kind: str = "diff"
    ) -> StagedResult:
        """A result with one piece of evidence, its bytes uploaded by the attempt."""
        sha256 = hashlib.sha256(content).hexdigest()
        evidence.keep([content], sha256, len(content))
        kept = transitions.add_file(self.caller(agent), granted.fence, sha256, len(content), "text/x-diff")
        assert not isinstance(kept, Refused), kept
        return StagedResult(
            {"done": True}, [Item("diff", kind, sha256, len(content), "text/x-diff", (1, 2), {})]
        )

    def delivered(
        self,
        agent: Agent | None = None,
        granted: Granted | None = None,
        content: bytes = DIFF,
        **attributes: Any,
    ) -> Delivery:
        """A delivery that waits for a decision."""
        granted = granted or self.claimed(agent, **attributes)
        outcome = transitions.deliver(
            self.caller(agent),
            granted.fence,
            granted.input_digest,
            account=Account("Done as asked", "Check the sentence"),
            staged=self.staged(granted, agent, content),
        )
        assert isinstance(outcome, Delivered), outcome
        return Delivery.objects.get(id=outcome.delivery_id)

    def regranted(self, task_id: UUID) -> Granted:
        """The grant that requested changes made, as its runner finds it."""
        task = Task.objects.get(id=task_id)
        attempt = Attempt.objects.get(id=task.attempt_id)
        lease = Lease.objects.get(task_id=task_id)
        fence = Fence(
            task.id, attempt.id, attempt.scheduler_epoch, attempt.claim_generation, attempt.cancel_generation
        )
        return Granted(
            fence, task.input_digest or "", attempt.granted_version, lease.expires_at, lease.window_ends_at
        )

    def stage(self, granted: Granted, agent: Agent | None = None) -> str:
        """Stage a result apart from handing it in; its digest."""
        outcome = transitions.stage(self.caller(agent), granted.fence, self.staged(granted, agent))
        assert isinstance(outcome, Staged), outcome
        return outcome.result_digest

    @property
    def epoch(self) -> int:
        """The pool's scheduler epoch now."""
        return int(Pool.objects.values_list("scheduler_epoch", flat=True).get(id=self.pool.id))

    def raise_epoch(self) -> int:
        """A newer epoch, as a restored backup would have it."""
        Pool.objects.filter(id=self.pool.id).update(scheduler_epoch=next_epoch())
        return self.epoch

    def sighting(self, task_id: UUID, reason: str = "worker lost power", **changes: Any) -> decide.Sighting:
        """What an operator sees of a task right now."""
        task = Task.objects.get(id=task_id)
        lease = getattr(task, "lease", None)
        return decide.Sighting(task.state_version, lease.expires_at if lease else None, reason, **changes)


def judgement(
    delivery: Delivery, verdict: Verdict = Verdict.MET, note: str = "", **changes: Any
) -> decide.Judgement:
    """The same verdict on both criteria of the small input."""
    verdicts = {number: decide.VerdictGiven(verdict, note) for number in (1, 2)}
    return decide.Judgement(
        **{"subject_digest": delivery.subject_digest, "verdicts": verdicts, "note": note, **changes}
    )


def next_epoch() -> int:
    """A value from the one sequence of epochs."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('claims_scheduler_epoch')")
        return int(cursor.fetchone()[0])


def expire(task_id: UUID, seconds: int = 1) -> None:
    """Let the lease of a task have run out some seconds ago, without waiting for it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE claims_lease SET expires_at = clock_timestamp() - make_interval(secs => %s) WHERE task_id = %s",
            [seconds, task_id],
        )


def grants_of(outcome: Grants | Refused) -> tuple[Granted, ...]:
    """The grants of an answer that is not a refusal."""
    assert isinstance(outcome, Grants), outcome
    return outcome.grants


def fence_but(fence: Fence, **changes: Any) -> Fence:
    """The same fence with one field another one."""
    names = ("task_id", "attempt_id", "scheduler_epoch", "claim_generation", "cancel_generation")
    return Fence(**{name: changes.get(name, getattr(fence, name)) for name in names})


def a_world(**policies: Any) -> World:
    """A new pool with a preparer, a reviewer, an operator, an owner of agents, and two agents."""
    mark = f"{next(_serial)}-{uuid4().hex[:6]}"
    policies.setdefault("backoff_seconds", 0)
    pool = Pool.objects.create(name=f"pool-{mark}", scheduler_epoch=next_epoch(), **policies)
    people = [
        get_user_model().objects.create_user(f"{role}-{mark}")
        for role in ("preparer", "reviewer", "operator", "owner")
    ]
    for person, right in zip(
        people, (Right.PREPARER, Right.REVIEWER, Right.OPERATOR, Right.VIEWER), strict=True
    ):
        Membership.objects.create(pool=pool, person=person, right=right)
    world = World(pool, *people)
    world.agent()
    world.agent()
    return world
