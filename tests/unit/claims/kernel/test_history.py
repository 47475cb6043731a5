"""History: exactly one row for each change, each row hashed with the one before it."""

from __future__ import annotations

import hashlib
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction

from claims import kernel, transitions
from claims.canonical import canonical
from claims.decide import Change
from claims.kernel.writing import GENESIS, chain
from claims.models import History
from claims.selectors.chain import verify_chain
from claims.vocabulary import State, Verb, Verdict
from tests.support.records import no_change, task_row, verbs_of
from tests.support.world import World, judgement

pytestmark = pytest.mark.django_db


def a_whole_life(world: World) -> UUID:
    """Claimed, released, claimed again, renewed, delivered, sent back, delivered and accepted."""
    granted = world.claimed(title='Empty state "ünïcode"\n\t\x7f\u2028')
    transitions.release(world.caller(), granted.fence, "night")
    granted = world.claimed(world.agents[1], granted.fence.task_id)
    delivery = world.delivered(world.agents[1], granted)
    transitions.reject(
        world.person(world.reviewer), delivery.id, judgement(delivery, Verdict.NOT_MET, "again")
    )
    delivery = world.delivered(world.agents[1], world.claimed(world.agents[1], delivery.task_id))
    transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    return delivery.task_id


def test_a_whole_life_leaves_one_row_a_change_and_a_chain_that_verifies(world: World) -> None:
    task_id = a_whole_life(world)
    verbs = ["create", "claim", "release", "claim", "deliver", "reject", "claim", "deliver", "accept"]
    assert verbs_of(task_id) == verbs
    versions = (
        History.objects.filter(task_id=task_id)
        .order_by("state_version")
        .values_list("state_version", flat=True)
    )
    assert list(versions) == list(range(1, 10))
    assert verify_chain(task_id) is None


def test_renewals_and_progress_write_no_history(world: World) -> None:
    granted = world.claimed()
    version = task_row(granted.fence.task_id).state_version
    transitions.renew(world.caller(), granted.fence, 60)
    transitions.progress(world.caller(), granted.fence, "halfway", {"tokens": 12})
    assert task_row(granted.fence.task_id).state_version == version
    assert verbs_of(granted.fence.task_id) == ["create", "claim"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("verb", "'reject'"),
        ("actor_name", "'somebody else'"),
        ("to_state", "'DONE'"),
        ("claim_generation", "claim_generation + 1"),
        ("at", "at + interval '1 microsecond'"),
        ("body", "'{}'"),
        ("request_id", "'req_other'"),
        ("hash", "sha256('other')"),
    ],
)
def test_a_row_that_was_changed_breaks_the_chain(world: World, column: str, value: str) -> None:
    task_id = a_whole_life(world)
    rewrite(f"UPDATE claims_history SET {column} = {value} WHERE task_id = %s AND state_version = 4", task_id)
    assert verify_chain(task_id) is not None


@pytest.mark.parametrize("version", [1, 4, 9])
def test_a_row_that_was_taken_out_breaks_the_chain(world: World, version: int) -> None:
    task_id = a_whole_life(world)
    rewrite(f"DELETE FROM claims_history WHERE task_id = %s AND state_version = {version}", task_id)
    assert verify_chain(task_id) is not None


def test_the_chain_starts_from_nothing_and_hashes_canonical_json() -> None:
    row = {"b": 1, "a": [None, "ü"]}
    assert bytes(32) == GENESIS
    assert chain(GENESIS, row) == hashlib.sha256(bytes(32) + canonical(row)).digest()


def test_a_step_that_is_no_edge_is_a_fault_and_writes_nothing(world: World) -> None:
    task_id = world.task()
    caller = world.caller()
    seen = kernel.take(caller, task_id)
    assert seen is not None
    for verb, target in (
        (Verb.DELIVER, State.DELIVERED),
        (Verb.COMMIT, State.DONE),
        (Verb.LAPSE, State.HELD),
    ):
        with no_change(task_id), pytest.raises(KeyError):
            kernel.advance(caller, seen, Change(verb, target))


def test_a_change_may_not_write_what_only_the_kernel_moves(world: World) -> None:
    task_id = world.task()
    caller = world.person(world.preparer)
    seen = kernel.take(caller, task_id)
    assert seen is not None
    for column in ("claim_generation", "state_version", "state", "lineage_id", "history_hash"):
        with no_change(task_id), pytest.raises(KeyError):
            kernel.advance(caller, seen, Change(Verb.ADJUST, State.OPEN, columns={column: 9}))


def test_a_row_that_moved_under_its_lock_is_a_fault(world: World) -> None:
    task_id = world.task()
    caller = world.person(world.preparer)
    seen = kernel.take(caller, task_id)
    assert seen is not None
    change = Change(Verb.ADJUST, State.OPEN, columns={"priority": 1})
    kernel.advance(caller, seen, change)
    with pytest.raises((IntegrityError, RuntimeError)), transaction.atomic():
        kernel.advance(caller, seen, change)
    assert verbs_of(task_id) == ["create", "adjust"]


def rewrite(statement: str, task_id: UUID) -> None:
    """What only somebody with the rights of the database's owner could do: past the triggers."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE claims_history DISABLE TRIGGER USER")
        cursor.execute(statement, [task_id])
        cursor.execute("ALTER TABLE claims_history ENABLE TRIGGER USER")
