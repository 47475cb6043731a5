"""What goes over the wire to open pages, and to which group. Pure.

A hint says that something of a pool and a task changed, never what: the page asks for that over
HTTP, where rights are checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from claims.selectors.feed import Told

EVERYBODY = "live.everybody"
"""The group of all open pages: heartbeats go there."""
MOST_HINTS = 50
"""Hints of one pool in one message; beyond it one hint without a task stands for all."""


def group_of(pool_id: int) -> str:
    """The group of the pages that may hear of this pool."""
    return f"live.pool.{pool_id}"


def coalesced(rows: Iterable[Told]) -> dict[int, dict[str, Any]]:
    """One message for each pool: a hint a task, with its verbs and the highest sequence."""
    messages: dict[int, dict[str, Any]] = {}
    for row in rows:
        message = messages.setdefault(
            row.pool_id, {"type": "live.hints", "pool": row.pool, "sequence": 0, "hints": {}}
        )
        message["sequence"] = max(message["sequence"], row.id)
        hint = message["hints"].setdefault(
            str(row.task_id), {"pool": row.pool, "task": str(row.task_id), "verbs": []}
        )
        if row.verb not in hint["verbs"]:
            hint["verbs"].append(row.verb)
    for message in messages.values():
        hints = list(message["hints"].values())
        message["hints"] = (
            hints if len(hints) <= MOST_HINTS else [{"pool": message["pool"], "task": None, "verbs": []}]
        )
    return messages
