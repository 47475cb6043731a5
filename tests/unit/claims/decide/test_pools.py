"""A pool's epoch and gate as pure decisions."""

from __future__ import annotations

import pytest

from claims import decide
from claims.decide import PoolAsRead
from claims.decide.rows import PersonRow
from claims.outcomes import GateSet, Refused, Why
from claims.rights import expand
from claims.vocabulary import Gate, Right
from tests.support.rows import EPOCH, NOW, POOL

OPERATOR = PoolAsRead(NOW, POOL, PersonRow(51, expand([Right.OPERATOR])))


def seen_by(*rights: Right) -> PoolAsRead:
    return PoolAsRead(NOW, POOL, PersonRow(51, expand(rights)))


def test_an_operator_raises_the_epoch_that_is_there() -> None:
    assert decide.raise_epoch(OPERATOR, EPOCH, "restored") is None


@pytest.mark.parametrize("expected", [EPOCH - 1, EPOCH + 1])
def test_another_epoch_is_a_conflict_that_says_the_one_there_is(expected: int) -> None:
    refused = decide.raise_epoch(OPERATOR, expected, "restored")
    assert isinstance(refused, Refused)
    assert refused.why is Why.EPOCH_CONFLICT
    assert refused.extra == {"schedulerEpoch": EPOCH, "gate": "OPEN"}


def test_a_gate_moves_only_where_it_does_not_stand_already() -> None:
    assert decide.gate(OPERATOR, Gate.DRAINING, "upgrade") is None
    assert decide.gate(OPERATOR, Gate.OPEN, "upgrade") == GateSet("billing", Gate.OPEN, EPOCH)


@pytest.mark.parametrize(
    ("seen", "reason", "expected"),
    [
        (seen_by(), "restored", Why.NOT_FOUND),
        (seen_by(Right.VIEWER), "restored", Why.FORBIDDEN),
        (seen_by(Right.REVIEWER, Right.PREPARER), "restored", Why.FORBIDDEN),
        (OPERATOR, "  ", Why.UNPROCESSABLE),
        (OPERATOR, "x" * 2_001, Why.MALFORMED),
    ],
)
def test_both_are_refused_for_the_same_reasons(seen: PoolAsRead, reason: str, expected: Why) -> None:
    for answer in (decide.raise_epoch(seen, EPOCH, reason), decide.gate(seen, Gate.OPEN, reason)):
        assert isinstance(answer, Refused)
        assert answer.why is expected


def test_an_administrator_is_an_operator_too() -> None:
    assert decide.raise_epoch(seen_by(Right.ADMIN), EPOCH, "restored") is None
