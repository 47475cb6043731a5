"""Tasks are written by preparers, all or none, and opened with a digest that is fixed."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from claims import canonical, transitions
from claims.inputs import NewTask
from claims.models import History, Task, TaskInput
from claims.outcomes import Adjusted, Created, Refused, Why
from claims.vocabulary import ReclaimPolicy, ReviewPolicy
from tests.support.records import no_change, task_row, verbs_of, why
from tests.support.world import World, a_specification

pytestmark = pytest.mark.django_db


def create(world: World, *tasks: NewTask) -> Created | Refused:
    return transitions.create(world.person(world.preparer), world.pool.name, tasks)


def new(**attributes: Any) -> NewTask:
    return NewTask(**{"title": "Empty state", "input": a_specification(), **attributes})


def test_a_task_opens_with_the_digest_of_its_input_and_no_predecessors(world: World) -> None:
    created = create(world, new())
    assert isinstance(created, Created)
    task = task_row(created.tasks[0].task_id)
    assert task.input_digest == canonical.input_digest(a_specification(), {})
    assert TaskInput.objects.get(task_id=task.id).body == a_specification()
    assert (task.state, task.state_version, task.claim_generation) == ("OPEN", 1, 0)
    assert verbs_of(task.id) == ["create"]


def test_what_a_task_does_not_say_its_pool_says(world: World) -> None:
    created = create(world, new(), new(reclaim_policy=ReclaimPolicy.AUTO, max_attempts=9, ttl_seconds=7))
    assert isinstance(created, Created)
    plain, told = (task_row(each.task_id) for each in created.tasks)
    assert (plain.reclaim_policy, plain.max_attempts, plain.ttl_seconds) == ("MANUAL", 3, 300)
    assert (told.reclaim_policy, told.max_attempts, told.ttl_seconds) == ("AUTO", 9, 7)
    assert told.number > plain.number


def test_one_flaw_creates_none_of_many(world: World) -> None:
    answer = create(world, new(), new(input={"task": ""}), new())
    assert why(answer) is Why.MALFORMED
    assert isinstance(answer, Refused)
    assert answer.reasons[0].startswith("/tasks/1/input/task")
    assert not Task.objects.filter(pool=world.pool).exists()


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (new(review_policy=ReviewPolicy.NONE), Why.UNPROCESSABLE),
        (new(reviewer="nobody"), Why.UNPROCESSABLE),
        (new(reviewer_group="nobody"), Why.UNPROCESSABLE),
        (new(ttl_seconds=3_601), Why.UNPROCESSABLE),
        (new(depends_on=("a",)), Why.UNPROCESSABLE),
        (new(ttl_seconds=0), Why.MALFORMED),
        (new(max_attempts=0), Why.MALFORMED),
        (new(priority=10), Why.MALFORMED),
        (new(priority=-1), Why.MALFORMED),
        (new(title=""), Why.MALFORMED),
        (new(title="x" * 301), Why.MALFORMED),
        (new(input=a_specification(unknown=1)), Why.MALFORMED),
        (new(input=a_specification(effects=[{"slot": "mail"}])), Why.MALFORMED),
    ],
)
def test_what_makes_no_sense_in_the_pool_is_refused(world: World, task: NewTask, expected: Why) -> None:
    assert why(create(world, task)) is expected
    assert not History.objects.filter(pool=world.pool).exists()


def test_a_call_creates_from_one_to_a_thousand_tasks(world: World) -> None:
    assert why(create(world)) is Why.UNPROCESSABLE
    assert why(create(world, *[new()] * 1_001)) is Why.UNPROCESSABLE


def test_only_a_preparer_writes_tasks_and_a_stranger_sees_no_pool(world: World) -> None:
    by_reviewer = transitions.create(world.person(world.reviewer), world.pool.name, [new()])
    assert why(by_reviewer) is Why.FORBIDDEN
    for caller in (world.caller(), world.person(a_stranger())):
        assert why(transitions.create(caller, world.pool.name, [new()])) is Why.NOT_FOUND
    assert why(transitions.create(world.person(world.preparer), "nowhere", [new()])) is Why.NOT_FOUND


def test_an_adjustment_is_recorded_and_leaves_digest_and_authority_alone(world: World) -> None:
    granted = world.claimed()
    before = task_row(granted.fence.task_id)
    adjusted = transitions.adjust(
        world.person(world.preparer), before.id, {"priority": 0, "reviewer": world.reviewer.username}
    )
    assert isinstance(adjusted, Adjusted)
    assert adjusted.changed == ("priority", "reviewer_id")
    after = task_row(before.id)
    assert (after.input_digest, after.claim_generation, after.attempt_id) == (
        before.input_digest,
        before.claim_generation,
        before.attempt_id,
    )
    body = History.objects.get(task_id=before.id, verb="adjust").body
    assert body == {"changed": {"priority": [2, 0], "reviewer_id": [None, world.reviewer.id]}}


def test_an_adjustment_that_changes_nothing_moves_no_version(world: World) -> None:
    task_id = world.task()
    with no_change(task_id):
        adjusted = transitions.adjust(world.person(world.preparer), task_id, {"priority": 2})
    assert isinstance(adjusted, Adjusted)
    assert adjusted.changed == ()


def test_a_reviewer_is_named_only_with_the_right_to_review(world: World) -> None:
    answer = transitions.adjust(
        world.person(world.preparer), world.task(), {"reviewer": world.operator.username}
    )
    assert why(answer) is Why.UNPROCESSABLE


def a_stranger() -> User:
    return User.objects.create_user("stranger")


def test_tasks_that_name_the_same_reviewer_look_the_person_up_once(world: World) -> None:
    tasks = [new(reviewer=world.reviewer.username) for _ in range(5)]
    with CaptureQueriesContext(connection) as asked:
        created = create(world, *tasks)
    assert isinstance(created, Created)
    assert sum('"auth_user"."username" = ' in each["sql"] for each in asked) == 1
