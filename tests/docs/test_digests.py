"""The vectors published in docs/reference/digests.md are what the code computes."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from claims import canonical
from claims.canonical import Item, Subject

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "digests.md"
VECTOR = re.compile(
    r"^### (?P<name>.+?)\n\n```json\n(?P<value>.+?)\n```\n```canonical\n(?P<canonical>.+?)\n```\n`(?P<digest>sha256:[0-9a-f]{64})`$",
    re.MULTILINE | re.DOTALL,
)
VECTORS = {found["name"]: found for found in VECTOR.finditer(PAGE.read_text(encoding="utf-8"))}

EFFECT = re.compile(
    r"^\| `(?P<task>[0-9a-f-]{36})` \| (?P<node>`[^`]+`|\(empty\)) \| `(?P<slot>[^`]+)` \| `(?P<id>[0-9a-f]{64})` \|$",
    re.MULTILINE,
)
EFFECTS = [found.groupdict() for found in EFFECT.finditer(PAGE.read_text(encoding="utf-8"))]


def value(name: str) -> Any:
    return json.loads(VECTORS[name]["value"])


def test_every_vector_of_the_page_is_read() -> None:
    headings = re.findall(r"^### (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert list(VECTORS) == headings
    assert {"Input digest", "Result digest", "Subject digest"} <= set(headings)


@pytest.mark.parametrize("name", list(VECTORS))
def test_a_published_vector_has_the_published_bytes_and_digest(name: str) -> None:
    assert canonical.canonical(value(name)).decode() == VECTORS[name]["canonical"]
    assert canonical.digest(value(name)) == VECTORS[name]["digest"]


def test_the_published_input_digest_is_that_of_a_task() -> None:
    published = value("Input digest")
    assert canonical.input_digest(published["input"], {}) == VECTORS["Input digest"]["digest"]


def test_the_published_result_digest_is_that_of_a_staged_result() -> None:
    published = value("Result digest")
    items = [
        Item(
            each["name"],
            each["kind"],
            each["sha256"],
            each["size"],
            each["mediaType"],
            tuple(each["criteria"]),
            each["meta"],
        )
        for each in published["evidence"]
    ]
    assert canonical.result_digest(published["result"], items) == VECTORS["Result digest"]["digest"]


def test_the_published_subject_digest_is_that_of_a_delivery() -> None:
    published = value("Subject digest")
    subject = Subject(
        UUID(published["deliveryId"]),
        published["round"],
        published["inputDigest"],
        published["resultDigest"],
        UUID(published["attemptId"]),
        published["claimGeneration"],
        published["schedulerEpoch"],
    )
    assert canonical.subject_digest(subject) == VECTORS["Subject digest"]["digest"]


def test_a_subject_is_exactly_the_seven_values_the_page_names() -> None:
    row = next(
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| subject digest")
    )
    assert set(value("Subject digest")) == set(re.findall(r"`([a-zA-Z]+)`", row.split("; ids")[0]))


def node_of(effect: dict[str, str]) -> str:
    return "" if effect["node"] == "(empty)" else effect["node"].strip("`")


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect["id"][:12])
def test_a_published_effect_id_is_what_the_code_computes(effect: dict[str, str]) -> None:
    assert canonical.effect_id(UUID(effect["task"]), node_of(effect), effect["slot"]) == effect["id"]


def test_the_published_bytes_of_the_first_effect_id_have_that_digest() -> None:
    written = PAGE.read_text(encoding="utf-8").split("in hexadecimal:\n\n```\n")[1].split("\n```")[0]
    assert hashlib.sha256(bytes.fromhex(written)).hexdigest() == EFFECTS[0]["id"]


def test_effect_ids_are_published_with_and_without_a_node_and_are_all_different() -> None:
    assert {bool(node_of(effect)) for effect in EFFECTS} == {True, False}
    assert len({effect["id"] for effect in EFFECTS}) == len(EFFECTS) == 4
    letters = {node_of(effect) + effect["slot"] for effect in EFFECTS}
    assert len(letters) < len(EFFECTS), "two are made of the same letters"
