"""A COMMIT whose fate nobody can look up is answered as unknown, never as a success or a failure by guess."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from claims import transitions
from claims.outcomes import Progressed, Refused, Why
from tests.support.world import World, a_world

pytestmark = pytest.mark.django_db(transaction=True)

_CUT = """CREATE FUNCTION cut_off_progress() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER cut_off_progress AFTER UPDATE ON claims_attempt DEFERRABLE INITIALLY DEFERRED
 FOR EACH ROW EXECUTE FUNCTION cut_off_progress()"""
_MEND = (
    "DROP TRIGGER IF EXISTS cut_off_progress ON claims_attempt; DROP FUNCTION IF EXISTS cut_off_progress()"
)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def world() -> Iterator[World]:
    """A world whose commits can be cut off; whatever a test leaves, they are not afterwards."""
    yield a_world()
    connection.close()
    execute(_MEND)


def test_progress_whose_commit_is_cut_off_is_unknown_and_may_be_asked_again(world: World) -> None:
    granted = world.claimed()
    execute(_CUT)
    answer = transitions.progress(world.caller(), granted.fence, "halfway")
    assert isinstance(answer, Refused)
    assert answer.why is Why.OUTCOME_UNKNOWN
    execute(_MEND)
    assert isinstance(transitions.progress(world.caller(), granted.fence, "halfway"), Progressed)
