"""The shape of what a reviewer says about one place of the evidence.

Promises: a comment is about the delivery as a whole or about exactly one place that its reader can find
again: a file of the diff or a line of it, a command's output or a line of it, a screenshot or a point of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MOST = 500
LONGEST_TEXT = 20_000
LONGEST_NAME = 1_000
LAST_LINE = 10_000_000
WHOLE = 1_000
"""A point is given in thousandths of the picture's width and height, so that it holds at any zoom."""

PLACES: Mapping[str, tuple[str, ...]] = {
    "path": ("line",),
    "command": ("stream", "line"),
    "screenshot": ("x", "y"),
}
"""What names the place, and what says where in it. ``path`` may be empty: the delivery as a whole."""
STREAMS = ("output",)
"""A command's stdout and stderr are kept as one, in the order in which they came."""
_BOUNDS = {"line": (1, LAST_LINE), "x": (0, WHOLE), "y": (0, WHOLE)}


def flaw_of(comments: Sequence[Mapping[str, object]]) -> str:
    """What is wrong with the comments of a decision, in a sentence; empty when nothing is."""
    if len(comments) > MOST:
        return f"A decision carries at most {MOST} comments, not {len(comments)}."
    flaws = (_flaw(number, comment) for number, comment in enumerate(comments, 1))
    return next((flaw for flaw in flaws if flaw), "")


def _flaw(number: int, comment: Mapping[str, object]) -> str:
    text = comment.get("text")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
        return f"Comment {number} needs a text of at most {LONGEST_TEXT} characters."
    names = [name for name in PLACES if name in comment]
    if len(names) > 1:
        return f"Comment {number} is about one place, not about {' and '.join(names)}."
    allowed = {"text", *names, *(PLACES[names[0]] if names else ())}
    unknown = sorted(set(comment) - allowed)
    if unknown:
        return f"Comment {number} has {unknown[0]}, which does not belong to it."
    return _flaw_of_place(number, names[0], comment) if names else ""


def _flaw_of_place(number: int, name: str, comment: Mapping[str, object]) -> str:
    where = comment[name]
    if not isinstance(where, str) or len(where) > LONGEST_NAME or not (where or name == "path"):
        return f"Comment {number} needs the name of its {name}, of at most {LONGEST_NAME} characters."
    if name == "command" and comment.get("stream") not in STREAMS:
        return f"Comment {number} names no stream of {where}; there is {STREAMS[0]}."
    if name == "screenshot" and comment.get("x") is None and comment.get("y") is None:
        return ""
    for part in PLACES[name]:
        lowest, highest = _BOUNDS.get(part, (0, 0))
        value = comment.get(part)
        if part not in _BOUNDS or (value is None and part == "line"):
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
            return f"Comment {number} needs {part} from {lowest} to {highest}."
    return ""
