"""No accepted write without what it was compared with: the database refuses it on its own."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from claims import transitions
from claims.vocabulary import FENCED_VERBS, ActorKind, Verb
from tests.support.world import World

pytestmark = pytest.mark.django_db

ACCEPTANCE = "written with what it was compared with|acceptance_was_validated"
_COPY = (
    "INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id, actor_kind,"
    " actor_id, actor_name, source, request_id, at, body, validated, hash) SELECT task_id, pool_id, 9, %s, from_state, to_state,"
    " claim_generation, attempt_id, %s, actor_id, actor_name, source, request_id, at, body, %s, hash FROM claims_history"
    " WHERE task_id = %s AND state_version = 2"
)


def written(statement: str, *values: object) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount > 0


def refused(naming: str, statement: str, *values: object) -> None:
    with pytest.raises(IntegrityError, match=naming):
        written(statement, *values)


@pytest.mark.parametrize("verb", FENCED_VERBS)
def test_history_takes_no_fenced_verb_without_what_was_compared(world: World, verb: Verb) -> None:
    task_id = world.claimed().fence.task_id
    for kind in ActorKind:
        refused(ACCEPTANCE, _COPY, verb, kind, None, task_id)
    written(_COPY, verb, ActorKind.AGENT, "1.1.0", task_id)


def test_history_takes_no_reconcile_of_an_agent_without_what_was_compared(world: World) -> None:
    task_id = world.claimed().fence.task_id
    refused(ACCEPTANCE, _COPY, Verb.RECONCILE, ActorKind.AGENT, None, task_id)
    written(_COPY, Verb.RECONCILE, ActorKind.PERSON, None, task_id)


def test_a_lease_takes_no_renewal_without_what_was_compared(world: World) -> None:
    task_id = world.claimed().fence.task_id
    renewal = "UPDATE claims_lease SET renewals = renewals + 1, renewed_under = %s WHERE task_id = %s"
    refused("a renewal is written with what its fence", renewal, None, task_id)
    written(renewal, "1.1.0", task_id)


def test_an_attempt_takes_no_progress_without_what_was_compared(world: World) -> None:
    attempt_id = world.claimed().fence.attempt_id
    progress = "UPDATE claims_attempt SET noted_at = clock_timestamp(), noted_under = %s WHERE id = %s"
    refused("progress is written with what its fence", progress, None, attempt_id)
    written(progress, "1.1.0", attempt_id)


def test_a_result_is_staged_in_time_only_with_what_was_compared(world: World) -> None:
    granted = world.claimed()
    world.stage(granted)
    copy = (
        "INSERT INTO claims_stagedresult (attempt_id, position, task_id, result_digest, result, evidence, late, validated, staged_at)"
        " SELECT attempt_id, 7, task_id, result_digest, result, evidence, %s, NULL, staged_at FROM claims_stagedresult WHERE attempt_id = %s"
    )
    refused("staged_was_validated", copy, False, granted.fence.attempt_id)
    written(copy, True, granted.fence.attempt_id)


def test_a_file_is_added_in_time_only_with_what_was_compared(world: World) -> None:
    granted = world.claimed()
    world.staged(granted)
    copy = (
        "INSERT INTO claims_evidencefile (attempt_id, task_id, sha256, size, media_type, late, validated, added_at)"
        " SELECT attempt_id, task_id, 'other', size, media_type, %s, NULL, added_at FROM claims_evidencefile WHERE attempt_id = %s"
    )
    refused("evidence_was_validated", copy, False, granted.fence.attempt_id)
    written(copy, True, granted.fence.attempt_id)


def test_a_tool_is_accepted_only_with_what_was_compared(world: World) -> None:
    fence = world.claimed().fence
    transitions.accept_tool(world.caller(), fence, "git.push", f"sha256:{'a' * 64}")
    copy = (
        "INSERT INTO claims_toolacceptance (task_id, attempt_id, agent_id, tool, args_digest, validated, at)"
        " SELECT task_id, attempt_id, agent_id, tool, args_digest, %s, at FROM claims_toolacceptance WHERE attempt_id = %s"
    )
    refused("validated", copy, None, fence.attempt_id)
    written(copy, "1.1.0", fence.attempt_id)
