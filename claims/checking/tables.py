"""The state rebuilt from history equals the tables (invariant 13)."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from claims.checking.rows import Found, Life, Told
from claims.vocabulary import AttemptOutcome, State, Verb

_HELD_UP = (State.HELD, State.BLOCKED)


@dataclass(slots=True)
class Rebuilt:
    """A task as its history leads to it."""

    state: str = ""
    state_version: int = 0
    claim_generation: int = 0
    attempt_id: UUID | None = None
    delivery_id: UUID | None = None
    result_commit_id: UUID | None = None
    rounds: int = 0
    attempts_used: int = 0
    is_stale: bool = False
    outcomes: dict[UUID, str] = field(default_factory=dict)

    def follow(self, row: Told) -> None:
        """Take one step."""
        self._end(row)
        self.state, self.state_version = row.to_state, row.state_version
        self.claim_generation = row.claim_generation
        if row.grants:
            self.attempt_id = row.attempt_id
            self.attempts_used += row.body.get("counted", True)
        elif row.to_state not in (State.CLAIMED, State.DELIVERED):
            self.attempt_id = None
        if row.verb == Verb.DELIVER:
            self.rounds += 1
            self.delivery_id = _id(row.body.get("delivery"))
        elif row.to_state != State.DELIVERED:
            self.delivery_id = None
        if row.to_state == State.DONE and row.from_state != State.DONE:
            self.result_commit_id = _id(row.body.get("commit"))
        if row.verb == Verb.REQUEUE and row.from_state == State.HELD and row.to_state == State.OPEN:
            self.attempts_used = 0
        self.is_stale = self.is_stale or row.verb == Verb.OUTDATE

    def _end(self, row: Told) -> None:
        """How an attempt ended: said in the row, or by the edge to DONE itself."""
        ended = _id(row.body.get("endedAttempt")) if row.grants else row.attempt_id
        if ended is None:
            return
        if row.to_state == State.DONE and row.from_state != State.DONE:
            self.outcomes[ended] = AttemptOutcome.COMMITTED
        elif "ended" in row.body:
            self.outcomes[ended] = row.body["ended"]


def rebuilt(life: Life) -> Rebuilt:
    """The task as its history leads to it."""
    whole = Rebuilt()
    for row in life.rows:
        whole.follow(row)
    return whole


def the_task_is_where_its_history_leads(life: Life) -> Found:
    """Every column that a change of state writes."""
    whole = rebuilt(life)
    for name in _COLUMNS:
        told, stored = getattr(whole, name), getattr(life.task, name)
        if told != stored:
            yield f"The task's {name} is {stored}; its history leads to {told}."


def the_runner_is_the_agent_of_the_attempt(life: Life) -> Found:
    """There is one exactly while there is an authority (section 2)."""
    attempt = life.attempts.get(life.task.attempt_id) if life.task.attempt_id else None
    expected = attempt.agent_id if attempt else None
    if life.task.runner_id != expected:
        yield f"The task's runner is {life.task.runner_id}; its attempt is of {expected}."


def an_attempt_ended_as_history_says(life: Life) -> Found:
    """And one that history never ended is the one that holds the task."""
    outcomes = rebuilt(life).outcomes
    for attempt in life.attempts.values():
        if attempt.outcome != outcomes.get(attempt.id):
            yield f"The attempt {attempt.id} ended as {attempt.outcome}; its history says {outcomes.get(attempt.id)}."
    living = [attempt.id for attempt in life.attempts.values() if attempt.outcome is None]
    if living != ([life.task.attempt_id] if life.task.state == State.CLAIMED else []):
        yield f"The task is {life.task.state} and {len(living)} attempts have not ended."


def what_waits_says_why(life: Life) -> Found:
    """HELD and BLOCKED carry the reason in words, the one that history has; nothing else has one (section 2)."""
    task = life.task
    if (task.state in _HELD_UP) != bool(task.reason):
        yield f"The task is {task.state}, and its reason is {task.reason!r}."
    told = life.rows[-1].body.get("held", task.reason) if life.rows else task.reason
    if told != task.reason:
        yield f"The task is held because {task.reason!r}; its history says {told!r}."


def every_row_is_of_the_tasks_pool(life: Life) -> Found:
    """Nothing of a pool is told in another (invariant 14)."""
    for row in life.rows:
        if row.pool_id != life.task.pool_id:
            yield f"{row} is told in another pool than the task's."


def _id(told: object) -> UUID | None:
    return UUID(told) if isinstance(told, str) else None


_COLUMNS = (
    "state",
    "state_version",
    "claim_generation",
    "attempt_id",
    "delivery_id",
    "result_commit_id",
    "rounds",
    "attempts_used",
    "is_stale",
)

INVARIANTS = (
    the_task_is_where_its_history_leads,
    the_runner_is_the_agent_of_the_attempt,
    an_attempt_ended_as_history_says,
    what_waits_says_why,
    every_row_is_of_the_tasks_pool,
)
