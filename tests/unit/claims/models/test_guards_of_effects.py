"""The database keeps the promises about outside effects on its own, also against psql (claim.v1 section 5)."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from claims import transitions
from claims.decide import Look
from claims.outcomes import Granted
from claims.vocabulary import Said
from tests.support.effects import (
    ONCE_ONLY,
    RECEIPT,
    approved,
    effect_row,
    etag_of,
    executing,
    long_ago,
    permitted,
    prepared,
    unknown,
    with_effect,
)
from tests.support.world import World

pytestmark = pytest.mark.django_db

MOVED = "version = version + 1"
"""What a statement must write as well to look like a change of an effect."""


def refused(statement: str, *values: object, naming: str = "") -> None:
    """The statement fails with a check or a constraint, and names the rule it broke."""
    with pytest.raises(IntegrityError, match=naming), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.fixture
def granted(world: World) -> Granted:
    return with_effect(world)


@pytest.mark.parametrize(
    "change",
    [
        "payload = '{}'",
        "payload_digest = 'sha256:0'",
        "slot = 'other'",
        "mode = 'NON_REPLAYABLE'",
        "target = 'elsewhere'",
        "serial_key = 'elsewhere'",
        "is_required = NOT is_required",
        "task_id = gen_random_uuid()",
        "lineage_id = gen_random_uuid()",
    ],
)
def test_an_effect_keeps_what_it_was_prepared_with(world: World, granted: Granted, change: str) -> None:
    effect_id = prepared(world, granted)
    refused(f"UPDATE claims_effect SET {change}, {MOVED} WHERE id = %s", effect_id, naming="keeps the slot")


@pytest.mark.parametrize("state", ["PREPARED", "EXECUTING", "UNKNOWN", "ABANDONED", "WRITTEN_OFF"])
def test_a_settled_effect_stays_as_it_is(world: World, granted: Granted, state: str) -> None:
    effect_id, permit = executing(world, granted)
    transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
    refused(
        f"UPDATE claims_effect SET state = %s, {MOVED} WHERE id = %s",
        state,
        effect_id,
        naming="a settled effect stays|along its arrows only",
    )


def test_every_change_of_an_effect_moves_its_version_by_one(world: World, granted: Granted) -> None:
    effect_id = prepared(world, granted)
    for version in ("version", "version + 2", "version - 1"):
        moved = f"UPDATE claims_effect SET has_happened = true, version = {version} WHERE id = %s"
        refused(moved, effect_id, naming="section 5")


def test_an_effect_is_executed_from_prepared_with_a_permit_of_its_own(world: World, granted: Granted) -> None:
    effect_id = prepared(world, granted)
    executed = f"UPDATE claims_effect SET state = 'EXECUTING', permit_id = gen_random_uuid(), {MOVED}"
    refused(f"{executed} WHERE id = %s", effect_id, naming="with a permit of its own")
    refused(
        f"{executed}, permits = permits + 1 WHERE id = %s",
        prepared_and_happened(world),
        naming="along its arrows only",
    )
    doubtful, _ = unknown(world, with_effect(world))
    refused(
        f"{executed}, permits = permits + 1 WHERE id = %s",
        doubtful,
        naming="with a permit of its own",
    )


def prepared_and_happened(world: World) -> str:
    """An effect that is PREPARED again while somebody saw it happen."""
    granted = with_effect(world, **ONCE_ONLY)
    effect_id, permit = unknown(world, granted)
    long_ago(effect_id, 3_600)
    operator = world.person(world.operator)
    version = effect_row(effect_id).version
    transitions.reconcile_as_operator(
        operator, effect_id, Look(Said.DID_NOT_HAPPEN, etag=etag_of(effect_id)), version
    )
    transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, RECEIPT)
    return effect_id


def test_permits_and_doubts_are_never_uncounted(world: World, granted: Granted) -> None:
    effect_id, _ = unknown(world, granted)
    for column in ("permits", "doubts"):
        less = f"UPDATE claims_effect SET {column} = {column} - 1, {MOVED} WHERE id = %s"
        refused(less, effect_id, naming="section 5")


def test_an_effect_in_doubt_had_a_permit(world: World, granted: Granted) -> None:
    effect_id = prepared(world, granted)
    refused(
        f"UPDATE claims_effect SET state = 'UNKNOWN', {MOVED} WHERE id = %s",
        effect_id,
        naming="in_doubt_had_a_permit",
    )


def test_a_slot_of_a_task_has_one_effect(world: World, granted: Granted) -> None:
    effect_id = prepared(world, granted)
    refused(
        "INSERT INTO claims_effect SELECT (jsonb_populate_record(e, jsonb_build_object('id', repeat('0', 64)))).*"
        " FROM claims_effect e WHERE id = %s",
        effect_id,
        naming="effect_one_a_slot",
    )


def test_one_effect_that_cannot_be_replayed_is_under_way_a_serial_key(world: World) -> None:
    first = with_effect(world, **ONCE_ONLY, serialKey="mails")
    second = with_effect(world, **ONCE_ONLY, serialKey="mails")
    executing(world, first)
    effect_id = prepared(world, second)
    refused(
        f"UPDATE claims_effect SET state = 'EXECUTING', permit_id = gen_random_uuid(), permits = permits + 1, {MOVED} WHERE id = %s",
        effect_id,
        naming="effect_one_serial",
    )


@pytest.mark.parametrize("table", ["permit", "observation"])
def test_permits_and_observations_are_never_changed_or_deleted(
    world: World, granted: Granted, table: str
) -> None:
    unknown(world, granted)
    refused(f"UPDATE claims_{table} SET task_id = task_id", naming="append-only")
    refused(f"DELETE FROM claims_{table}", naming="append-only")


def test_effects_and_approvals_are_never_deleted(world: World) -> None:
    effect_id = prepared(world, with_effect(world, **ONCE_ONLY))
    approved(world, effect_id)
    refused("DELETE FROM claims_approval WHERE effect_id = %s", effect_id, naming="never deleted")
    refused("DELETE FROM claims_effect WHERE id = %s", effect_id, naming="never deleted")


COPIED = (
    "INSERT INTO claims_permit SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'number', p.number + {step},"
    " 'key', {key}, 'approval_id', {approval}))).* FROM claims_permit p WHERE effect_id = %s AND number = 1"
)


def test_no_second_permit_without_a_recorded_did_not_happen(world: World, granted: Granted) -> None:
    effect_id, _ = unknown(world, granted)
    second = COPIED.format(step=1, key="'another'", approval="NULL")
    refused(second, effect_id, naming="between two permits stands a recorded DID_NOT_HAPPEN")
    transitions.reconcile_as_operator(
        world.person(world.operator),
        effect_id,
        Look(Said.DID_NOT_HAPPEN, etag=etag_of(effect_id)),
        effect_row(effect_id).version,
    )
    refused(second, effect_id, naming="between two permits")


def test_a_permit_has_one_number_and_one_key(world: World, granted: Granted) -> None:
    effect_id = prepared(world, granted)
    permitted(world, granted, effect_id, key="once")
    refused(COPIED.format(step=0, key="'another'", approval="NULL"), effect_id, naming="permit_one_a_number")
    long_ago(effect_id, 3_600)
    transitions.reconcile_as_operator(
        world.person(world.operator),
        effect_id,
        Look(Said.DID_NOT_HAPPEN, etag=etag_of(effect_id)),
        effect_row(effect_id).version,
    )
    refused(COPIED.format(step=1, key="p.key", approval="NULL"), effect_id, naming="permit_one_a_key")


def test_an_approval_gives_one_permit_and_none_is_given_without(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id, _ = unknown(world, granted)
    long_ago(effect_id, 3_600)
    transitions.reconcile_as_operator(
        world.person(world.operator),
        effect_id,
        Look(Said.DID_NOT_HAPPEN, etag=etag_of(effect_id)),
        effect_row(effect_id).version,
    )
    again = COPIED.format(step=1, key="'another'", approval="p.approval_id")
    refused(again, effect_id, naming="permit_one_an_approval")
    unapproved = COPIED.format(step=1, key="'another'", approval="NULL")
    refused(unapproved, effect_id, naming="permit_not_replayable_is_approved")


def test_an_approval_keeps_what_it_was_given_for_and_ends_once(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id = prepared(world, granted)
    approved(world, effect_id)
    for change in (
        "payload_digest = 'x'",
        "claim_generation = claim_generation + 1",
        "scheduler_epoch = scheduler_epoch + 1",
        "doubt = doubt + 1",
        "expires_at = expires_at + interval '1 day'",
        "person_id = person_id + 1",
    ):
        refused(
            f"UPDATE claims_approval SET {change} WHERE effect_id = %s", effect_id, naming="was given for"
        )
    permitted(world, granted, effect_id)
    for state in ("GRANTED", "REVOKED", "VOID"):
        refused(
            "UPDATE claims_approval SET state = %s WHERE effect_id = %s AND state = 'CONSUMED'",
            state,
            effect_id,
            naming="never given again",
        )


def test_an_effect_has_one_granted_approval(world: World) -> None:
    effect_id = prepared(world, with_effect(world, **ONCE_ONLY))
    approved(world, effect_id)
    refused(
        "INSERT INTO claims_approval SELECT (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid()))).*"
        " FROM claims_approval a WHERE effect_id = %s",
        effect_id,
        naming="approval_one_granted",
    )


def test_what_a_fence_accepted_of_an_effect_is_written_with_what_it_was_compared_with(
    world: World, granted: Granted
) -> None:
    prepared(world, granted)
    for verb in ("prepare", "execute", "confirm", "unknown", "hand-back", "abandon", "reconcile"):
        refused(
            "INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, actor_kind, actor_id,"
            " actor_name, source, request_id, at, body, hash) VALUES (%s, %s, 99, %s, 'CLAIMED', 'CLAIMED', 1, 'AGENT', 1, 'a', 'API', 'r',"
            " now(), '{}', 'x')",
            granted.fence.task_id,
            world.pool.id,
            verb,
            naming="acceptance_was_validated",
        )
