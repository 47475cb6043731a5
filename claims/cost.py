"""What an attempt has cost: seconds, tokens, money and free labels, each a total so far.

Promises: a cost that is kept is well-formed, and no total of it is below what was told before.
Whether the work was accepted or discarded is not said here: that is how its attempt ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal

MOST_SECONDS = 10**9
MOST_TOKENS = 2**53 - 1
MOST_LABELS = 50
LONGEST_NAME = 60
LONGEST_TEXT = 200

_AMOUNT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)


class CostInvalid(ValueError):
    """Why a cost is none, in one sentence for whoever sent it."""


def check(told: Mapping[str, object]) -> None:
    """Raise ``CostInvalid`` for a cost that is not well-formed. Every part may be left out."""
    for name, value in told.items():
        if name not in _PARTS:
            raise CostInvalid(f"cost has no part {name[:60]!r}; it has {', '.join(_PARTS)}.")
        if value is not None:
            _PARTS[name](value)


def total(told: Mapping[str, object], before: Mapping[str, object] | None) -> dict[str, object]:
    """The cost after ``told``: what it leaves out stays as it was told before.

    Raises ``CostInvalid`` when it is not well-formed, or a total falls.
    """
    check(told)
    said = {name: value for name, value in told.items() if value is not None}
    if before is None:
        return said
    for name in ("seconds", "tokens"):
        if name in said and name in before and _number(said[name]) < _number(before[name]):
            raise CostInvalid(f"cost.{name} is a total so far and was {before[name]}; it cannot fall.")
    if "money" in said and "money" in before:
        _spends_on(said["money"], before["money"])
    labels = {**_mapping(before.get("labels")), **_mapping(said.get("labels"))}
    return {**before, **said, **({"labels": labels} if labels else {})}


def _spends_on(money: object, before: object) -> None:
    now, then = _mapping(money), _mapping(before)
    if now["currency"] != then["currency"]:
        raise CostInvalid(f"cost.money is a total in {then['currency']}; its currency cannot change.")
    if Decimal(str(now["amount"])) < Decimal(str(then["amount"])):
        raise CostInvalid(f"cost.money is a total so far and was {then['amount']}; it cannot fall.")


def _check_seconds(value: object) -> None:
    if not _is_number(value) or not 0 <= _number(value) <= MOST_SECONDS:
        raise CostInvalid(f"cost.seconds is a number from 0 to {MOST_SECONDS}.")


def _check_tokens(value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
        raise CostInvalid(f"cost.tokens is a whole number from 0 to {MOST_TOKENS}.")


def _check_money(value: object) -> None:
    money = value if isinstance(value, Mapping) else {}
    amount, currency = money.get("amount"), money.get("currency")
    is_amount = isinstance(amount, str) and _AMOUNT.fullmatch(amount) is not None
    is_currency = isinstance(currency, str) and _CURRENCY.fullmatch(currency) is not None
    if set(money) != {"amount", "currency"} or not is_amount or not is_currency:
        raise CostInvalid('cost.money is like {"amount": "0.42", "currency": "EUR"}: decimals as text.')


def _check_labels(value: object) -> None:
    if not isinstance(value, Mapping) or len(value) > MOST_LABELS:
        raise CostInvalid(f"cost.labels are at most {MOST_LABELS} names, each with a text or a number.")
    for name, content in value.items():
        is_number = _is_number(content) and abs(_number(content)) <= MOST_TOKENS
        if not _is_text(name, 1, LONGEST_NAME) or not (is_number or _is_text(content, 0, LONGEST_TEXT)):
            raise CostInvalid(
                f"A name in cost.labels has 1 to {LONGEST_NAME} characters, and holds a number"
                f" or a text of at most {LONGEST_TEXT}."
            )


_PARTS: dict[str, Callable[[object], None]] = {
    "seconds": _check_seconds,
    "tokens": _check_tokens,
    "money": _check_money,
    "labels": _check_labels,
}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: object, shortest: int, longest: int) -> bool:
    return isinstance(value, str) and shortest <= len(value) <= longest and "\x00" not in value


def _number(value: object) -> float:
    """A value that was checked to be a number."""
    return value if isinstance(value, int | float) else 0


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
