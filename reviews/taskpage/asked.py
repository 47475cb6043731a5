"""What a task asks for, field by field and item by item (claim.v1 section 9), to be compared and merged. Pure.

Promises: an item keeps its name through the three sides of a comparison when its text was changed or
others were put before it; evidence that names a criterion names the same one after a merge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from reviews.taskpage import threeway
from reviews.taskpage.threeway import Difference, Row

Key = tuple[str, str]
"""The field, and the name of the item where the field is a list."""

LISTS: dict[str, tuple[str, ...]] = {
    "files": ("scope", "files"),
    "excluded": ("scope", "excluded"),
    "access": ("access",),
    "acceptance": ("acceptance",),
    "evidence": ("evidence",),
    "effects": ("effects",),
}
"""Each list of an input, and where it stands."""

_WORDS = {
    "title": "Title",
    "task": "Task",
    "files": "File in scope",
    "excluded": "Excluded file",
    "access": "Label",
    "acceptance": "Criterion",
    "evidence": "Evidence",
    "effects": "Effect",
}
_SIGNS = {"acceptance": ("text",), "evidence": ("name", "kind", "run", "path", "page"), "effects": ("slot",)}
"""By what an item is known again."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison. ``order`` holds the names of the items of each list as they stand."""

    fields: Mapping[Key, Any]
    order: Mapping[str, Sequence[str]]

    def number(self, name: str) -> int | None:
        """Which criterion this is here; None where it is not there."""
        known = self.order["acceptance"]
        return known.index(name) + 1 if name in known else None


def sides_of(
    base: Mapping[str, Any], now: Mapping[str, Any], yours: Mapping[str, Any]
) -> tuple[Side, Side, Side]:
    """The three sides of a comparison. Each body is an input with its ``title``."""
    own = {list_: [str(at) for at, _ in enumerate(_items(base, list_), 1)] for list_ in LISTS}
    orders = [
        own,
        *(
            {list_: _names(list_, _items(base, list_), own[list_], _items(body, list_)) for list_ in LISTS}
            for body in (now, yours)
        ),
    ]
    one, two, three = (_side(body, order) for body, order in zip((base, now, yours), orders, strict=True))
    return one, two, three


def rows_of(base: Side, now: Side, yours: Side) -> list[Row]:
    """Every field that differs, in words."""
    changed = threeway.compared(base.fields, now.fields, yours.fields)
    return [
        Row(
            _name(key, one, (base, now, yours)),
            shown(one.base, base),
            shown(one.now, now),
            shown(one.yours, yours),
            one,
        )
        for key, one in changed.items()
    ]


def merged(base: Side, now: Side, yours: Side) -> dict[str, Any]:
    """The body after the merge, with its title; an empty list is left out."""
    fields = threeway.merged(base.fields, now.fields, yours.fields)
    order = {list_: _order(list_, fields, now.order[list_], yours.order[list_]) for list_ in LISTS}
    whole = Side(fields, order)
    body: dict[str, Any] = {name: fields[name, ""] for name in ("title", "task") if (name, "") in fields}
    for list_, path in LISTS.items():
        items = [_numbered(fields[list_, name], whole) for name in order[list_]]
        if items:
            (body if len(path) == 1 else body.setdefault(path[0], {}))[path[-1]] = items
    return body


def shown(value: Any, side: Side) -> str:
    """A value in words, a line for each of its keys."""
    if not isinstance(value, dict):
        return "" if value is None else str(value)
    return "\n".join(f"{key}: {_plain(part)}" for key, part in _numbered(value, side).items())


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        ", ".join(f"{key} {part}" for key, part in value.items()) if isinstance(value, dict) else str(value)
    )


def _name(key: Key, one: Difference, sides: tuple[Side, Side, Side]) -> str:
    field, item = key
    if field == "acceptance":
        known = next((number for side in sides if (number := side.number(item))), None)
        return f"Criterion {known}" + (" (new)" if one.base is None else "")
    value = next((value for value in (one.base, one.now, one.yours) if isinstance(value, dict)), {})
    said = value.get("slot") or value.get("name") or value.get("kind") or ""
    return f"{_WORDS[field]} {said}".strip()


def _items(body: Mapping[str, Any], list_: str) -> list[Any]:
    """The items of a list without what says nothing; none where it is no list."""
    found: Any = body
    for step in LISTS[list_]:
        found = found.get(step) if isinstance(found, Mapping) else None
    return [_bare(item) for item in found] if isinstance(found, list) else []


def _bare(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    return {
        str(key): value
        for key, value in item.items()
        if not (value is None or value is False or value in ("", [], {}))
    }


def _names(list_: str, base: Sequence[Any], known: Sequence[str], items: Sequence[Any]) -> list[str]:
    """The names of items, those of ``base`` where they are the same ones or stand in their place."""
    before, after = ([_sign(list_, item) for item in each] for each in (base, items))
    names = [""] * len(items)
    for what, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what in ("equal", "replace"):
            for at, name in zip(range(start, end), known[first:last], strict=False):
                names[at] = name
    taken = set(names)
    for at, name in enumerate(names):
        if not name:
            names[at] = _fresh(after[at], taken)
            taken.add(names[at])
    return names


def _fresh(sign: str, taken: set[str]) -> str:
    """A name for an item that is new: the same one where both sides put the same."""
    name, count = f"+{sign}", 1
    while name in taken:
        count += 1
        name = f"+{count} {sign}"
    return name


def _sign(list_: str, item: Any) -> str:
    keys = _SIGNS.get(list_)
    if keys is None or not isinstance(item, dict):
        return str(item)
    return json.dumps([item.get(key) for key in keys], sort_keys=True)


def _side(body: Mapping[str, Any], order: Mapping[str, Sequence[str]]) -> Side:
    fields: dict[Key, Any] = {
        (name, ""): str(body[name]) for name in ("title", "task") if body.get(name) is not None
    }
    for list_ in LISTS:
        for name, item in zip(order[list_], _items(body, list_), strict=True):
            fields[list_, name] = _named(item, order["acceptance"])
    return Side(fields, order)


def _named(item: Any, criteria: Sequence[str]) -> Any:
    """An item whose criteria are names instead of numbers."""
    if not isinstance(item, dict) or not isinstance(item.get("criteria"), list):
        return item
    known = [
        criteria[one - 1] for one in item["criteria"] if isinstance(one, int) and 0 < one <= len(criteria)
    ]
    return {**item, "criteria": known}


def _numbered(item: Any, side: Side) -> Any:
    """The same with numbers again; a criterion that is gone is named no more."""
    if not isinstance(item, dict) or "criteria" not in item:
        return item
    numbers = sorted(number for name in item["criteria"] if (number := side.number(name)))
    return _bare({**item, "criteria": numbers})


def _order(list_: str, fields: Mapping[Key, Any], now: Sequence[str], yours: Sequence[str]) -> list[str]:
    """What is now in its order, and each of yours behind what it stands behind there."""
    order = [name for name in now if (list_, name) in fields]
    before = ""
    for name in yours:
        if (list_, name) not in fields:
            continue
        if name not in order:
            order.insert(order.index(before) + 1 if before else 0, name)
        before = name
    return order
