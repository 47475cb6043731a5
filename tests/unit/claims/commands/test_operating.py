"""The operators' commands: they act for a person, with that person's rights and no others."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from claims.models import History, Pool, PoolEvent, Task
from claims.vocabulary import Gate, Source, State
from tests.support.records import task_row
from tests.support.world import World, a_world, expire

pytestmark = pytest.mark.django_db


def said(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def raising(world: World, expected: int, person: str | None = None) -> list[str]:
    who = person or world.operator.username
    return [
        "raise_epoch",
        "--pool",
        world.pool.name,
        "--expected",
        str(expected),
        "--reason",
        "restored",
        "--as",
        who,
    ]


def named(world: World, task: Task) -> list[str]:
    return ["release_quiet", f"T-{task.number}", "--reason", "power cut", "--as", world.operator.username]


def test_an_operator_raises_the_epoch_that_he_sees(world: World) -> None:
    before = world.epoch
    assert said(*raising(world, before)) == f"{world.pool.name} is at epoch {world.epoch}; it was {before}.\n"
    event = PoolEvent.objects.get(pool=world.pool)
    assert (event.actor_name, event.source) == (world.operator.username, Source.COMMAND)


def test_a_raise_from_another_epoch_says_which_there_is_and_raises_nothing(world: World) -> None:
    before = world.epoch
    with pytest.raises(CommandError, match=f"EPOCH_CONFLICT: .* is {before}, not 1.*schedulerEpoch {before}"):
        said(*raising(world, 1))
    assert world.epoch == before


def test_a_person_without_the_right_does_nothing_by_a_command_either(world: World) -> None:
    before = world.epoch
    for person in (world.owner, world.preparer, world.reviewer):
        with pytest.raises(CommandError, match=r"FORBIDDEN: Only an operator of the pool can do this\."):
            said(*raising(world, before, person.username))
    with pytest.raises(CommandError, match=r"There is no pool .* has a right\."):
        said(*raising(world, before, a_world().operator.username))
    with pytest.raises(CommandError, match=r"There is no person nobody\."):
        said(*raising(world, before, "nobody"))
    assert world.epoch == before


def test_a_person_whose_account_is_off_does_nothing(world: World) -> None:
    type(world.operator).objects.filter(id=world.operator.id).update(is_active=False)
    with pytest.raises(CommandError, match="There is no person"):
        said(*raising(world, world.epoch))


def test_a_gate_closes_and_opens(world: World) -> None:
    for gate in (Gate.DRAINING, Gate.DRAINING, Gate.OPEN):
        line = said(
            "gate",
            gate.value,
            "--pool",
            world.pool.name,
            "--reason",
            "upgrade",
            "--as",
            world.operator.username,
        )
        assert line == f"The gate of {world.pool.name} is {gate}, at epoch {world.epoch}.\n"
        assert Pool.objects.get(id=world.pool.id).gate == gate
    assert PoolEvent.objects.filter(pool=world.pool).count() == 2


def test_a_reviewer_closes_no_gate_and_drains_nothing(world: World) -> None:
    words = ["--pool", world.pool.name, "--as", world.reviewer.username]
    with pytest.raises(CommandError, match="FORBIDDEN"):
        said("gate", "DRAINING", "--reason", "upgrade", *words)
    with pytest.raises(CommandError, match="FORBIDDEN"):
        said("drain", *words)
    assert Pool.objects.get(id=world.pool.id).gate == Gate.OPEN


def test_drain_closes_the_gate_and_says_that_the_pool_is_drained(world: World) -> None:
    line = said("drain", "--pool", world.pool.name, "--as", world.operator.username)
    assert f"{world.pool.name} is drained: 0 claims can write" in line
    assert Pool.objects.get(id=world.pool.id).gate == Gate.DRAINING


def test_drain_names_what_is_in_the_way_and_fails(world: World) -> None:
    task = task_row(world.claimed(title="Empty state").fence.task_id)
    out = StringIO()
    with pytest.raises(CommandError, match="Not drained yet"):
        call_command("drain", "--pool", world.pool.name, "--as", world.operator.username, stdout=out)
    assert "is not drained: 1 claims can write (0 quiet)" in out.getvalue()
    assert f"  T-{task.number} Empty state (live, {world.agents[0].name}, since " in out.getvalue()


def test_a_quiet_claim_is_released_by_its_number(world: World) -> None:
    task = task_row(world.claimed().fence.task_id)
    expire(task.id)
    assert (
        said(*named(world, task)) == f"T-{task.number} is OPEN, at state version {task.state_version + 1}.\n"
    )
    assert task_row(task.id).state == State.OPEN
    told = History.objects.filter(task=task).latest("state_version")
    assert (told.source, told.body["reason"]) == (Source.COMMAND, "power cut")


def test_a_live_claim_is_released_only_when_that_is_said(world: World) -> None:
    task = task_row(world.claimed().fence.task_id)
    with pytest.raises(CommandError, match=r"NOT_QUIET: .* Now: state CLAIMED, .*leaseExpiresAt"):
        said(*named(world, task))
    assert task_row(task.id).state == State.CLAIMED
    said(*named(world, task), "--even-if-live")
    assert task_row(task.id).state == State.OPEN


@pytest.mark.parametrize("written", ["T-0", "x", "T-", "T-99999999999"])
def test_a_task_that_is_not_there_is_said_to_be_none(world: World, written: str) -> None:
    with pytest.raises(CommandError, match=f"There is no task {written}"):
        said("release_quiet", written, "--reason", "power cut", "--as", world.operator.username)
