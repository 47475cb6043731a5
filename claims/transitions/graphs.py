"""Which task of a call depends on which, checked before anything is written (claim.v1 section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from uuid import UUID

from claims.inputs import TASK_NUMBER, NewTask
from claims.models import TaskInput
from claims.outcomes import Refused, Why


@dataclass(frozen=True, slots=True)
class Plan:
    """``order`` lists positions, predecessors first. ``inside`` and ``outside`` hold each task's
    predecessors under their names: positions in the call, and lineages that exist already."""

    order: tuple[int, ...]
    inside: tuple[dict[str, int], ...]
    outside: tuple[dict[str, UUID], ...]

    @property
    def lineages(self) -> dict[UUID, str]:
        """Every lineage outside the call that one of its tasks depends on."""
        return {lineage: name for edges in self.outside for name, lineage in edges.items()}


def plan(pool_id: int, tasks: Sequence[NewTask]) -> Plan | Refused:
    """The order in which the tasks of a call come to be.

    A ``dependsOn`` names a ``nodeId`` of the same call, or a task of the pool by number (T-1042)
    or id. Refused with UNPROCESSABLE for two nodes of one name, an unknown name, a task of
    another pool, a task that depends on itself, and a cycle.
    """
    nodes = [task.node_id for task in tasks if task.node_id]
    twice = sorted({node for node in nodes if nodes.count(node) > 1}) if len(nodes) != len(set(nodes)) else []
    if twice:
        return Refused(Why.UNPROCESSABLE, f"Two tasks of the call have the nodeId {twice[0]}.")
    places = {task.node_id: position for position, task in enumerate(tasks) if task.node_id}
    inside: list[dict[str, int]] = []
    outside: list[dict[str, UUID]] = []
    for position, task in enumerate(tasks):
        outer = [name for name in task.depends_on if name not in places]
        found = _existing(pool_id, outer)
        unknown = [name for name in outer if name not in found]
        if unknown:
            return Refused(
                Why.UNPROCESSABLE,
                f"/tasks/{position}/dependsOn: there is no node and no task {unknown[0]} in this pool.",
                reasons=tuple(unknown),
            )
        if len(set(found.values())) != len(found):
            return Refused(Why.UNPROCESSABLE, f"/tasks/{position}/dependsOn names one task twice.")
        inside.append({name: places[name] for name in task.depends_on if name in places})
        outside.append(found)
    return _ordered(tasks, inside, outside)


def _ordered(
    tasks: Sequence[NewTask], inside: list[dict[str, int]], outside: list[dict[str, UUID]]
) -> Plan | Refused:
    sorter = TopologicalSorter({position: set(edges.values()) for position, edges in enumerate(inside)})
    try:
        order = tuple(sorter.static_order())
    except CycleError as error:
        names = " -> ".join(tasks[position].node_id for position in error.args[1][:20])
        return Refused(Why.UNPROCESSABLE, f"The dependencies go round in a circle: {names}.")
    return Plan(order, tuple(inside), tuple(outside))


def _existing(pool_id: int, names: Sequence[str]) -> dict[str, UUID]:
    """The lineages that names of existing tasks stand for; a name that stands for none is left out."""
    numbers = {name: int(found[1]) for name in names if (found := TASK_NUMBER.fullmatch(name))}
    ids = {name: UUID(name) for name in names if name not in numbers and _is_id(name)}
    if not numbers and not ids:
        return {}
    of_pool = TaskInput.objects.filter(task__pool_id=pool_id)
    by_number = dict(of_pool.filter(number__in=numbers.values()).values_list("number", "lineage_id"))
    by_id = dict(of_pool.filter(task_id__in=ids.values()).values_list("task_id", "lineage_id"))
    stands_for = {name: by_number.get(number) for name, number in numbers.items()}
    stands_for |= {name: by_id.get(task_id) for name, task_id in ids.items()}
    return {name: lineage for name, lineage in stands_for.items() if lineage is not None}


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
