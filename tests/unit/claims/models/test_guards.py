"""The database keeps the promises on its own: a direct statement from psql fails (claim.v1 section 7)."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from claims import transitions
from claims.outcomes import Committed
from claims.vocabulary import (
    FENCED_VERBS,
    ActorKind,
    AttemptOutcome,
    ReclaimPolicy,
    ReviewPolicy,
    Source,
    State,
    Verb,
    Verdict,
)
from tests.support.world import World, judgement

pytestmark = pytest.mark.django_db

MOVED = "state_version = state_version + 1, history_hash = sha256('psql')"
"""What a statement must write as well to look like a change; without it every UPDATE fails."""


def refused(statement: str, *values: object, naming: str = "") -> None:
    """The statement fails with a check or a constraint, and names the rule it broke."""
    with pytest.raises(IntegrityError, match=naming), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.fixture
def open_task(world: World) -> UUID:
    return world.task()


@pytest.fixture
def claimed(world: World) -> UUID:
    return world.claimed().fence.task_id


@pytest.fixture
def delivered(world: World) -> UUID:
    return UUID(str(world.delivered().task_id))


@pytest.fixture
def done(world: World) -> UUID:
    delivery = world.delivered()
    answer = transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert isinstance(answer, Committed)
    return UUID(str(delivery.task_id))


def test_no_change_of_a_task_goes_without_a_version_and_a_hash(open_task: UUID) -> None:
    refused("UPDATE claims_task SET priority = 1 WHERE id = %s", open_task, naming="extends its history")
    refused(
        "UPDATE claims_task SET priority = 1, state_version = state_version + 1 WHERE id = %s",
        open_task,
        naming="extends its history",
    )
    refused(
        "UPDATE claims_task SET state_version = state_version + 2, history_hash = sha256('psql') WHERE id = %s",
        open_task,
        naming="raises its state version by one",
    )


def test_a_claim_generation_never_falls(claimed: UUID) -> None:
    refused(
        f"UPDATE claims_task SET claim_generation = claim_generation - 1, {MOVED} WHERE id = %s",
        claimed,
        naming="never falls",
    )


def test_a_cancel_generation_never_falls(claimed: UUID) -> None:
    refused(
        f"UPDATE claims_task SET cancel_generation = cancel_generation - 1, {MOVED} WHERE id = %s",
        claimed,
        naming="never falls",
    )


def test_an_authority_is_not_taken_or_given_without_raising_the_generation_by_one(
    open_task: UUID, claimed: UUID
) -> None:
    for raised in ("claim_generation", "claim_generation + 2"):
        refused(
            f"UPDATE claims_task SET state = 'OPEN', attempt_id = NULL, runner_id = NULL, claim_generation = {raised}, {MOVED} WHERE id = %s",
            claimed,
            naming="raises the claim generation by one",
        )
        refused(
            f"UPDATE claims_task SET state = 'CLAIMED', attempt_id = %s, runner_id = 1, claim_generation = {raised}, {MOVED} WHERE id = %s",
            uuid4(),
            open_task,
            naming="raises the claim generation by one",
        )


def test_a_scheduler_epoch_never_falls(world: World) -> None:
    refused(
        "UPDATE claims_pool SET scheduler_epoch = scheduler_epoch - 1 WHERE id = %s",
        world.pool.id,
        naming="epoch never falls",
    )


@pytest.mark.parametrize("state", ["OPEN", "CLAIMED", "DELIVERED", "HELD", "CANCELLED", "SUPERSEDED"])
def test_a_final_state_is_never_left(done: UUID, state: str) -> None:
    refused(f"UPDATE claims_task SET state = %s, {MOVED} WHERE id = %s", state, done, naming="never left")


@pytest.mark.parametrize(
    "change",
    [
        "input_digest = 'sha256:" + "0" * 64 + "'",
        "number = number + 1000000",
        "pool_id = pool_id + 1",
        "lineage_id = gen_random_uuid()",
        "id = gen_random_uuid()",
    ],
)
def test_the_identity_and_the_input_digest_of_a_task_are_fixed(open_task: UUID, change: str) -> None:
    refused(f"UPDATE claims_task SET {change}, {MOVED} WHERE id = %s", open_task, naming="are fixed")


def test_the_canonical_result_a_task_names_never_changes(done: UUID) -> None:
    refused(
        f"UPDATE claims_task SET result_commit_id = gen_random_uuid(), {MOVED} WHERE id = %s",
        done,
        naming="fixed",
    )


APPEND_ONLY = ["taskinput", "history", "stagedresult", "decision", "canonicalcommit"]


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_what_was_recorded_is_never_changed_or_deleted(done: UUID, table: str) -> None:
    column = {"decision": "delivery_id", "history": "id", "taskinput": "task_id"}.get(table, "task_id")
    rows = count(table)
    assert rows > 0
    refused(f"UPDATE claims_{table} SET {column} = {column}", naming="append-only")
    refused(f"DELETE FROM claims_{table}", naming="append-only")
    assert count(table) == rows


def test_a_refusal_is_never_changed_or_deleted(world: World, claimed: UUID) -> None:
    transitions.release_quiet(world.person(world.operator), claimed, world.sighting(claimed))
    refused("UPDATE claims_refusal SET why = 'OTHER'", naming="append-only")
    refused("DELETE FROM claims_refusal", naming="append-only")


@pytest.mark.parametrize("table", ["task", "attempt", "delivery", "pool"])
def test_tasks_attempts_deliveries_and_pools_are_never_deleted(delivered: UUID, table: str) -> None:
    refused(f"DELETE FROM claims_{table}", naming="never deleted")


def test_a_task_has_at_most_one_canonical_commit(done: UUID) -> None:
    refused(
        "INSERT INTO claims_canonicalcommit (commit_id, task_id, attempt_id, claim_generation, scheduler_epoch, cancel_generation,"
        " result_digest, committed_at) SELECT gen_random_uuid(), task_id, attempt_id, claim_generation,"
        " scheduler_epoch, cancel_generation, result_digest, committed_at FROM claims_canonicalcommit WHERE task_id = %s",
        done,
        naming="claims_canonicalcommit_pkey",
    )


def test_a_task_has_at_most_one_delivery_that_waits(delivered: UUID) -> None:
    refused(copied_delivery("round + 1", "gen_random_uuid()"), delivered, naming="delivery_one_pending")


def test_an_attempt_delivers_at_most_once(done: UUID) -> None:
    refused(copied_delivery("round + 1", "attempt_id", "'CLOSED'"), done, naming="attempt_id")


def test_a_round_has_one_delivery(done: UUID) -> None:
    refused(copied_delivery("round", "gen_random_uuid()", "'CLOSED'"), done, naming="delivery_round_once")


@pytest.mark.parametrize(
    "change",
    ["result_digest = 'x'", "subject_digest = 'x'", "makers = '{}'", "round = 9", "claim_generation = 99"],
)
def test_what_was_delivered_is_fixed(delivered: UUID, change: str) -> None:
    refused(f"UPDATE claims_delivery SET {change} WHERE task_id = %s", delivered, naming="is fixed")


def test_a_delivery_is_decided_once(done: UUID) -> None:
    refused("UPDATE claims_delivery SET state = 'REJECTED' WHERE task_id = %s", done, naming="decided once")
    refused("UPDATE claims_delivery SET state = 'PENDING' WHERE task_id = %s", done, naming="decided once")


def test_a_delivery_has_one_decision(done: UUID) -> None:
    refused(
        "INSERT INTO claims_decision (id, delivery_id, kind, reviewer_id, subject_digest, verdicts, comments, note, reason, marks, makers, decided_at)"
        " SELECT gen_random_uuid(), delivery_id, 'REJECTED', reviewer_id, subject_digest, verdicts, comments, note, reason, marks, makers, decided_at"
        " FROM claims_decision",
        naming="delivery_id",
    )


def test_a_generation_of_a_task_is_granted_once(claimed: UUID) -> None:
    refused(
        "INSERT INTO claims_attempt (id, task_id, agent_id, owner_id, claim_generation, scheduler_epoch, cancel_generation, is_counted,"
        " granted_version, started_at, note) SELECT gen_random_uuid(), task_id, agent_id, owner_id, claim_generation, scheduler_epoch,"
        " cancel_generation, is_counted, granted_version, started_at, note FROM claims_attempt WHERE task_id = %s",
        claimed,
        naming="attempt_one_a_generation",
    )


@pytest.mark.parametrize(
    "change", ["agent_id = agent_id + 1", "owner_id = owner_id + 1", "claim_generation = 99"]
)
def test_what_an_attempt_was_granted_is_fixed(claimed: UUID, change: str) -> None:
    refused(f"UPDATE claims_attempt SET {change} WHERE task_id = %s", claimed, naming="is fixed")


def test_an_attempt_ends_once(world: World, done: UUID) -> None:
    refused("UPDATE claims_attempt SET outcome = 'LAPSED' WHERE task_id = %s", done, naming="ends once")
    refused(
        "UPDATE claims_attempt SET outcome = NULL, ended_at = NULL WHERE task_id = %s",
        done,
        naming="ends once",
    )


def test_an_ended_attempt_says_how_and_when(claimed: UUID) -> None:
    refused("UPDATE claims_attempt SET ended_at = now() WHERE task_id = %s", claimed, naming="ended_says_how")
    refused(
        "UPDATE claims_attempt SET outcome = 'LAPSED' WHERE task_id = %s", claimed, naming="ended_says_how"
    )


def test_a_lease_passes_to_a_newer_grant_only(claimed: UUID) -> None:
    refused(
        "UPDATE claims_lease SET claim_generation = claim_generation - 1 WHERE task_id = %s",
        claimed,
        naming="newer grant",
    )
    refused(
        "UPDATE claims_lease SET attempt_id = gen_random_uuid() WHERE task_id = %s",
        claimed,
        naming="newer grant",
    )


def test_a_task_with_authority_has_an_attempt_and_a_runner_and_no_other_has(
    open_task: UUID, claimed: UUID
) -> None:
    raised = f"claim_generation = claim_generation + 1, {MOVED}"
    refused(
        f"UPDATE claims_task SET state = 'CLAIMED', {MOVED} WHERE id = %s", open_task, naming="has_an_attempt"
    )
    refused(
        f"UPDATE claims_task SET runner_id = NULL, {MOVED} WHERE id = %s", claimed, naming="has_an_attempt"
    )
    refused(
        f"UPDATE claims_task SET state = 'OPEN', {raised} WHERE id = %s", claimed, naming="has_an_attempt"
    )


def test_a_held_task_says_why_and_no_other_does(open_task: UUID) -> None:
    refused(f"UPDATE claims_task SET state = 'HELD', {MOVED} WHERE id = %s", open_task, naming="says_why")
    refused(f"UPDATE claims_task SET reason = 'because', {MOVED} WHERE id = %s", open_task, naming="says_why")


def test_a_delivered_task_has_a_delivery_and_no_other_has(claimed: UUID, delivered: UUID) -> None:
    refused(
        f"UPDATE claims_task SET state = 'DELIVERED', {MOVED} WHERE id = %s", claimed, naming="has_a_delivery"
    )
    refused(
        f"UPDATE claims_task SET delivery_id = gen_random_uuid(), {MOVED} WHERE id = %s",
        claimed,
        naming="has_a_delivery",
    )


def test_a_done_task_has_a_commit_and_no_other_has(open_task: UUID) -> None:
    refused(f"UPDATE claims_task SET state = 'DONE', {MOVED} WHERE id = %s", open_task, naming="has_a_commit")
    refused(
        f"UPDATE claims_task SET result_commit_id = gen_random_uuid(), {MOVED} WHERE id = %s",
        open_task,
        naming="has_a_commit",
    )


def test_only_a_blocked_task_is_without_an_input_digest(world: World, open_task: UUID) -> None:
    refused(
        "INSERT INTO claims_task SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'number', t.number + 1000000,"
        " 'lineage_id', gen_random_uuid(), 'input_digest', NULL))).* FROM claims_task t WHERE id = %s",
        open_task,
        naming="has_a_digest",
    )


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE claims_task SET state = 'RUNNING', {MOVED}",
        f"UPDATE claims_task SET reclaim_policy = 'LATER', {MOVED}",
        f"UPDATE claims_task SET review_policy = 'MAYBE', {MOVED}",
        "UPDATE claims_pool SET gate = 'AJAR'",
        "UPDATE claims_pool SET self_review = 'SOMETIMES'",
        "UPDATE claims_membership SET \"right\" = 'KING'",
    ],
)
def test_a_word_of_the_contract_is_one_of_its_list(open_task: UUID, statement: str) -> None:
    refused(statement, naming="is_a_word|final|has_|says_")


def test_a_pools_lease_fits_its_window(world: World) -> None:
    for change in (
        "ttl_seconds = 0",
        "ttl_seconds = max_ttl_seconds + 1",
        "max_ttl_seconds = window_seconds + 1",
    ):
        refused(f"UPDATE claims_pool SET {change} WHERE id = %s", world.pool.id, naming="fits_the_window")


def test_a_decision_to_send_back_is_as_final_as_an_acceptance(world: World) -> None:
    delivery = world.delivered()
    transitions.reject(world.person(world.reviewer), delivery.id, judgement(delivery, Verdict.NOT_MET, "no"))
    refused("UPDATE claims_delivery SET state = 'ACCEPTED' WHERE id = %s", delivery.id, naming="decided once")


def copied_delivery(round_number: str, attempt: str, state: str = "state") -> str:
    return (
        "INSERT INTO claims_delivery SELECT (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(),"
        f" 'round', d.{round_number}, 'attempt_id', {attempt if '(' in attempt else 'd.' + attempt},"
        f" 'state', {state if state.startswith(chr(39)) else 'd.' + state}))).* FROM claims_delivery d WHERE task_id = %s"
    )


def count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM claims_{table}")
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("claims_task_is_whole", [*State, *ReviewPolicy, *ReclaimPolicy]),
        ("claims_attempt_is_whole", [*AttemptOutcome]),
        ("claims_history_is_whole", [*ActorKind, *Source, *FENCED_VERBS, Verb.RECONCILE]),
    ],
)
def test_the_functions_that_look_at_whole_rows_know_the_words_of_the_contract(
    function: str, words: list[str]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = %s", [function])
        source = cursor.fetchone()[0]
    known = set(re.findall(r"'([A-Za-z-]+)'", source))
    assert known == {str(word) for word in words}
