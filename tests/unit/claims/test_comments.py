"""A comment is about exactly one place that its reader can find again."""

from __future__ import annotations

from typing import Any

import pytest

from claims.comments import LONGEST_TEXT, MOST, flaw_of

WELL_FORMED: list[dict[str, Any]] = [
    {"text": "Once more."},
    {"path": "", "line": None, "text": "Once more."},
    {"path": "app/views.py", "line": 12, "text": "Name it rows."},
    {"path": "app/views.py", "text": "Name it rows."},
    {"command": "tests", "stream": "output", "line": 3, "text": "It is skipped."},
    {"command": "tests", "stream": "output", "line": None, "text": "It is skipped."},
    {"screenshot": "home-390", "text": "Too dark."},
    {"screenshot": "home-390", "x": 0, "y": 1_000, "text": "Cut off."},
]


@pytest.mark.parametrize("comment", WELL_FORMED, ids=str)
def test_each_kind_of_place_is_taken(comment: dict[str, Any]) -> None:
    assert flaw_of([comment]) == ""


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ({"path": "a", "line": 1, "text": " "}, "needs a text"),
        ({"path": "a", "line": 1, "text": "x" * (LONGEST_TEXT + 1)}, "needs a text"),
        ({"path": "a", "command": "b", "text": "t"}, "one place"),
        ({"path": "a", "line": 1, "x": 3, "text": "t"}, "x, which does not belong"),
        ({"line": 1, "text": "t"}, "line, which does not belong"),
        ({"path": 7, "text": "t"}, "name of its path"),
        ({"command": "", "stream": "output", "line": 1, "text": "t"}, "name of its command"),
        ({"command": "tests", "stream": "stderr", "line": 1, "text": "t"}, "no stream"),
        ({"command": "tests", "stream": "output", "line": 0, "text": "t"}, "line from 1"),
        ({"path": "a", "line": True, "text": "t"}, "line from 1"),
        ({"screenshot": "a", "x": 1_001, "y": 0, "text": "t"}, "x from 0 to 1000"),
        ({"screenshot": "a", "x": 10, "text": "t"}, "y from 0 to 1000"),
        ({"screenshot": "a", "x": -1, "y": 0, "text": "t"}, "x from 0 to 1000"),
    ],
)
def test_what_names_no_place_or_two_is_said(comment: dict[str, Any], words: str) -> None:
    assert words in flaw_of([{"text": "fine"}, comment])
    assert flaw_of([{"text": "fine"}, comment]).startswith("Comment 2 ")


def test_their_number_is_bounded() -> None:
    assert flaw_of([{"text": "t"}] * MOST) == ""
    assert str(MOST) in flaw_of([{"text": "t"}] * (MOST + 1))
