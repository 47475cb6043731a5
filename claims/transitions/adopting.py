"""An operator gives a task to a named runner, together with evidence that lost its claim."""

from __future__ import annotations

from uuid import UUID

from claims import decide, kernel
from claims.callers import Caller
from claims.decide import Adoption, Sighting
from claims.models import Agent, Attempt, Delivery, StagedResult
from claims.outcomes import Granted, Refused, Why
from claims.vocabulary import Verb


@kernel.verb(Verb.ADOPT, "DELIVERED -> CLAIMED", "OPEN -> CLAIMED", "HELD -> CLAIMED")
def adopt(
    caller: Caller,
    task_id: UUID,
    sighting: Sighting,
    runner: str,
    delivery_id: UUID | None = None,
    attempt_id: UUID | None = None,
) -> Granted | Refused:
    """DELIVERED -> CLAIMED, OPEN -> CLAIMED, HELD -> CLAIMED. The agent ``runner`` goes on from evidence.

    The evidence is that of a delivery of an old epoch, or of an attempt that staged it, also late;
    one of the two is named. A delivery that was waiting is closed undecided: the new attempt has
    to deliver again. Refused with FORBIDDEN, GATE_CLOSED, CANCELLED, STALE_STATE, STALE_INPUT,
    NOT_CLAIMABLE, UNPROCESSABLE or NOT_ELIGIBLE.
    """
    if (delivery_id is None) == (attempt_id is None):
        return Refused(Why.MALFORMED, "Name the delivery or the attempt whose evidence is adopted, not both.")
    agent_id = Agent.objects.filter(name=runner).values_list("id", flat=True).first()
    seen = kernel.take(caller, task_id, grant_to=agent_id) if caller.is_at_hand else None
    if seen is None:
        return Refused(Why.NOT_FOUND)
    change = decide.adopt(seen, sighting, _adoption(task_id, delivery_id, attempt_id))
    if isinstance(change, Refused):
        return change

    return kernel.advance(caller, seen, change).granted(seen.task.input_digest)


def _adoption(task_id: UUID, delivery_id: UUID | None, attempt_id: UUID | None) -> Adoption | None:
    """The evidence that is named, read under the task's lock; None where it is not this task's."""
    if delivery_id is not None:
        of_task = Delivery.objects.filter(id=delivery_id, task_id=task_id)
        attempt_id = of_task.values_list("attempt_id", flat=True).first()
    if attempt_id is None or not Attempt.objects.filter(id=attempt_id, task_id=task_id).exists():
        return None
    delivery = kernel.delivery_of_attempt(task_id, attempt_id)
    staged = StagedResult.objects.filter(attempt_id=attempt_id).order_by("-position")
    last = staged.values_list("result_digest", flat=True).first()
    return Adoption(attempt_id, delivery.result_digest if delivery else last, delivery)
