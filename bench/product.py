"""Pools, agents and tasks of the product to measure, and the books that say whether a slice was correct.

Each pool's first task is written by `transitions.create`; the others are copies of its rows with ids,
numbers and hash chains of their own, because writing hundreds of thousands through the verb would
take longer than all measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from bench.figures import Slice
from claims import founding, tokens, transitions
from claims.callers import SYSTEM, Caller
from claims.inputs import NewTask
from claims.models import Agent, Pool
from claims.outcomes import Created
from claims.selectors.chain import verify_chain
from claims.vocabulary import ReviewPolicy, Right, Source

MANY = 8
INPUT = {
    "task": "Replace the greeting on the start page.",
    "scope": {"files": ["app/**"], "excluded": []},
    "access": [],
    "acceptance": [{"text": "The start page greets by name.", "proof": "the test run"}],
    "evidence": [],
    "effects": [],
}

FILL = """
WITH pattern AS (SELECT t.*, p.name AS pool_name FROM claims_task t JOIN claims_pool p ON p.id = t.pool_id
                 WHERE t.pool_id = %(pool)s ORDER BY t.number LIMIT 1),
 made AS (SELECT uuidv7() AS id, nextval('claims_task_number') AS number, clock_timestamp() AS at FROM generate_series(1, %(count)s)),
 line AS (SELECT m.id, m.number, m.at, jsonb_build_object('inputDigest', x.input_digest, 'number', m.number, 'pool', x.pool_name, 'title', x.title) AS body,
   sha256(decode(repeat('00', 32), 'hex') || convert_to('{"actor":["SYSTEM",0,"fencepost"],"at":"'
     || to_char(m.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00","attemptId":null,"body":{"inputDigest":"' || x.input_digest
     || '","number":' || m.number || ',"pool":' || to_json(x.pool_name) || ',"title":' || to_json(x.title)
     || '},"claimGeneration":0,"from":null,"requestId":"bench","source":"COMMAND","stateVersion":1,"taskId":"' || m.id
     || '","to":"OPEN","validated":null,"verb":"create"}', 'UTF8')) AS head
   FROM made m, pattern x),
 told AS (INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id, actor_kind,
     actor_id, actor_name, source, request_id, at, body, hash)
   SELECT id, %(pool)s, 1, 'create', NULL, 'OPEN', 0, NULL, 'SYSTEM', 0, 'fencepost', 'COMMAND', 'bench', at, body, head FROM line),
 given AS (INSERT INTO claims_taskinput (task_id, number, lineage_id, revision, body)
   SELECT l.id, l.number, l.id, 1, i.body FROM line l, pattern x JOIN claims_taskinput i ON i.task_id = x.id)
INSERT INTO claims_task (id, number, pool_id, lineage_id, revision, node_id, title, state, reason, state_since, state_version,
   claim_generation, cancel_generation, input_digest, access, priority, ttl_seconds, max_attempts, attempts_used, rounds, review_policy,
   reclaim_policy, history_hash, declares_effects, is_stale, created_by, created_at)
 SELECT l.id, l.number, %(pool)s, l.id, 1, '', x.title, 'OPEN', '', l.at, 1, 0, 0, x.input_digest, x.access, x.priority, x.ttl_seconds,
   x.max_attempts, 0, 0, x.review_policy, x.reclaim_policy, l.head, false, false, x.created_by, l.at FROM line l, pattern x"""

BOOKS = """SELECT (SELECT count(*) FROM claims_attempt), (SELECT count(DISTINCT (task_id, claim_generation)) FROM claims_attempt),
 (SELECT count(*) FROM claims_history WHERE verb = 'claim-next'), (SELECT count(*) FROM claims_history WHERE verb = 'commit'),
 (SELECT count(*) FROM claims_canonicalcommit), (SELECT count(*) FROM claims_history), (SELECT sum(state_version) FROM claims_task)"""


@dataclass(frozen=True)
class Place:
    """What is measured: pools with their epochs, agents, and a token of each agent."""

    many: tuple[Pool, ...]
    one: Pool
    agents: tuple[Agent, ...]
    tokens: tuple[str, ...]
    person: User

    def pools(self, *, single: bool = False) -> list[Pool]:
        """The eight pools, or the one."""
        return [self.one] if single else list(self.many)


def found() -> Place:
    """Make all of it in the empty database."""
    person = User.objects.create_user("measurer")
    policies = {"allows_unreviewed": True, "ttl_seconds": 3_600}
    many = tuple(founding.found_pool(f"many-{number}", **policies) for number in range(MANY))
    one = founding.found_pool("one", **policies)
    agents = tuple(founding.found_agent(f"claimer-{number}", person, [], [*many, one]) for number in range(8))
    caller = Caller(SYSTEM, Source.COMMAND, "bench")
    for pool in (*many, one):
        founding.give_rights(pool, {person: Right.VIEWER})
        task = NewTask(title="Greet by name", input=INPUT, review_policy=ReviewPolicy.NONE)
        created = transitions.create(caller, pool.name, [task])
        if not isinstance(created, Created):
            raise RuntimeError(f"the first task of {pool.name} was refused: {created.sentence}")
    return Place(many, one, agents, tuple(tokens.mint(agent_id=agent.id).token for agent in agents), person)


def fill(pools: list[Pool], tasks: int) -> None:
    """Have at least `tasks` OPEN tasks, spread over the pools; then a vacuum and a checkpoint."""
    wanted = tasks // len(pools) + 200
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")
        for pool in pools:
            cursor.execute(
                "SELECT count(*) FROM claims_task WHERE state = 'OPEN' AND pool_id = %s::bigint", [pool.id]
            )
            missing = wanted - int(cursor.fetchone()[0])
            if missing > 0:
                cursor.execute(FILL, {"pool": pool.id, "count": missing})
        cursor.execute(
            "VACUUM (ANALYZE) claims_task, claims_taskinput, claims_attempt, claims_lease, claims_history"
        )


@dataclass(frozen=True)
class Books:
    """Counts of the database at one moment."""

    attempts: int
    generations: int
    claims: int
    commits: int
    results: int
    history: int
    versions: int


def books() -> Books:
    """The counts now."""
    with connection.cursor() as cursor:
        cursor.execute(BOOKS)
        row: tuple[Any, ...] = cursor.fetchone()
    return Books(*(int(value or 0) for value in row))


def judged(rate: float, before: Books, claims: int, commits: int, in_flight: int, note: str = "") -> Slice:
    """A slice with what its books say: `claims` and `commits` are what the clients were told.

    `in_flight` answers may have been on their way when the clients stopped.
    """
    after = books()
    made, done = after.claims - before.claims, after.commits - before.commits
    flaws: list[str] = []
    if not after.attempts == after.generations == after.claims:
        flaws.append(
            f"{after.attempts} attempts, {after.generations} of distinct generation, {after.claims} claims told"
        )
    if after.commits != after.results:
        flaws.append(f"{after.results} canonical commits, {after.commits} told")
    if after.history != after.versions:
        flaws.append(f"{after.history} history rows for {after.versions} transitions")
    if not claims <= made <= claims + in_flight:
        flaws.append(f"clients were told of {claims} claims, the database has {made}")
    if not commits <= done <= commits + in_flight:
        flaws.append(f"clients were told of {commits} commits, the database has {done}")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM claims_task WHERE state_version > 1 ORDER BY state_since DESC LIMIT 20"
        )
        broken = [told for row in cursor.fetchall() if (told := verify_chain(row[0]))]
    return Slice(rate, (*flaws, *broken), note)
