"""Handing in a result: for review, or as the canonical commit where none is asked for."""

from __future__ import annotations

from uuid import UUID

from claims import decide, kernel
from claims.callers import Caller
from claims.decide.rows import TaskAsRead
from claims.fences import Fence
from claims.models import Attempt, CanonicalCommit, Decision, Delivery
from claims.models.columns import new_id
from claims.outcomes import Committed, Delivered, Refused, Why
from claims.transitions.costing import Cost, with_cost
from claims.transitions.opening import settle_successors
from claims.transitions.results import Account, Prepared, StagedResult, keep_staged, prepare
from claims.vocabulary import DecisionKind, Verb


def deliver(
    caller: Caller,
    fence: Fence,
    input_digest: str,
    result_digest: str | None = None,
    account: Account | None = None,
    staged: StagedResult | None = None,
    cost: Cost | None = None,
) -> Delivered | Refused:
    """CLAIMED -> DELIVERED. The runner hands in evidence; its lease ends, its fence can still be committed.

    A ``staged`` result is staged in the same transaction. Refused with CANCELLED, STALE_INPUT,
    FENCED, ALREADY_DELIVERED, NOT_STAGED or THIN_EVIDENCE; a repeat has the first answer.
    """
    prepared = prepare(caller, fence, input_digest, result_digest, staged)
    if isinstance(prepared, Refused):
        return prepared
    return _deliver(caller, fence, prepared, account or Account(), cost)


@kernel.verb(Verb.DELIVER, "CLAIMED -> DELIVERED")
def _deliver(
    caller: Caller, fence: Fence, prepared: Prepared, account: Account, cost: Cost | None = None
) -> Delivered | Refused:
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    delivery_id = new_id()
    earlier = kernel.delivery_of_attempt(fence.task_id, fence.attempt_id)
    decided = decide.deliver(seen, fence, caller.actor.id, prepared.handover, delivery_id, earlier)
    if isinstance(decided, Delivered):
        return decided
    change = with_cost(caller, fence, cost, decided)
    if isinstance(change, Refused):
        return change

    if prepared.staged is not None:
        keep_staged(fence, prepared.staged, seen.now, str(change.validated))
    delivery = _record(caller, seen, delivery_id, prepared, account)
    advanced = kernel.advance(caller, seen, change)
    return Delivered(
        delivery_id, delivery.round, delivery.result_digest, delivery.subject_digest, advanced.state_version
    )


def commit(
    caller: Caller,
    fence: Fence,
    input_digest: str,
    result_digest: str | None = None,
    staged: StagedResult | None = None,
    cost: Cost | None = None,
) -> Committed | Refused:
    """CLAIMED -> DONE. The canonical commit of a task that asks for no review.

    Refused as ``deliver`` is, and with ALREADY_COMMITTED or REVIEW_REQUIRED.
    """
    if staged is not None and cost is None:
        at_once = commit_at_once(caller, fence, input_digest, result_digest, staged)
        if at_once is not None:
            return at_once
    prepared = prepare(caller, fence, input_digest, result_digest, staged)
    if isinstance(prepared, Refused):
        return prepared
    return _commit(caller, fence, prepared, cost)


def commit_at_once(
    caller: Caller, fence: Fence, input_digest: str, result_digest: str | None, staged: StagedResult
) -> Committed | Refused | None:
    """CLAIMED -> DONE. A result without evidence in one round trip; None where there is anything else to say.

    Nothing was changed then. Raises ``NotCanonical`` for a result that has no canonical form.
    """
    if staged.evidence:
        return None
    digest = staged.digest
    if result_digest not in (None, digest):
        return None
    return kernel.hot.commit(caller, fence, input_digest, staged.result, digest)


@kernel.verb(Verb.COMMIT, "CLAIMED -> DONE")
def _commit(
    caller: Caller, fence: Fence, prepared: Prepared, cost: Cost | None = None
) -> Committed | Refused:
    seen = kernel.hold(caller, fence)
    if seen is None:
        return Refused(Why.NOT_FOUND)
    commit_id = new_id()
    decided = decide.commit(seen, fence, caller.actor.id, prepared.handover, commit_id)
    if isinstance(decided, Committed):
        return decided
    change = with_cost(caller, fence, cost, decided)
    if isinstance(change, Refused):
        return change

    if prepared.staged is not None:
        keep_staged(fence, prepared.staged, seen.now, str(change.validated))
    digest = prepared.handover.staged_digest or ""
    CanonicalCommit.objects.create(
        commit_id=commit_id,
        task_id=fence.task_id,
        attempt_id=fence.attempt_id,
        claim_generation=fence.claim_generation,
        scheduler_epoch=fence.scheduler_epoch,
        cancel_generation=fence.cancel_generation,
        result_digest=digest,
        committed_at=seen.now,
    )
    advanced = kernel.advance(caller, seen, change)
    settle_successors(caller, seen.task.lineage_id)
    return Committed(commit_id, fence.task_id, digest, advanced.state_version)


def _makers_of_adopted(attempt_id: UUID) -> set[int]:
    """Who made what this attempt took over: the owners at the grant and now, through every adoption."""
    chain = kernel.adopted_by(attempt_id)
    owners = Attempt.objects.filter(id__in=chain).values_list("owner_id", "agent__owner_id")
    delivered = Delivery.objects.filter(attempt_id__in=chain).values_list("makers", flat=True)
    return {owner for pair in [*owners, *delivered] for owner in pair}


def _makers_before(task_id: UUID) -> list[int]:
    """Owners of the round that was sent back: what comes after it, from whichever agent, goes on from its work."""
    before = Decision.objects.filter(delivery__task_id=task_id).order_by("-delivery__round")
    kind, makers = before.values_list("kind", "makers").first() or ("", [])
    return makers if kind == DecisionKind.CHANGES_REQUESTED else []


def _record(
    caller: Caller, seen: TaskAsRead, delivery_id: UUID, prepared: Prepared, account: Account
) -> Delivery:
    """The delivery's row; its fence is the attempt's, which ``decide.deliver`` has compared."""
    attempt = seen.attempt
    if attempt is None:
        raise AssertionError(f"task {seen.task.id} is delivered without an attempt")
    round_number, digest = seen.task.rounds + 1, prepared.handover.staged_digest or ""
    return Delivery.objects.create(
        id=delivery_id,
        task_id=seen.task.id,
        pool_id=seen.pool.id,
        attempt_id=attempt.id,
        agent_id=caller.actor.id,
        makers=sorted({attempt.owner_id, *_makers_before(seen.task.id), *_makers_of_adopted(attempt.id)}),
        round=round_number,
        input_digest=prepared.handover.input_digest,
        result_digest=digest,
        subject_digest=decide.subject_of(seen, delivery_id, round_number, digest),
        claim_generation=attempt.claim_generation,
        scheduler_epoch=attempt.scheduler_epoch,
        cancel_generation=seen.task.cancel_generation,
        summary=account.summary,
        needs=account.needs,
        claims=dict(account.claims),
        facts=dict(prepared.facts),
        delivered_at=seen.now,
    )
