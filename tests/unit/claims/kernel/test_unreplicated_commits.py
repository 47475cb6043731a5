"""PostgreSQL's word during COMMIT that it stopped waiting for a standby makes the outcome unknown (section 7).

A standby would be needed to hear the real warning, so a deferred trigger gives one on the way to the
commit, and the name of the function that warns is exchanged for the one that gives that.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from claims import transitions
from claims.kernel import fate
from claims.outcomes import Left, Refused, Why
from tests.support.world import World, a_world

pytestmark = pytest.mark.django_db(transaction=True)

_WARN = """CREATE FUNCTION warn_of_standby() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE WARNING 'canceling wait for synchronous replication'; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER warn_of_standby AFTER INSERT ON claims_history DEFERRABLE INITIALLY DEFERRED
 FOR EACH ROW EXECUTE FUNCTION warn_of_standby()"""
_MEND = "DROP TRIGGER IF EXISTS warn_of_standby ON claims_history; DROP FUNCTION IF EXISTS warn_of_standby()"


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def world() -> Iterator[World]:
    """A world whose commits can be warned about; whatever a test leaves, they are not afterwards."""
    yield a_world()
    execute(_MEND)


def test_a_release_that_the_standby_may_not_have_is_unknown(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = world.claimed()
    execute(_WARN)
    monkeypatch.setattr(fate, "_SYNC_WAIT", "exec_stmt_raise")
    answer = transitions.release(world.caller(key="once"), granted.fence, "night")
    assert isinstance(answer, Refused)
    assert answer.why is Why.OUTCOME_UNKNOWN
    monkeypatch.undo()
    assert isinstance(transitions.release(world.caller(key="once"), granted.fence, "night"), Left)


def test_another_warning_during_the_commit_changes_no_answer(world: World) -> None:
    granted = world.claimed()
    execute(_WARN)
    assert isinstance(transitions.release(world.caller(), granted.fence, "night"), Left)
