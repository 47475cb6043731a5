"""Whether a fence still has authority (claim.v1 section 4, order of checks).

Promises: every verb that carries a fence asks ``authority`` and nothing else about authority,
and only a comparison that found all fields equal makes a ``Validated``.
"""

from __future__ import annotations

from claims.decide.changes import Validated, refuse
from claims.decide.rows import TaskAsRead
from claims.fences import Fence
from claims.outcomes import Committed, Refused, Why
from claims.vocabulary import State

EPOCH = "schedulerEpoch"


def authority(
    seen: TaskAsRead,
    fence: Fence,
    agent_id: int,
    input_digest: str | None = None,
    *,
    in_any_epoch: bool = False,
) -> Validated | Refused:
    """What was compared when the fence may write; else the first of CANCELLED, STALE_INPUT, FENCED.

    ``in_any_epoch``: an old epoch alone does not stand in the way, as for sending a round back.
    """
    task = seen.task
    if task.state is State.CANCELLED or fence.cancel_generation != task.cancel_generation:
        return refuse(seen, Why.CANCELLED)
    if _is_outdated(seen) or (input_digest is not None and input_digest != task.input_digest):
        return refuse(seen, Why.STALE_INPUT)
    lost = [field for field in lost_fields(seen, fence, agent_id) if not (in_any_epoch and field == EPOCH)]
    if lost:
        return refuse(seen, Why.FENCED, _fenced_sentence(seen, fence), lost=lost)
    return Validated(fence.scheduler_epoch, fence.claim_generation, fence.cancel_generation)


def _is_outdated(seen: TaskAsRead) -> bool:
    """Whether the input is no longer current: a newer revision exists, or a predecessor has one."""
    return seen.task.state is State.SUPERSEDED or (seen.task.state is State.HELD and seen.task.is_stale)


def lost_fields(seen: TaskAsRead, fence: Fence, agent_id: int) -> list[str]:
    """Which fields of the fence no longer name the authority over the task.

    An attempt of an ended epoch has lost its authority whatever epoch its fence names: every refusal
    tells the epoch of now, so that to name it proves nothing.
    """
    task = seen.task
    lost = []
    if fence.scheduler_epoch != seen.pool.scheduler_epoch or seen.is_below_epoch:
        lost.append(EPOCH)
    if fence.claim_generation != task.claim_generation:
        lost.append("claimGeneration")
    if fence.attempt_id != task.attempt_id:
        lost.append("attemptId")
    if agent_id != task.runner_id:
        lost.append("runner")
    return lost


def claimed(
    seen: TaskAsRead, fence: Fence, agent_id: int, input_digest: str | None = None
) -> Validated | Refused:
    """``authority``, and the task is CLAIMED: what most verbs need."""
    standing = authority(seen, fence, agent_id, input_digest)
    if isinstance(standing, Validated) and seen.task.state is State.DELIVERED:
        return refuse(seen, Why.ALREADY_DELIVERED)
    return standing


def committed_before(
    seen: TaskAsRead, fence: Fence, agent_id: int, input_digest: str, result_digest: str | None
) -> Committed | Refused | None:
    """The answer for the fence of the attempt that committed the task; None for any other fence.

    Comes before FENCED, so that a runner whose answer was lost hears it again, and after
    STALE_INPUT (section 4). Another agent that shows the same fence is not that runner.
    """
    done = seen.commit
    if done is None or input_digest != done.input_digest:
        return None
    presented = (fence.attempt_id, fence.claim_generation, fence.scheduler_epoch, fence.cancel_generation)
    if (*presented, agent_id) != (
        done.attempt_id,
        done.claim_generation,
        done.scheduler_epoch,
        done.cancel_generation,
        done.agent_id,
    ):
        return None
    if result_digest in (None, done.result_digest):
        return Committed(done.id, seen.task.id, done.result_digest, seen.task.state_version)
    return refuse(seen, Why.ALREADY_COMMITTED, resultDigest=done.result_digest)


def _fenced_sentence(seen: TaskAsRead, fence: Fence) -> str:
    if seen.attempt is not None and seen.is_below_epoch and fence.attempt_id == seen.attempt.id:
        ended = f"epoch {seen.attempt.scheduler_epoch}, which has ended; the pool is at epoch {seen.pool.scheduler_epoch}"
        return f"The attempt of this fence was granted under {ended}. Nothing was changed."
    presented = f"epoch {fence.scheduler_epoch}, generation {fence.claim_generation}"
    current = f"epoch {seen.pool.scheduler_epoch}, generation {seen.task.claim_generation}"
    return f"This fence names {presented}; current is {current}. Nothing was changed."
