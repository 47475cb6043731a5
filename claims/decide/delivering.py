"""When a result may be handed in, and when it may become canonical without review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from claims.canonical import Item, Subject, subject_digest
from claims.decide.changes import Change, refuse
from claims.decide.fence import claimed, committed_before
from claims.decide.ledger import unresolved
from claims.decide.rows import DeliveryRow, TaskAsRead
from claims.fences import Fence
from claims.inputs import Input, Requirement, Slot
from claims.outcomes import Committed, Delivered, Refused, Why
from claims.vocabulary import AttemptOutcome, ReviewPolicy, State, Verb


@dataclass(frozen=True, slots=True)
class Handover:
    """What a runner hands in: the digests it names, and the staged result they name.

    ``staged_digest`` is None when this attempt staged no such result. ``missing`` holds what
    the input asks for and the manifest lacks, ``slots`` the effects it declares, ``absent`` the
    items whose bytes never came.
    """

    input_digest: str
    result_digest: str | None
    staged_digest: str | None
    missing: tuple[str, ...] = field(default=())
    slots: tuple[Slot, ...] = field(default=())
    absent: tuple[str, ...] = field(default=())


def deliver(
    seen: TaskAsRead,
    fence: Fence,
    agent_id: int,
    handover: Handover,
    delivery_id: UUID,
    earlier: DeliveryRow | None,
) -> Change | Delivered | Refused:
    """CLAIMED -> DELIVERED. A repeat of the same delivery is answered with the first answer."""
    if earlier is not None and _is_repeat(earlier, fence, agent_id, handover):
        return Delivered(
            earlier.id, earlier.round, earlier.result_digest, earlier.subject_digest, earlier.state_version
        )
    standing = claimed(seen, fence, agent_id, handover.input_digest)
    if isinstance(standing, Refused):
        return standing
    incomplete = _incomplete(seen, handover)
    if incomplete:
        return incomplete
    round_number = seen.task.rounds + 1
    return Change(
        Verb.DELIVER,
        State.DELIVERED,
        ends=AttemptOutcome.DELIVERED,
        columns={"delivery_id": delivery_id, "rounds": round_number},
        body={"delivery": str(delivery_id), "round": round_number, "resultDigest": handover.staged_digest},
        validated=standing,
    )


def commit(
    seen: TaskAsRead, fence: Fence, agent_id: int, handover: Handover, commit_id: UUID
) -> Change | Committed | Refused:
    """CLAIMED -> DONE. Only where the pool allows unreviewed tasks and the task says NONE."""
    before = committed_before(seen, fence, agent_id, handover.input_digest, handover.result_digest)
    if before is not None:
        return before
    standing = claimed(seen, fence, agent_id, handover.input_digest)
    if isinstance(standing, Refused):
        return standing
    if seen.task.review_policy is not ReviewPolicy.NONE or not seen.pool.allows_unreviewed:
        return refuse(seen, Why.REVIEW_REQUIRED)
    incomplete = _incomplete(seen, handover)
    if incomplete:
        return incomplete
    return Change(
        Verb.COMMIT,
        State.DONE,
        ends=AttemptOutcome.COMMITTED,
        columns={"result_commit_id": commit_id},
        body={"commit": str(commit_id), "resultDigest": handover.staged_digest},
        validated=standing,
    )


def _is_repeat(earlier: DeliveryRow, fence: Fence, agent_id: int, handover: Handover) -> bool:
    same_fence = (
        fence.attempt_id,
        fence.claim_generation,
        fence.scheduler_epoch,
        fence.cancel_generation,
    ) == (
        earlier.attempt_id,
        earlier.claim_generation,
        earlier.scheduler_epoch,
        earlier.cancel_generation,
    )
    digest = handover.result_digest or handover.staged_digest
    same_work = handover.input_digest == earlier.input_digest and digest == earlier.result_digest
    return same_fence and same_work and agent_id == earlier.agent_id


def _incomplete(seen: TaskAsRead, handover: Handover) -> Refused | None:
    if handover.absent:
        return not_uploaded(handover.absent)
    if handover.staged_digest is None:
        return refuse(seen, Why.NOT_STAGED)
    if handover.missing:
        return refuse(
            seen, Why.THIN_EVIDENCE, "Missing: " + "; ".join(handover.missing) + ".", *handover.missing
        )
    return unresolved(seen, handover.slots)


def not_uploaded(names: Sequence[str]) -> Refused:
    """MALFORMED for a manifest that names bytes this attempt does not have. Told to a fence that may write."""
    said = f"These bytes were not uploaded by this attempt: {', '.join(names)}."
    return Refused(Why.MALFORMED, said, reasons=tuple(names))


def missing_evidence(specification: Input, items: Sequence[Item]) -> tuple[str, ...]:
    """Each piece of evidence the input asks for and the manifest lacks, in words."""
    missing: list[str] = []
    for requirement in specification.evidence:
        missing += _missing(requirement, items)
    return tuple(missing)


def _missing(requirement: Requirement, items: Sequence[Item]) -> list[str]:
    of_kind = [item for item in items if item.kind == requirement.kind]
    wanted = requirement.item_names()
    if requirement.name is None and requirement.widths:
        shown = {item.meta.get("width") for item in of_kind}
        return [f"{requirement.kind} at {width} px" for width in requirement.widths if width not in shown]
    if not wanted and not of_kind:
        return [f"evidence of kind {requirement.kind}"]
    have = {item.name for item in of_kind}
    return [f"{requirement.kind} {name}" for name in wanted if name not in have]


def subject_of(seen: TaskAsRead, delivery_id: UUID, round_number: int, result_digest: str) -> str:
    """The subject digest of a delivery made by the attempt that holds the task."""
    if seen.attempt is None or seen.task.input_digest is None:
        raise AssertionError(f"task {seen.task.id} is delivered without an attempt")
    return subject_digest(
        Subject(
            delivery_id=delivery_id,
            round=round_number,
            input_digest=seen.task.input_digest,
            result_digest=result_digest,
            attempt_id=seen.attempt.id,
            claim_generation=seen.attempt.claim_generation,
            scheduler_epoch=seen.attempt.scheduler_epoch,
        )
    )
