"""How each edge of the contract is reached by the real verbs: what is set up, and then the one step."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from claims.outcomes import Refused
from claims.vocabulary import State, Verb
from tests.support.records import one_change, task_row, verbs_of
from tests.support.world import World

Step = tuple[State, Verb, State]
Walk = tuple[UUID, Callable[[], object]]
WALKED: dict[Step, Callable[[World, bool], None]] = {}


def walks(source: State, verb: Verb, target: State) -> Callable[[Callable[[World], Walk]], None]:
    """Register how an edge is walked; the step must write one row and raise the generation or not."""

    def keep(prepare: Callable[[World], Walk]) -> None:
        def walk(world: World, raises: bool) -> None:
            task_id, step = prepare(world)
            assert task_row(task_id).state == source
            with one_change(task_id, raises=int(raises), to=target):
                answer = step()
                assert not isinstance(answer, Refused), answer
            assert verbs_of(task_id)[-1] == verb

        WALKED[source, verb, target] = walk

    return keep
