"""A cost that is kept is well-formed, and its totals never fall."""

from __future__ import annotations

import math
from typing import Any

import pytest

from claims.cost import CostInvalid, total

EUROS = {"amount": "0.42", "currency": "EUR"}


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"seconds": 0},
        {"seconds": 1.5, "tokens": 2**53 - 1},
        {"money": EUROS},
        {"money": {"amount": "12", "currency": "USD"}},
        {"labels": {"model": "large", "calls": 3, "share": 0.5, "none": ""}},
        {"tokens": None},
    ],
)
def test_every_part_may_be_told_or_left_out(told: dict[str, Any]) -> None:
    assert total(told, None) == {name: value for name, value in told.items() if value is not None}


@pytest.mark.parametrize(
    "told",
    [
        {"minutes": 1},
        {"seconds": -1},
        {"seconds": "1"},
        {"seconds": True},
        {"seconds": math.nan},
        {"seconds": math.inf},
        {"seconds": 10**400},
        {"tokens": -1},
        {"tokens": 1.5},
        {"tokens": True},
        {"tokens": 2**53},
        {"money": "0.42 EUR"},
        {"money": {"amount": "0.42"}},
        {"money": {"amount": 0.42, "currency": "EUR"}},
        {"money": {"amount": "-1", "currency": "EUR"}},
        {"money": {"amount": "1e5", "currency": "EUR"}},
        {"money": {"amount": "1", "currency": "eur"}},
        {"money": {**EUROS, "rate": "1"}},
        {"labels": ["model"]},
        {"labels": {"": 1}},
        {"labels": {"x" * 61: 1}},
        {"labels": {"model": "x" * 201}},
        {"labels": {"model": "\x00"}},
        {"labels": {"model": None}},
        {"labels": {"model": {"name": "large"}}},
        {"labels": {"n": math.nan}},
        {"labels": {"n": True}},
        {"labels": {str(number): 1 for number in range(51)}},
    ],
)
def test_what_is_no_cost_is_told_in_a_sentence(told: dict[str, Any]) -> None:
    with pytest.raises(CostInvalid) as error:
        total(told, None)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ({"seconds": 5}, {"seconds": 4.9}),
        ({"tokens": 12}, {"tokens": 11}),
        ({"money": EUROS}, {"money": {"amount": "0.41", "currency": "EUR"}}),
        ({"money": EUROS}, {"money": {"amount": "9", "currency": "USD"}}),
    ],
)
def test_a_total_does_not_fall(before: dict[str, Any], told: dict[str, Any]) -> None:
    with pytest.raises(CostInvalid):
        total(told, before)


def test_what_is_left_out_stays_as_it_was() -> None:
    before = {"seconds": 5, "tokens": 12, "money": EUROS, "labels": {"model": "large"}}
    more = {"tokens": 13, "money": {"amount": "0.5", "currency": "EUR"}, "labels": {"calls": 2}}
    assert total(more, before) == {
        "seconds": 5,
        "tokens": 13,
        "money": {"amount": "0.5", "currency": "EUR"},
        "labels": {"model": "large", "calls": 2},
    }


def test_the_same_totals_again_are_no_fall() -> None:
    told = {"seconds": 5, "tokens": 12, "money": EUROS}
    assert total(told, told) == told
