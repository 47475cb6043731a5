"""A refusal that comes after something was written takes all of it back."""

from __future__ import annotations

import pytest

from claims import transitions
from claims.models import Task
from claims.outcomes import Why
from claims.transitions import Answer
from tests.support.records import no_change, why
from tests.support.world import World, a_specification

pytestmark = pytest.mark.django_db


def test_a_revision_that_answers_for_an_effect_that_never_was_leaves_nothing_behind(world: World) -> None:
    task_id = world.task()
    before = Task.objects.count()
    with no_change(task_id):
        answer = transitions.revise(
            world.person(world.preparer),
            task_id,
            1,
            a_specification(task="Say it in French"),
            answers=[Answer("e" * 64, counts=True)],
        )
        assert why(answer) is Why.UNPROCESSABLE
    assert Task.objects.count() == before
