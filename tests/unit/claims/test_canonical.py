"""Canonical JSON: one form for each value, and none for what JSON cannot carry exactly."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claims import canonical
from claims.canonical import NotCanonical, Subject
from tests.support.rows import an_item

SUBJECT = {
    "delivery_id": UUID(int=3),
    "round": 1,
    "input_digest": f"sha256:{'a' * 64}",
    "result_digest": f"sha256:{'b' * 64}",
    "attempt_id": UUID(int=2),
    "claim_generation": 5,
    "scheduler_epoch": 7,
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "value", [2**53, -(2**53), float("nan"), float("inf"), "\ud800", {"\udfff": 1}, {1: 2}, object()]
)
def test_what_json_cannot_carry_exactly_has_no_canonical_form(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical.canonical(value)


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_reading_the_canonical_form_gives_the_value_back(value: Any) -> None:
    read = json.loads(canonical.canonical(value))
    assert read == value
    assert canonical.canonical(read) == canonical.canonical(value)


def test_the_order_in_which_keys_were_written_does_not_matter() -> None:
    assert canonical.digest({"a": 1, "b": [2, {"d": 3, "c": 4}]}) == canonical.digest(
        {"b": [2, {"c": 4, "d": 3}], "a": 1}
    )


def test_text_is_taken_byte_for_byte() -> None:
    assert canonical.digest("\u00e9") != canonical.digest("e\u0301")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"sha256:{'a' * 64}", True),
        (f"sha256:{'A' * 64}", False),
        (f"sha512:{'a' * 64}", False),
        ("a" * 64, False),
        (f"sha256:{'a' * 63}", False),
        (f"sha256:{'a' * 64}\n", False),
        (f" sha256:{'a' * 64}", False),
    ],
)
def test_a_digest_is_written_in_one_way_only(text: str, expected: bool) -> None:
    assert canonical.is_digest(text) is expected


@pytest.mark.parametrize("field", list(SUBJECT))
def test_each_of_the_seven_values_moves_the_subject_digest(field: str) -> None:
    other: Any = {int: 99, str: f"sha256:{'f' * 64}", UUID: UUID(int=99)}[type(SUBJECT[field])]
    assert canonical.subject_digest(Subject(**SUBJECT)) != canonical.subject_digest(
        Subject(**{**SUBJECT, field: other})
    )  # type: ignore[arg-type]


def test_the_order_of_evidence_is_part_of_the_result() -> None:
    first, second = an_item("a"), an_item("b")
    assert canonical.result_digest({}, [first, second]) != canonical.result_digest({}, [second, first])


def test_a_predecessors_result_is_part_of_the_input_digest() -> None:
    assert canonical.input_digest({}, {}) != canonical.input_digest({}, {"a": f"sha256:{'a' * 64}"})
