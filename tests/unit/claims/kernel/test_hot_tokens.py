"""Who is known by a token read a moment ago gets nothing in one round trip once that token has ended (section 4)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from claims import kernel, tokens
from claims.callers import Caller
from claims.models import AgentPool, Token
from claims.outcomes import Granted
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy
from tests.support.records import no_change
from tests.support.world import World, a_specification

pytestmark = pytest.mark.django_db

NOTHING = StagedResult({"done": True}, [])


def ended(world: World, caller: Caller, how: str) -> None:
    if how == "revoked":
        tokens.revoke(caller.token_id or 0)
    elif how == "run out":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            long_ago = cursor.fetchone()[0] - timedelta(days=1)
        Token.objects.filter(id=caller.token_id).update(expires_at=long_ago)
    else:
        AgentPool.objects.filter(agent=world.agents[0], pool=world.pool).delete()


@pytest.fixture
def caller(sandbox: World) -> Caller:
    return replace(sandbox.caller(), token_id=tokens.mint(agent_id=sandbox.agents[0].id).id)


each_end = pytest.mark.parametrize("how", ["revoked", "run out", "of another pool"])


@each_end
def test_a_token_that_has_ended_claims_nothing(sandbox: World, caller: Caller, how: str) -> None:
    task_id = sandbox.task()
    ended(sandbox, caller, how)
    with no_change(task_id):
        assert kernel.hot.claim_next(caller, sandbox.pool.id, sandbox.epoch, None) is None


@each_end
def test_a_token_that_has_ended_commits_nothing(sandbox: World, caller: Caller, how: str) -> None:
    plain = a_specification(evidence=[])
    granted = sandbox.claimed(review_policy=ReviewPolicy.NONE, input=plain)
    ended(sandbox, caller, how)
    with no_change(granted.fence.task_id):
        answer = kernel.hot.commit(
            caller, granted.fence, granted.input_digest, NOTHING.result, NOTHING.digest
        )
        assert answer is None


def test_a_token_that_stands_claims(sandbox: World, caller: Caller) -> None:
    sandbox.task()
    assert isinstance(kernel.hot.claim_next(caller, sandbox.pool.id, sandbox.epoch, None), Granted)
