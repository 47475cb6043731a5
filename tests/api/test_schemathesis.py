"""Requests made from the OpenAPI document: no fault, and every answer as the document says it.

Each operation is called with whatever its schema allows, and again with ids and fences that exist, so that
the verbs themselves are reached. A few examples of each in every run; with ``FENCEPOST_LONG=1`` hundreds, and every boundary that the document names.
"""

from __future__ import annotations

import os
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from claims.models import Task
from claims.vocabulary import Scope
from tests.api.conftest import Caller, as_agent, claimed
from tests.api.test_effects import executing
from tests.support.effects import a_slot, with_slots
from tests.support.world import World

IS_LONG = bool(os.environ.get("FENCEPOST_LONG"))
EXAMPLES = 300 if IS_LONG else 6
ANSWERS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
BOUNDED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not IS_LONG,
    database=None,
    suppress_health_check=list(HealthCheck),
)

_handler = WSGIHandler()


def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """The site in this thread and on this test's connection, which the end of a request would close."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        answer = _handler(environ, start_response)
        content = list(answer)
        answer.close()
        return content
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


SCHEMA = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)
if not IS_LONG:
    SCHEMA.config.phases.update(phases=["fuzzing"])

Ground = dict[str, Any]


@pytest.fixture
def ground(world: World, agent: Caller, preparer: Caller) -> Ground:
    """Things that are there: a claim with an effect under way, a delivery, a token for each kind of call."""
    grant = claimed(world, agent, input=with_slots(a_slot(), evidence=[]))
    effect_id, permit_id = executing(agent, grant)
    delivery = world.delivered(world.agents[1])
    version = Task.objects.values_list("state_version", flat=True).get(id=grant["taskId"])
    return {
        "agent": as_agent(world.agents[0], scopes=[Scope.READ, Scope.CLAIM, Scope.DELIVER, Scope.TOOL]).token,
        "preparer": preparer.token,
        "path": {
            "pool": world.pool.name,
            "task_id": grant["taskId"],
            "attempt_id": grant["attemptId"],
            "effect_id": effect_id,
            "delivery_id": str(delivery.id),
            "sha256": "0" * 64,
        },
        "body": {
            "fence": grant["fence"],
            "pool": world.pool.name,
            "expectedStateVersion": version,
            "schedulerEpoch": world.epoch,
            "inputDigest": grant["inputDigest"],
            "permitId": permit_id,
            "slot": "mail",
            "input": with_slots(),
        },
    }


def headers(case: Any, ground: Ground) -> dict[str, str]:
    is_of_preparer = "tasks" in (case.operation.definition.raw.get("tags") or []) and case.method == "POST"
    token = ground["preparer" if is_of_preparer else "agent"]
    return {"Authorization": f"Bearer {token}", "Idempotency-Key": uuid4().hex}


def answered_as_described(case: Any, ground: Ground) -> int:
    """Make the call; its status. Raises where the answer is a fault or is not what the document says."""
    answer = case.call(headers=headers(case, ground))
    case.validate_response(answer, checks=ANSWERS)
    return int(answer.status_code)


@SCHEMA.parametrize()
@BOUNDED
def test_whatever_the_document_allows_is_answered_as_it_says(case: Any, ground: Ground) -> None:
    answered_as_described(case, ground)


@SCHEMA.parametrize()
@BOUNDED
def test_what_is_there_is_answered_as_the_document_says(case: Any, ground: Ground) -> None:
    named = case.path_parameters
    case.path_parameters = {name: ground["path"].get(name, value) for name, value in named.items()}
    if isinstance(case.body, dict):
        case.body = {name: ground["body"].get(name, value) for name, value in case.body.items()}
    if case.query and "waitSeconds" in case.query:
        case.query = {**case.query, "waitSeconds": 0}
    answered_as_described(case, ground)


def test_every_operation_is_described() -> None:
    assert len([each for each in SCHEMA.get_all_operations() if each.ok()]) >= 37
