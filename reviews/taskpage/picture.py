"""The graph around a task as a picture: where each task stands, and the lines between them. Pure.

Promises: who is waited for stands left of who waits; no line runs through a task; every task says its state in a word beside its sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from claims.selectors.waiting import COUNTED, Graph, Waiting
from reviews.shell.words import SIGNS, Sign

WIDE, HIGH, LANE = 176, 46, 10
"""Of a task in pixels, and how high the lane is in which a line passes a column."""
GAP, BETWEEN, EDGE = 56, 14, 4
"""Between two columns, between two tasks of one, and around all of it."""
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
    tops, height = _tops(known, columns)
    boxes = {
        key: Box(
            _left(columns[key]),
            tops[key, columns[key]],
            node,
            SIGNS["QUIET" if node.is_quiet else node.state],
            _short(node.title),
            key == lineage_id,
        )
        for key, node in known.items()
    }
    lines = [
        _line(boxes[one], boxes[key], [(at, tops[one, at]) for at in _between(columns, one, key)])
        for key, node in known.items()
        for one in node.after
        if one in known
    ]
    own = f"T-{known[lineage_id].number}" if lineage_id in known else "the task"
    label = f"What {own} waits for, at its left, and what waits for it, at its right"
    width = _left(max(columns.values(), default=0)) + WIDE + EDGE
    return Picture(width, height, list(boxes.values()), lines, label, more_of(graph))


def _left(column: int) -> int:
    return EDGE + column * (WIDE + GAP)


def _between(columns: Mapping[UUID, int], start: UUID, end: UUID) -> range:
    """The columns that a line passes through."""
    return range(columns[start] + 1, columns[end])


def _tops(
    known: Mapping[UUID, Waiting], columns: Mapping[UUID, int]
) -> tuple[dict[tuple[UUID, int], int], int]:
    """Where each task begins in its column, and the lane of each whose line passes through one; the height."""
    lanes = {(key, columns[key]): HIGH for key in known}
    for key, node in known.items():
        for one in node.after:
            passed = _between(columns, one, key) if one in known else ()
            lanes |= {(one, at): LANE for at in passed}
    by_column: dict[int, list[tuple[UUID, int]]] = {}
    for lane in sorted(lanes, key=lambda one: (one[1], lanes[one], known[one[0]].number)):
        by_column.setdefault(lane[1], []).append(lane)
    heights = {at: sum(lanes[one] + BETWEEN for one in found) for at, found in by_column.items()}
    tallest = max(heights.values(), default=HIGH + BETWEEN)
    tops: dict[tuple[UUID, int], int] = {}
    for at, found in by_column.items():
        top = EDGE + (tallest - heights[at]) // 2
        for lane in found:
            tops[lane] = top
            top += lanes[lane] + BETWEEN
    return tops, 2 * EDGE + tallest - BETWEEN


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


def _line(start: Box, end: Box, through: Sequence[tuple[int, int]]) -> str:
    """From the right side of the one to the left side of the other, along the lanes between them."""
    x, y = start.x + WIDE, start.y + HIGH // 2
    drawn = f"M{x} {y}"
    stops = [(_left(column), top + LANE // 2) for column, top in through]
    for number, (to_x, to_y) in enumerate([*stops, (end.x, end.y + HIGH // 2)]):
        bend = (to_x - x) // 2
        drawn += f"C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"
        x, y = to_x, to_y
        if number < len(stops):
            x += WIDE
            drawn += f"H{x}"
    return drawn
