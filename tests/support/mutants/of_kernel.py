"""Locks, the fresh read, the one write, history, keys, and answers that were lost (claim.v1 sections 3, 4 and 7)."""

from __future__ import annotations

from tests.support.mutants.mutant import (
    DECIDE,
    KERNEL,
    PASSING_RACES,
    POOLS,
    RAISING_RACES,
    RUNNING,
    STATEMENTS,
    VERBS,
    WRITING,
    Mutant,
    tier,
)

_READING, _WRITING, _RUNNING = f"{KERNEL}/reading.py", f"{KERNEL}/writing.py", f"{KERNEL}/running.py"
_POOLS, _KEYS = f"{KERNEL}/pools.py", f"{KERNEL}/keys.py"
_CLAIMING = "tests/race/test_claiming.py"
_ROW_LOCK = "WHERE t.id = %s::uuid FOR NO KEY UPDATE"
_LOCKED_FIRST = (
    "        locked = send(raw, _LOCK_TASK, (task_id,))\n        afresh = send(raw, _AFRESH, (task_id,))\n"
)
_READ_FIRST = (
    "        afresh = send(raw, _AFRESH, (task_id,))\n        locked = send(raw, _LOCK_TASK, (task_id,))\n"
)
_POOL_LOCK = "        send(raw, _LOCK_POOL, (POOL_LOCK, pool_id))\n        if grant_to is not None:\n"
_AGENT_LOCK = "        if grant_to is not None:\n            send(raw, _LOCK_POOL, (AGENT_LOCK, grant_to))\n"

MUTANTS = (
    Mutant("row-lock", "a verb does not lock the task's row", _READING, _ROW_LOCK, "WHERE t.id = %s::uuid", STATEMENTS),
    Mutant("row-lock-in-a-race", "a verb does not lock the task's row, where claimers meet", _READING, _ROW_LOCK, "WHERE t.id = %s::uuid", (f"{_CLAIMING}::test_an_expired_auto_claim_is_taken_by_exactly_one",)),
    Mutant("fresh-read", "a verb reads before it has the lock", _READING, _LOCKED_FIRST, _READ_FIRST, STATEMENTS),
    Mutant("fresh-read-in-a-race", "a verb reads before it has the lock, where it waits behind a raise", _READING, _LOCKED_FIRST, _READ_FIRST,
        (f"{_CLAIMING}::test_a_claim_that_waited_for_the_row_reads_the_epoch_after_it_has_it",)),
    Mutant("pool-lock", "a verb does not share the pool's lock", _READING, _POOL_LOCK, "        if grant_to is not None:\n", STATEMENTS),
    Mutant("pool-lock-in-a-race", "a verb does not share the pool's lock, where an epoch is raised", _READING, _POOL_LOCK,
        "        if grant_to is not None:\n", RAISING_RACES),
    Mutant("agent-lock", "a grant does not share the agent's lock", _READING, _AGENT_LOCK, "", STATEMENTS),
    Mutant("old-clock", "now() instead of clock_timestamp()", _READING, "\"\"\"SELECT clock_timestamp(),\n p.id, p.name", "\"\"\"SELECT now(),\n p.id, p.name",
        (f"{_CLAIMING}::test_a_lease_counts_from_when_the_row_was_had_and_not_from_the_call",)),
    Mutant("stricter-level", "another isolation level is not noticed", _RUNNING, "if level not in (None, IsolationLevel.READ_COMMITTED):", "if False:", RUNNING),
    Mutant("cas-of-the-task", "the write does not compare the state version", _WRITING,
        "AND state_version = %s::bigint RETURNING id)", "AND %s::bigint IS NOT NULL RETURNING id)", WRITING),
    Mutant("cas-of-the-effect", "the write does not compare the effect's version", _WRITING,
        "AND version = %s::int RETURNING id)", "AND %s::int IS NOT NULL RETURNING id)", WRITING + tier("transitions/effects")),
    Mutant("moved-under-its-lock", "a write that touched no row is a success", _WRITING,
        "if written is None or written[0] != (2 if change.effect else 1):", "if written is None:", WRITING),
    Mutant("history-unchained", "a history row does not hold the one before it", _WRITING,
        "hashlib.sha256(previous + canonical(dict(row)))", "hashlib.sha256(canonical(dict(row)))", WRITING),
    Mutant("history-without-comparison", "history is not told what was compared", _WRITING, "\"validated\": compared,", "\"validated\": None,", WRITING),
    Mutant("lease-stays", "a lost claim keeps its lease", _WRITING, "elif self._loses_lease():", "elif False:", WRITING + tier("transitions/holding")),
    Mutant("delivery-stays-pending", "a delivery whose claim is lost stays pending", _WRITING,
        "if self.seen.task.state is State.DELIVERED and self.change.verb not in _DECISIONS:", "if False:", WRITING + tier("transitions/revising", "transitions/adopting")),
    Mutant("refusal-is-kept", "what a refused verb wrote is kept", _RUNNING, "transaction.set_rollback(True)", "is_committing = True",
        RUNNING + tier("transitions/revising", "transitions/creating", "transitions/effects")),
    Mutant("refusal-untold", "refusals are not recorded", _RUNNING, "            _record(work.name, caller, outcome, args)\n", "            pass\n", RUNNING),
    Mutant("commit-guessed", "a lost COMMIT is reported as a success", _RUNNING, "outcome = lost.outcome if known else Refused(Why.BUSY)", "outcome = lost.outcome", RUNNING),
    Mutant("commit-unanswered", "a COMMIT nobody can look up is reported as a success", _RUNNING, "return unknown(work.name, lost)", "return lost.outcome", RUNNING),
    Mutant("commit-unreplicated", "PostgreSQL's warning about its standby is not heard", _RUNNING, "    if watch.is_unreplicated:\n", "    if False:\n", RUNNING),
    Mutant("key-in-use", "a key is used by two requests at once", _KEYS, "if not is_mine or not is_mine[0]:", "if not is_mine:", RUNNING),
    Mutant("key-of-another-request", "a key of another verb or body has the first answer", _KEYS,
        "if row[0] != verb or row[1] != (caller.request_digest or \"\"):", "if False:", RUNNING),
    Mutant("key-of-another-verb", "a key of another verb has the first answer", _KEYS, "if row[0] != verb or row[1]", "if row[1]", RUNNING),
    Mutant("key-of-another-holder", "two holders share their keys", _KEYS, "return f\"{caller.actor.kind}:{caller.actor.id}\"", "return f\"{caller.actor.id}\"", RUNNING),
    Mutant("key-not-kept", "an answer is not kept under its key", _RUNNING, "    if not isinstance(outcome, Refused):\n        keys.keep", "    if False:\n        keys.keep", RUNNING),
    Mutant("key-of-nothing", "an empty claim-next burns its key", _KEYS, " or (isinstance(outcome, Grants) and not outcome.grants):", ":", RUNNING + tier("transitions/claim_next")),
    Mutant("key-for-ever", "a key is never forgotten", _KEYS, "AND used_at > clock_timestamp() - %s::interval", "AND %s::interval IS NOT NULL", RUNNING),
    Mutant("execute-replays", "execute answers a repeated key with the first permit", f"{VERBS}/effects.py", ", replays=False)", ")", tier("transitions/effects")),
    Mutant("raise-shares", "raise-epoch and gate share the pool's lock", _POOLS, "pg_advisory_xact_lock(%s", "pg_advisory_xact_lock_shared(%s", RAISING_RACES),
    Mutant("raise-unlocked", "raise-epoch and gate take no lock", _POOLS, "        send(raw, _LOCK, (POOL_LOCK, pool_id))\n", "        pass\n", POOLS + RAISING_RACES),
    Mutant("raise-own-number", "two pools may share an epoch", _POOLS, "scheduler_epoch = nextval('claims_scheduler_epoch')", "scheduler_epoch = scheduler_epoch + 1", POOLS),
    Mutant("raise-conflict", "the epoch the operator saw is not compared", f"{DECIDE}/pools.py", "if expected_epoch != seen.pool.scheduler_epoch:", "if False:", POOLS),
    Mutant("raise-without-right", "anybody in the pool raises its epoch", f"{DECIDE}/pools.py", "if Right.OPERATOR not in seen.person.rights:", "if False:", POOLS),
    Mutant("raise-by-token", "a token raises an epoch", f"{VERBS}/pools.py", " if caller.is_at_hand else None", "", POOLS),
    Mutant("disable-unlocked", "an agent is disabled without its lock", f"{KERNEL}/standing.py",
        "            cursor.execute(\"SELECT pg_advisory_xact_lock(%s::int, %s::int)\", [AGENT_LOCK, agent_id])\n", "            pass\n",
        PASSING_RACES),
)  # fmt: skip
