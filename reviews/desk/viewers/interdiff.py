"""What changed between two diffs of the same file: the lines that one has and the other has not. Pure.

The two diffs are compared as texts, as ``git range-diff`` does: each line with its sign, without
line numbers, so that a change which only moved is no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from reviews.desk.viewers.patch import Hunk

MOST_LINES = 2_000
"""Lines of each diff that are compared; of more, only that they differ is said."""
AROUND = 2
"""Lines that both have, kept around a difference."""
_SIGNS = {"add": "+", "del": "−", "same": " "}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff in one round or both: ``kind`` is add, del or same; ``sign`` is its own in that diff."""

    kind: str
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Between:
    """The differing lines with a little around each; ``is_cut`` where there were too many to compare."""

    lines: tuple[Line, ...]
    came: int
    went: int
    is_cut: bool = False


def between(old: Sequence[Hunk], new: Sequence[Hunk]) -> Between:
    """From the older diff of a file to the newer one."""
    before, after = _texts(old), _texts(new)
    if max(len(before), len(after)) > MOST_LINES:
        return Between((), 0, 0, is_cut=before != after)
    lines: list[Line] = []
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            lines += [Line("same", sign, text) for sign, text in before[old_from:old_to]]
            continue
        lines += [Line("del", sign, text) for sign, text in before[old_from:old_to]]
        lines += [Line("add", sign, text) for sign, text in after[new_from:new_to]]
    came, went = (sum(line.kind == kind for line in lines) for kind in ("add", "del"))
    return Between(_near(lines), came, went)


def _texts(hunks: Sequence[Hunk]) -> list[tuple[str, str]]:
    return [(_SIGNS[row.kind], row.text) for hunk in hunks for row in hunk.rows]


def _near(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines no further than ``AROUND`` from a difference."""
    changed = [at for at, line in enumerate(lines) if line.kind != "same"]
    kept = {at for place in changed for at in range(place - AROUND, place + AROUND + 1)}
    return tuple(line for at, line in enumerate(lines) if at in kept)
