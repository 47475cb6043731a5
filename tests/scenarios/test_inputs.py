"""Bodies of all kinds: B53, B54, B55, B56, B57, B58, B68."""

from __future__ import annotations

import json
import time
from typing import Any
from uuid import UUID

import pytest

from claims.canonical import NotCanonical, canonical, digest
from claims.models import Task
from tests.api.conftest import Answer, Caller, claimed
from tests.support.records import no_change
from tests.support.world import World, a_specification

pytestmark = pytest.mark.django_db

SOON_SECONDS = 1.0
FIELDS = (
    "state", "owner", "claimGeneration", "schedulerEpoch", "pool", "createdBy", "is_staff", "deleted_at", "runner",
    "inputDigest", "stateVersion", "resultCommitId",
)  # fmt: skip


def progress(agent: Caller, grant: dict[str, Any], written: str) -> Answer:
    """A note about a claim, its last field as it is written here."""
    raw = f'{{"fence": {json.dumps(grant["fence"])}, {written}}}'.encode()
    return agent.call("POST", f"/attempts/{grant['attemptId']}/progress", raw=raw)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_b53_django_rest_framework_5235_a_number_that_is_none_is_400(
    world: World, agent: Caller, number: str
) -> None:
    grant = claimed(world, agent)
    with no_change(UUID(grant["taskId"])):
        answer = progress(agent, grant, f'"note": "x", "cost": {{"tokens": {number}}}')
    assert (answer.status, answer.code) == (400, "MALFORMED")


def test_b54_python_discord_bot_2183_a_nul_in_a_text_is_400_and_says_where(
    world: World, agent: Caller
) -> None:
    answer = progress(agent, claimed(world, agent), '"note": "a\\u0000b"')
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert "/note" in json.dumps(answer.body)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [65, 1_000, 40_000])
def test_b55_technocore_chat_130_a_deep_document_is_400_before_anything_recurses(
    world: World, agent: Caller, opening: str, depth: int
) -> None:
    began = time.monotonic()
    answer = progress(agent, claimed(world, agent), f'"note": {opening * depth}')
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert time.monotonic() - began < SOON_SECONDS * 10


@pytest.mark.parametrize("number", [2**31, 2**32, 2**53, 2**63, -(2**63) - 1])
def test_b56_baserow_955_a_number_beyond_a_column_is_400_in_a_body(
    world: World, agent: Caller, number: int
) -> None:
    task_id = world.task()
    body = {"expectedStateVersion": 1, "schedulerEpoch": world.epoch, "ttlSeconds": number}
    assert agent.post(f"/tasks/{task_id}/claim", body).status == 400
    if not 0 <= number < 2**53:
        body = {"expectedStateVersion": number, "schedulerEpoch": world.epoch}
        assert agent.post(f"/tasks/{task_id}/claim", body).status == 400


@pytest.mark.parametrize("written", ["2147483648", "9223372036854775808", "T-9223372036854775808", "-1"])
def test_b56_baserow_955_a_number_beyond_a_column_is_404_in_an_address(agent: Caller, written: str) -> None:
    assert agent.get(f"/tasks/{written}").status == 404


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1e6, b"1000000"),
        (4.50, b"4.5"),
        (1e30, b"1e+30"),
        (2e-3, b"0.002"),
        (1e-27, b"1e-27"),
        (-0.0, b"0"),
        ({"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7},
         '{"\\r":2,"1":4,"\x80":6,"\xf6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'.encode()),
        ({"I": 1, "i": 2, "\u0131": 3, "\u0130": 4}, '{"I":1,"i":2,"\u0130":4,"\u0131":3}'.encode()),
    ],
)  # fmt: skip
def test_b57_matrix_spec_1232_canonical_json_is_written_in_one_way(value: Any, written: bytes) -> None:
    assert canonical(value) == written


def test_b57_matrix_spec_1232_the_order_of_writing_makes_no_other_digest(world: World, agent: Caller) -> None:
    specification = a_specification()
    turned = dict(reversed(list(specification.items())))
    tasks = [world.task(input=each) for each in (specification, turned)]
    first, second = Task.objects.filter(id__in=tasks).values_list("input_digest", flat=True)
    assert first == second
    assert agent.get(f"/tasks/{tasks[0]}").body["inputDigest"] == first
    assert digest(specification) == digest(turned)


@pytest.mark.parametrize("value", [2**53, -(2**53), float("nan"), float("inf"), "\ud800"])
def test_b57_matrix_spec_1232_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)


@pytest.mark.parametrize("written", ['"note": "a", "note": "b"', '"note": "a", "\\u006eote": "b"'])
def test_b58_adcp_2523_a_name_that_is_there_twice_is_400(world: World, agent: Caller, written: str) -> None:
    answer = progress(agent, claimed(world, agent), written)
    assert (answer.status, answer.code) == (400, "MALFORMED")


@pytest.mark.parametrize("field", FIELDS)
def test_b68_plane_9460_a_field_that_is_not_the_callers_to_write_is_400(
    world: World, agent: Caller, preparer: Caller, field: str
) -> None:
    grant = claimed(world, agent)
    task_id, at = UUID(grant["taskId"]), f"/attempts/{grant['attemptId']}"
    fence = {"fence": grant["fence"], field: "x"}
    with no_change(task_id):
        answers = [
            agent.post(f"{at}/renew", {**fence, "extendSeconds": 60}),
            agent.post(f"{at}/release", {**fence, "reason": "x"}),
            agent.post(
                f"{at}/deliver", {**fence, "inputDigest": grant["inputDigest"], "result": {}} | {field: "x"}
            ),
            preparer.post(f"/tasks/{task_id}/adjust", {"title": "x", field: "x"}),
            preparer.post(f"/tasks/{task_id}/cancel", {"reason": "x", field: "x"}),
        ]
    assert [answer.status for answer in answers] == [400] * len(answers), [each.body for each in answers]
