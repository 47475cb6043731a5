"""The graph around a task as a picture: where each task stands, and the lines between them. Pure.

Promises: who is waited for stands left of who waits; every task says its state in a word beside its sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from claims.selectors.waiting import COUNTED, Graph, Waiting
from reviews.shell.words import SIGNS, Sign

WIDE, HIGH, GAP, BETWEEN, EDGE = 176, 46, 56, 14, 4
"""Of a task, in pixels; between two columns, and between two tasks of one."""
LETTERS = 26
"""Of a title, at most: more do not fit at 12 px."""


@dataclass(frozen=True, slots=True)
class Box:
    """One task in the picture."""

    x: int
    y: int
    task: Waiting
    sign: Sign
    title: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """The whole of it; ``more`` says in words what is left out."""

    width: int
    height: int
    boxes: Sequence[Box]
    lines: Sequence[str]
    label: str
    more: str


def picture_of(graph: Graph, lineage_id: UUID) -> Picture:
    """The picture around the task of this lineage."""
    known = {node.lineage_id: node for node in graph.nodes}
    columns = _columns(known)
    first = min(columns.values(), default=0)
    tallest = max((list(columns.values()).count(one) for one in set(columns.values())), default=1)
    filled: dict[int, int] = {}
    boxes: dict[UUID, Box] = {}
    for node in graph.nodes:
        column = columns[node.lineage_id] - first
        row = filled[column] = filled.get(column, -1) + 1
        count = list(columns.values()).count(column + first)
        top = EDGE + (tallest - count) * (HIGH + BETWEEN) // 2
        place = (EDGE + column * (WIDE + GAP), top + row * (HIGH + BETWEEN))
        sign = SIGNS["QUIET" if node.is_quiet else node.state]
        boxes[node.lineage_id] = Box(*place, node, sign, _short(node.title), node.lineage_id == lineage_id)
    lines = [
        _line(boxes[one], boxes[node.lineage_id])
        for node in graph.nodes
        for one in node.after
        if one in boxes
    ]
    wide = max((box.x for box in boxes.values()), default=0) + WIDE + EDGE
    own = boxes[lineage_id].task if lineage_id in boxes else None
    label = f"What {own} waits for, at its left, and what waits for it, at its right"
    return Picture(
        wide,
        2 * EDGE + tallest * (HIGH + BETWEEN) - BETWEEN,
        list(boxes.values()),
        lines,
        label,
        more_of(graph),
    )


def more_of(graph: Graph) -> str:
    """What the picture leaves out, in words; nothing where it is whole."""
    parts = [
        f"{count} that {words}"
        for count, words in ((graph.more_before, "it waits for"), (graph.more_after, "wait for it"))
        if count
    ]
    if not parts:
        return ""
    end = f"; beyond {COUNTED} on a side they are not counted" if graph.is_cut else ""
    return f"Not drawn: {' and '.join(parts)}, further away{end}."


def _columns(known: Mapping[UUID, Waiting]) -> dict[UUID, int]:
    """The column of each: one right of the last of those it waits for. The graph has no cycles."""
    found: dict[UUID, int] = {}
    waiting = dict(known)
    while waiting:
        ready = [key for key, node in waiting.items() if not any(one in waiting for one in node.after)]
        for key in ready or list(waiting):
            before = [found[one] for one in waiting.pop(key).after if one in found]
            found[key] = max(before, default=-1) + 1
    return found


def _short(title: str) -> str:
    return title if len(title) <= LETTERS else title[: LETTERS - 1].rstrip() + "…"


def _line(start: Box, end: Box) -> str:
    """From the right side of the one to the left side of the other."""
    x, y = start.x + WIDE, start.y + HIGH // 2
    to_x, to_y = end.x, end.y + HIGH // 2
    bend = max(GAP // 2, (to_x - x) // 2)
    return f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
