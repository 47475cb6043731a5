"""The fields of the form, and what each of them is in a template. Pure.

Promises: ``values_of`` never fails on what somebody has typed; a value that a field cannot show is
shown as nothing and, as long as nobody types there, is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedSeq
from ruamel.yaml.scalarstring import LiteralScalarString

Path = tuple[str | int, ...]

SINGLE: dict[str, tuple[Path, str]] = {
    "title": (("title",), "line"),
    "task": (("task",), "text"),
    "pool": (("pool",), "line"),
    "files": (("scope", "files"), "lines"),
    "excluded": (("scope", "excluded"), "lines"),
    "access": (("access",), "words"),
    "dependsOn": (("dependsOn",), "words"),
    "priority": (("priority",), "number"),
    "maxAttempts": (("maxAttempts",), "number"),
    "reclaim": (("reclaim",), "line"),
    "ttl": (("ttl",), "number"),
    "notBefore": (("notBefore",), "line"),
}
"""Each field that is there once: where it stands in a template, and its kind."""

ROWS: dict[str, dict[str, str]] = {
    "acceptance": {"text": "text", "proof": "text"},
    "evidence": {
        "kind": "line",
        "name": "line",
        "run": "line",
        "path": "line",
        "page": "line",
        "widths": "numbers",
        "criteria": "numbers",
    },
    "effects": {
        "slot": "line",
        "mode": "line",
        "target": "line",
        "serialKey": "line",
        "required": "flag",
        "permitSeconds": "number",
        "settleSeconds": "number",
        "lookup.kind": "line",
        "lookup.url": "line",
        "lookup.repository": "line",
        "lookup.ref": "line",
        "lookup.name": "line",
    },
}
"""The lists of a template and the fields of their entries; ``acceptance-2-proof`` names the second's proof."""

DECIDES = "decides"
"""Who decides, in one field: ``person:ines``, ``group:desk``, ``none`` for no review, or nothing."""

_ROW = re.compile(r"(acceptance|evidence|effects)-([1-9][0-9]{0,2})-([A-Za-z.]{1,20})")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a field stands in a template, and its kind."""

    path: Path
    kind: str


def place_of(name: str) -> Place | None:
    """The place of a field by its name in the form; None when there is no such field."""
    if name in SINGLE:
        return Place(*SINGLE[name])
    found = _ROW.fullmatch(name)
    if found is None or found[3] not in ROWS[found[1]]:
        return None
    return Place((found[1], int(found[2]) - 1, *found[3].split(".")), ROWS[found[1]][found[3]])


def values_of(body: Mapping[str, Any]) -> dict[str, str]:
    """What the form shows of a template, by the names of its fields."""
    values = {name: shown(kind, _at(body, path)) for name, (path, kind) in SINGLE.items()}
    values[DECIDES] = _decides(body)
    for name, columns in ROWS.items():
        for number, entry in enumerate(rows_in(body, name), 1):
            for column, kind in columns.items():
                values[f"{name}-{number}-{column}"] = shown(kind, _at(entry, tuple(column.split("."))))
    return values


def rows_in(body: Mapping[str, Any], name: str) -> Sequence[Any]:
    """The entries of a list of the template; none where it is no list."""
    found = body.get(name)
    return found if isinstance(found, list) else ()


def rows_of(values: Mapping[str, str], name: str) -> list[dict[str, Any]]:
    """The entries of a list as the form draws them: ``number``, and each field with dots as underscores."""
    count = max(
        (int(found[2]) for key in values if (found := _ROW.fullmatch(key)) and found[1] == name), default=0
    )
    return [
        {"number": number}
        | {column.replace(".", "_"): values.get(f"{name}-{number}-{column}", "") for column in ROWS[name]}
        for number in range(1, count + 1)
    ]


def shown(kind: str, value: Any) -> str:
    """A value of a template in a field of this kind."""
    if value is None or isinstance(value, dict):
        return ""
    if kind == "flag":
        return "yes" if value is True else ""
    if isinstance(value, list):
        words = [str(word) for word in value if not isinstance(word, dict | list)]
        return ("\n" if kind == "lines" else " ").join(words)
    return str(value).lower() if isinstance(value, bool) else str(value)


def written(kind: str, text: str) -> Any:
    """What a field's text is in a template; None for a field that is empty."""
    if not text.strip():
        return None
    if kind == "text":
        return LiteralScalarString(text) if "\n" in text.strip() else text.strip()
    if kind == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()]
    if kind == "number":
        return _number(text.strip())
    if kind in ("words", "numbers"):
        words = text.replace(",", " ").split()
        return _in_a_line([_number(word) for word in words] if kind == "numbers" else words)
    return True if kind == "flag" else " ".join(text.split())


def decides(word: str) -> dict[str, str | None]:
    """The keys of a template that a choice of who decides sets, and those it takes away (None)."""
    kind, _, name = word.partition(":")
    return {
        "reviewer": name if kind == "person" else None,
        "reviewerGroup": name if kind == "group" else None,
        "reviewPolicy": "NONE" if kind == "none" else None,
    }


def _decides(body: Mapping[str, Any]) -> str:
    if body.get("reviewPolicy") == "NONE":
        return "none"
    if body.get("reviewer"):
        return f"person:{shown('line', body['reviewer'])}"
    return f"group:{shown('line', body['reviewerGroup'])}" if body.get("reviewerGroup") else ""


def _number(text: str) -> int | str:
    """A whole number, or the text as it is, which the check then tells."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else text


def _in_a_line(words: Sequence[Any]) -> CommentedSeq:
    found = CommentedSeq(words)
    found.fa.set_flow_style()
    return found


def _at(body: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(step)
    return body
