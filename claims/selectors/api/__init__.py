"""Reads of the JSON API: rows as they are answered, few statements each, no models built.

Promises: nothing here locks or writes; every list is a keyset page; a count stops at its cap.
What may be seen is decided by the caller of these functions, by pool.
"""

from claims.selectors.api.attempts import attempt_now, live_grants
from claims.selectors.api.deliveries import delivery, file_of_attempt, manifest_has
from claims.selectors.api.earlier import effects_before, predecessors_of
from claims.selectors.api.effects import effect, effect_id_of
from claims.selectors.api.events import EventCursor, events
from claims.selectors.api.grants import GrantParts, parts_of_grants, review_before
from claims.selectors.api.places import (
    AttemptPlace,
    builds_on,
    place_of_attempt,
    pool_of_task,
    task_of_delivery,
    task_of_effect,
)
from claims.selectors.api.pools import agent_standing, pool_now, pools_of, rights_of
from claims.selectors.api.rows import Row
from claims.selectors.api.tasks import TaskFilter, history, refusals, task, tasks

__all__ = [
    "AttemptPlace",
    "EventCursor",
    "GrantParts",
    "Row",
    "TaskFilter",
    "agent_standing",
    "attempt_now",
    "builds_on",
    "delivery",
    "effect",
    "effect_id_of",
    "effects_before",
    "events",
    "file_of_attempt",
    "history",
    "live_grants",
    "manifest_has",
    "parts_of_grants",
    "place_of_attempt",
    "pool_now",
    "pool_of_task",
    "pools_of",
    "predecessors_of",
    "refusals",
    "review_before",
    "rights_of",
    "task",
    "task_of_delivery",
    "task_of_effect",
    "tasks",
]
