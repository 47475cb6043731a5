"""Reading a JSON document strictly: what two readers could read differently is refused.

Promises: the value has one meaning in every language (RFC 7493, I-JSON) and fits the database:
no duplicate names, no NaN or infinities, no integers beyond 2^53 - 1, no NUL, no lone
surrogates, no byte order mark, at most ``MAX_DEPTH`` levels. It says nothing of the fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 64
MAX_PARTS = 100_000
MAX_INTEGER = 2**53 - 1

_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
"""A text, or the rest of the document where it does not end: so no start is ever tried in vain."""
_BRACKET = re.compile(r"[\[\]{}]")
_ESCAPED_TROUBLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


class Unreadable(ValueError):
    """The bytes are not one well-formed document; ``pointer`` is a JSON pointer where known."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer


def read_document(body: bytes) -> Any:
    """The JSON value in ``body``.

    Raises ``Unreadable`` for anything this module's promise excludes.
    """
    if body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("The body begins with a byte order mark; send plain UTF-8.")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"The body is not UTF-8 (byte {error.start}).") from error
    _bound(text)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Unreadable(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    if _ESCAPED_TROUBLE.search(text):
        _refuse_trouble(value)
    return value


def _bound(text: str) -> None:
    """Refuse depth and number of parts before anything recursive sees the text."""
    if text.count(",") + 1 >= MAX_PARTS:
        raise Unreadable(f"The body has {MAX_PARTS} parts or more.")
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > MAX_DEPTH:
            raise Unreadable(f"The body is nested more than {MAX_DEPTH} levels deep.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, value in pairs:
        if name in read:
            raise Unreadable(f"The name {name[:80]!r} appears twice in one object.")
        if not (name.isascii() and name.isprintable()) and _HIDDEN.search(name):
            raise Unreadable("A name holds control or invisible characters.")
        read[name] = value
    return read


def _integer(digits: str) -> int:
    if digits == "-0":
        raise Unreadable("Write 0, not -0.")
    if len(digits) > 17 or abs(int(digits)) > MAX_INTEGER:
        raise Unreadable("An integer is beyond 2^53 - 1.")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise Unreadable("A number is too large.")
    return number


def _constant(name: str) -> NoReturn:
    raise Unreadable(f"{name} is not JSON.")


_decoder = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant, strict=True
)


def _refuse_trouble(value: Any) -> None:
    for pointer, text in _texts(value):
        if "\x00" in text:
            raise Unreadable("A text holds the character U+0000.", pointer)
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise Unreadable("A text holds half of a surrogate pair.", pointer)


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Every text of a document with its pointer, names of fields included."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        pointer, part = waiting.pop()
        if isinstance(part, str):
            yield pointer, part
        elif isinstance(part, dict):
            yield from ((pointer, name) for name in part)
            waiting += [(f"{pointer}/{escape(name)}", inner) for name, inner in part.items()]
        elif isinstance(part, list):
            waiting += [(f"{pointer}/{position}", inner) for position, inner in enumerate(part)]


def escape(name: str) -> str:
    """A name as a token of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
