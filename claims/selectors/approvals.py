"""Outside effects that wait for a person's word, and whose word it can be.

Promises: neither the preparer of a task nor who owns, or owned at the grant, the agent that would
send it finds it in his list (claim.v1 section 5); the badge is the length of the same list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from claims.models import Agent, Task
from claims.selectors import effects
from claims.selectors.effects import EffectSeen
from claims.selectors.seen import SeenPool, ids_with
from claims.vocabulary import Right


def waiting(person_id: int, pools: Sequence[SeenPool]) -> list[EffectSeen]:
    """What waits for this person, oldest first. One query where nothing waits for anybody."""
    ids = ids_with(pools, Right.REVIEWER)
    found = effects.for_reviewers(ids) if ids else []
    if not found:
        return []
    makers = makers_of({each.task_id for each in found})
    return [each for each in found if not is_maker(person_id, each, makers)]


def is_maker(person_id: int, effect: EffectSeen, makers: Mapping[UUID, frozenset[int]]) -> bool:
    """Whether the person wrote the task or answers for the agent that would send."""
    return person_id == effect.preparer_id or person_id in makers.get(effect.task_id, frozenset())


def makers_of(task_ids: Collection[UUID]) -> dict[UUID, frozenset[int]]:
    """Who owns the agent that holds each task, now and at the grant. One query."""
    rows = Task.objects.filter(pk__in=list(task_ids)).values_list(
        "pk", "runner__owner_id", "attempt__owner_id"
    )
    return {task_id: frozenset(owner for owner in owners if owner) for task_id, *owners in rows}


def senders_of(found: Sequence[EffectSeen]) -> dict[int, str]:
    """The names of the agents that hold these effects' tasks, or held their permits. One query."""
    ids = {each.runner_id for each in found} | {each.permit.agent_id for each in found if each.permit}
    rows = (
        Agent.objects.filter(pk__in=[each for each in ids if each]) if ids - {None} else Agent.objects.none()
    )
    return dict(rows.values_list("pk", "name"))
