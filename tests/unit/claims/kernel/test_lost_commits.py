"""A connection that ends while COMMIT is on its way: PostgreSQL is asked what became of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from claims import transitions
from claims.models import Task
from claims.outcomes import Committed, Left, Refused, Why
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy, State
from tests.support.world import World, a_specification, a_world

pytestmark = pytest.mark.django_db(transaction=True)

_CUT = """CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER cut_off AFTER INSERT ON claims_history DEFERRABLE INITIALLY DEFERRED
 FOR EACH ROW EXECUTE FUNCTION cut_off()"""
_MEND = "DROP TRIGGER IF EXISTS cut_off ON claims_history; DROP FUNCTION IF EXISTS cut_off()"


@pytest.fixture
def world() -> World:
    return a_world(allows_unreviewed=True)


@pytest.fixture
def mended(world: World) -> Iterator[None]:
    """Whatever a test leaves, the trigger is gone afterwards."""
    yield
    connection.close()
    execute(_MEND)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_a_release_whose_commit_is_known_to_have_failed_says_that_nothing_was_changed(
    world: World, mended: None
) -> None:
    granted = world.claimed()
    caller = world.caller(key="once")
    execute(_CUT)
    answer = transitions.release(caller, granted.fence, "not mine")
    assert isinstance(answer, Refused)
    assert answer.why is Why.BUSY
    execute(_MEND)
    assert isinstance(transitions.release(caller, granted.fence, "not mine"), Left)


def test_a_commit_in_one_round_trip_that_is_cut_off_is_unknown_and_may_be_asked_again(
    world: World, mended: None
) -> None:
    granted = world.claimed(input=a_specification(evidence=[]), review_policy=ReviewPolicy.NONE)

    def commit() -> object:
        return transitions.commit(
            world.caller(), granted.fence, granted.input_digest, staged=StagedResult({"done": True}, [])
        )

    execute(_CUT)
    answer = commit()
    assert isinstance(answer, Refused)
    assert answer.why is Why.OUTCOME_UNKNOWN
    execute(_MEND)
    assert isinstance(commit(), Committed)
    assert Task.objects.get(id=granted.fence.task_id).state == State.DONE
