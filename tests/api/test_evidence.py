"""Evidence over HTTP: bytes by their digest, names as data (scenarios, "Bad inputs" 79 to 82)."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from claims.models import EvidenceFile
from tests.api.conftest import Answer, Caller, as_agent, claimed
from tests.api.test_claims_protocol import write
from tests.api.test_main_path import ITEM, SHA256, upload
from tests.support.world import DIFF, World, a_specification


def test_an_empty_file_is_evidence(world: World, agent: Caller) -> None:
    grant = claimed(world, agent, input=a_specification(evidence=[{"kind": "log"}]))
    assert upload(agent, grant, b"") == 201
    item = {**ITEM, "kind": "log", "sha256": hashlib.sha256(b"").hexdigest(), "size": 0}
    assert write(agent, grant, "deliver", evidence=[item]).status == 200


def put(
    agent: Caller,
    grant: dict[str, Any],
    sha256: str,
    content: bytes,
    fence: str | None = None,
    **options: Any,
) -> Answer:
    numbers = grant["fence"]
    written = f"epoch={numbers['schedulerEpoch']}, generation={numbers['claimGeneration']}, cancel={numbers['cancelGeneration']}"
    headers = {"Fencepost-Fence": written if fence is None else fence} | options.pop("headers", {})
    return agent.put(f"/attempts/{grant['attemptId']}/files/{sha256}", content, headers=headers, **options)


def test_bytes_with_another_digest_are_dropped(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    answer = put(agent, grant, "0" * 64, DIFF)
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert not EvidenceFile.objects.filter(attempt_id=grant["attemptId"]).exists()


@pytest.mark.parametrize("sha256", ["x", "A" * 64, "a" * 63, "..", "%2e%2e", "a" * 63 + "%00"])
def test_a_file_is_named_by_its_digest_only(sha256: str, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    assert put(agent, grant, sha256, DIFF).status in (400, 404)


def test_an_upload_shows_its_fence(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    at = f"/attempts/{grant['attemptId']}/files/{SHA256}"
    assert agent.put(at, DIFF).status == 426
    assert put(agent, grant, SHA256, DIFF, "epoch=1").status == 426
    assert put(agent, grant, SHA256, DIFF, "epoch=1, generation=1").status == 400
    for written in (
        "epoch=x, generation=1, cancel=0",
        "epoch=1; generation=1",
        "epoch=1, epoch=1, generation=1, cancel=0",
        "rubbish",
    ):
        assert put(agent, grant, SHA256, DIFF, written).status == 400
    assert put(agent, grant, SHA256, DIFF, "epoch=1, generation=999, cancel=0").code == "FENCED"
    assert put(as_agent(world.agents[1]), grant, SHA256, DIFF).status == 404
    assert put(agent, grant, SHA256, DIFF, headers={"Content-Encoding": "gzip"}).status == 415
    assert put(agent, grant, SHA256, DIFF, content_type="text/html\n<x>").status == 400
    assert put(agent, grant, SHA256, DIFF).status == 201


NAMES = [
    "../../etc/passwd",
    "C:\\x",
    "a/b",
    ".",
    "..",
    "a;b",
    "\"quoted\" 'too'",
    "gpj\u202egpj.exe",
    "\U0001f9ea.txt",
    "CON",
    "é" * 200,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_evidence_is_data_and_never_a_path(name: str, world: World, agent: Caller) -> None:
    grant = claimed(world, agent, input=a_specification(evidence=[]))
    upload(agent, grant)
    answer = write(agent, grant, "deliver", evidence=[{**ITEM, "name": name}])
    assert answer.status == 200, answer.body
    seen = agent.get(f"/deliveries/{answer.body['deliveryId']}").body
    assert seen["evidence"][0]["name"] == name
    file = agent.get(f"/deliveries/{answer.body['deliveryId']}/files/{SHA256}")
    assert file.headers["Content-Disposition"] == f'attachment; filename="{SHA256}.bin"'


@pytest.mark.parametrize("name", ["", "x" * 256, "a\x00b", "a\nb", None, 5])
def test_a_name_of_evidence_that_is_none_is_400(name: Any, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    upload(agent, grant)
    assert write(agent, grant, "deliver", evidence=[{**ITEM, "name": name}]).status == 400


def test_two_pieces_of_evidence_do_not_share_a_name(world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    upload(agent, grant)
    answer = write(agent, grant, "deliver", evidence=[ITEM, ITEM])
    assert (answer.status, answer.code, answer.body["reasons"]) == (422, "UNPROCESSABLE", ["diff"])


@pytest.mark.parametrize("kind", ["video", "", None, 5, "DIFF"])
def test_a_kind_of_evidence_that_is_none_is_400(kind: Any, world: World, agent: Caller) -> None:
    grant = claimed(world, agent)
    assert write(agent, grant, "deliver", evidence=[{**ITEM, "kind": kind}]).status == 400
