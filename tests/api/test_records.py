"""The record of a task over HTTP: an in-toto statement that the client verifies, and nothing before there is a result."""

from __future__ import annotations

import json

from claims import transitions
from claims.outcomes import Committed
from claims.selectors import provenance
from client.records import parsed
from client.verifying import verify
from tests.api.conftest import Caller, as_agent, claimed
from tests.support.world import World, a_world, judgement


def test_the_record_of_a_done_task_is_a_statement_that_holds(
    world: World, agent: Caller, preparer: Caller
) -> None:
    delivery = world.delivered()
    accepted = transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert isinstance(accepted, Committed)

    for caller in (agent, preparer):
        answer = caller.get(f"/tasks/{delivery.task_id}/record")
        assert answer.status == 200
        statement = parsed(json.dumps(answer.body).encode())
        verify(statement)
        assert statement["_type"] == provenance.STATEMENT_TYPE
        assert statement["predicate"]["commit"]["commitId"] == str(accepted.result_commit_id)


def test_a_task_without_a_result_has_no_record(world: World, agent: Caller) -> None:
    answer = agent.get(f"/tasks/{claimed(world, agent)['taskId']}/record")

    assert (answer.status, answer.code) == (404, "NOT_FOUND")
    assert "no record yet" in answer.body["detail"]


def test_the_record_of_a_pool_one_does_not_see_is_not_found(world: World) -> None:
    delivery = world.delivered()
    transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    stranger = as_agent(a_world().agents[0])

    assert stranger.get(f"/tasks/{delivery.task_id}/record").status == 404
