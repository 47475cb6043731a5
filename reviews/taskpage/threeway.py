"""Two people changed the same fields: what each began from, what is there now, what is wanted. Pure.

Promises: a change that one of them made is never undone by the other's; where both changed a field,
yours stands in the merge and the field is named, so that a person settles it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which the three are not all the same. ``None`` stands for a field that is not there."""

    base: Any
    now: Any
    yours: Any

    @property
    def is_mine(self) -> bool:
        """Whether you changed it."""
        return bool(self.yours != self.base)

    @property
    def is_theirs(self) -> bool:
        """Whether it was changed since you began."""
        return bool(self.now != self.base)

    @property
    def is_to_settle(self) -> bool:
        """Whether both changed it, and not to the same."""
        return self.is_mine and self.is_theirs and bool(self.now != self.yours)

    @property
    def merged(self) -> Any:
        """What the merge takes: yours where you changed it, else what is now."""
        return self.yours if self.is_mine else self.now


@dataclass(frozen=True, slots=True)
class Row:
    """One field that differs, in words; an empty text is a field that is not there."""

    name: str
    base: str
    now: str
    yours: str
    difference: Difference


def compared(
    base: Mapping[Key, Any], now: Mapping[Key, Any], yours: Mapping[Key, Any]
) -> dict[Key, Difference]:
    """The fields that differ, in the order of ``base``, then those that are new."""
    keys = dict.fromkeys((*base, *now, *yours))
    found = {key: Difference(base.get(key), now.get(key), yours.get(key)) for key in keys}
    return {key: one for key, one in found.items() if one.is_mine or one.is_theirs}


def merged(base: Mapping[Key, Any], now: Mapping[Key, Any], yours: Mapping[Key, Any]) -> dict[Key, Any]:
    """All fields after the merge; one that the merge takes away is left out."""
    changed = compared(base, now, yours)
    keys = dict.fromkeys((*now, *yours))
    values = {key: changed[key].merged if key in changed else now.get(key) for key in keys}
    return {key: value for key, value in values.items() if value is not None}
