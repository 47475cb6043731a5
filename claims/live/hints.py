"""What goes over the wire to open pages, and to which group. Pure.

A hint says that something of a pool and a task changed, never what: the page asks for that over
HTTP, where rights are checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from claims.selectors.feed import Told

EVERYBODY = "live.everybody"
"""The group of all open pages. Each page's consumer passes on what its person may hear."""
MOST_HINTS = 200
"""Hints in one message; a pool beyond its even share has one hint without a task, which stands for all."""


def coalesced(rows: Iterable[Told]) -> dict[str, Any] | None:
    """One message for all that was read: a hint a task with its verbs, and the highest sequence of each pool."""
    sequences: dict[str, int] = {}
    hints: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        sequences[row.pool] = max(sequences.get(row.pool, 0), row.id)
        hint = hints.setdefault(row.pool, {}).setdefault(
            str(row.task_id), {"pool": row.pool, "task": str(row.task_id), "verbs": []}
        )
        if row.verb not in hint["verbs"]:
            hint["verbs"].append(row.verb)
    if not sequences:
        return None
    share = max(1, MOST_HINTS // len(hints))
    told = [
        hint
        for pool, of_pool in hints.items()
        for hint in (
            of_pool.values() if len(of_pool) <= share else [{"pool": pool, "task": None, "verbs": []}]
        )
    ]
    return {"type": "live.hints", "sequences": sequences, "hints": told}
