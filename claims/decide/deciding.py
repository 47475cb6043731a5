"""What a reviewer may decide about a delivery (claim.v1 section 4, order of checks)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from claims.decide.changes import Change, open_or_held, refuse
from claims.decide.fence import authority
from claims.decide.granting import grant, not_eligible
from claims.decide.ledger import unresolved
from claims.decide.rows import DeliveryRow, TaskAsRead
from claims.fences import Fence
from claims.inputs import Input
from claims.outcomes import Refused, Why
from claims.vocabulary import AttemptOutcome, DeliveryState, Gate, Right, SelfReview, State, Verb, Verdict


@dataclass(frozen=True, slots=True)
class VerdictGiven:
    """One criterion's verdict; a note is required unless it is MET."""

    verdict: Verdict
    note: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A decision as it was posted. ``reason`` excuses what is out of the ordinary."""

    subject_digest: str
    verdicts: Mapping[int, VerdictGiven] = field(default_factory=dict)
    note: str = ""
    reason: str = ""


def accept(
    seen: TaskAsRead, delivery: DeliveryRow, judgement: Judgement, specification: Input, commit_id: UUID
) -> Change | Refused:
    """DELIVERED -> DONE. The very same commit as the runner's, with the delivered attempt's fence."""
    standing = may_decide(seen, delivery, judgement) or authority(
        seen, fence_of(seen, delivery), delivery.agent_id, delivery.input_digest
    )
    if isinstance(standing, Refused):
        return standing
    in_doubt = unresolved(seen, specification.effects)
    if in_doubt:
        return in_doubt
    criteria = range(1, len(specification.acceptance) + 1)
    unmet = [number for number in criteria if not _is_met(judgement, number)]
    if unmet:
        return refuse(
            seen,
            Why.CRITERIA_UNMET,
            _unmet_sentence(judgement, unmet),
            *(f"criterion {number}" for number in unmet),
        )
    if delivery.excluded_files and not judgement.reason.strip():
        return refuse(seen, Why.SCOPE_VIOLATION, "", *delivery.excluded_files)
    return Change(
        Verb.ACCEPT,
        State.DONE,
        ends=AttemptOutcome.COMMITTED,
        columns={"delivery_id": None, "result_commit_id": commit_id},
        body={
            "delivery": str(delivery.id),
            "round": delivery.round,
            "commit": str(commit_id),
            "resultDigest": delivery.result_digest,
        },
        validated=standing,
    )


def request_changes(seen: TaskAsRead, delivery: DeliveryRow, judgement: Judgement) -> Change | Refused:
    """DELIVERED -> CLAIMED by the same runner, or -> OPEN when that runner cannot take it."""
    refused = may_decide(seen, delivery, judgement) or _lost_subject(seen, delivery)
    if refused:
        return refused
    if not judgement.note.strip() and not any(
        given.verdict is not Verdict.MET for given in judgement.verdicts.values()
    ):
        return refuse(seen, Why.UNPROCESSABLE, "Say what to change: a note, or a criterion that is not met.")
    body = {"delivery": str(delivery.id), "round": delivery.round}
    agent = seen.agent
    if agent is None or not agent.works_here or not_eligible(seen, agent) or seen.pool.gate is Gate.DRAINING:
        change = open_or_held(seen, Verb.REQUEST_CHANGES, AttemptOutcome.DELIVERED, "changes were requested")
        return _with(change, preferred_runner_id=delivery.agent_id, body=body)
    change = grant(seen, Verb.REQUEST_CHANGES, agent, None, is_counted=False)
    return _with(change, delivery_id=None, body=body)


def reject(seen: TaskAsRead, delivery: DeliveryRow, judgement: Judgement) -> Change | Refused:
    """DELIVERED -> OPEN. The result is not wanted; another attempt starts from the input."""
    refused = may_decide(seen, delivery, judgement) or _lost_subject(seen, delivery)
    if refused:
        return refused
    if not judgement.note.strip():
        return refuse(seen, Why.UNPROCESSABLE, "Say why the delivery is rejected.")
    return open_or_held(
        seen,
        Verb.REJECT,
        AttemptOutcome.DELIVERED,
        "the last delivery was rejected",
        delivery=str(delivery.id),
        round=delivery.round,
    )


def may_decide(seen: TaskAsRead, delivery: DeliveryRow, judgement: Judgement) -> Refused | None:
    """Right to review, then maker is not checker, then decided before, then the subject digest."""
    if not seen.person.rights:
        return Refused(Why.NOT_FOUND)
    if Right.REVIEWER not in seen.person.rights:
        return refuse(seen, Why.NOT_REVIEWER, "You do not have the right to review in this pool.")
    if seen.person.id in delivery.makers and seen.pool.self_review is not SelfReview.MARKED:
        return refuse(seen, Why.SELF_REVIEW)
    if delivery.state not in (DeliveryState.PENDING, DeliveryState.CLOSED):
        return refuse(seen, Why.ALREADY_DECIDED, _decided_sentence(delivery))
    if is_stepping_in(seen) and not judgement.reason.strip():
        return refuse(
            seen, Why.NOT_REVIEWER, "Another person is named for this delivery; stepping in needs a reason."
        )
    if judgement.subject_digest != delivery.subject_digest:
        return refuse(seen, Why.STALE_DELIVERY, subjectDigest=delivery.subject_digest)
    return None


def is_stepping_in(seen: TaskAsRead) -> bool:
    """Whether the person is neither named nor in the named group, where somebody is named."""
    task = seen.task
    if task.reviewer_id is None and task.reviewer_group_id is None:
        return False
    return task.reviewer_id != seen.person.id and task.reviewer_group_id not in seen.person.groups


def is_deputy(seen: TaskAsRead) -> bool:
    """Whether the person decides in the place of the named reviewer, who named them deputy for today."""
    return is_stepping_in(seen) and seen.task.reviewer_id in seen.person.deputy_for


def marks(seen: TaskAsRead, delivery: DeliveryRow) -> list[str]:
    """What was out of the ordinary about a decision, kept for ever."""
    found = {
        "STEPPED_IN": is_stepping_in(seen) and not is_deputy(seen),
        "DEPUTY": is_deputy(seen),
        "SELF_REVIEW": seen.person.id in delivery.makers,
        "SCOPE_VIOLATION": bool(delivery.excluded_files),
    }
    return [mark for mark, holds in found.items() if holds]


def fence_of(seen: TaskAsRead, delivery: DeliveryRow) -> Fence:
    """The delivered attempt's fence, which the commit validates like a runner's own."""
    return Fence(
        seen.task.id,
        delivery.attempt_id,
        delivery.scheduler_epoch,
        delivery.claim_generation,
        delivery.cancel_generation,
    )


def _lost_subject(seen: TaskAsRead, delivery: DeliveryRow) -> Refused | None:
    """As for the fence, for what was closed undecided; an old epoch alone does not stand in the way."""
    fence = fence_of(seen, delivery)
    standing = authority(seen, fence, delivery.agent_id, delivery.input_digest, in_any_epoch=True)
    if isinstance(standing, Refused):
        return standing
    if seen.task.delivery_id != delivery.id:
        return refuse(seen, Why.STALE_DELIVERY)
    return None


def _is_met(judgement: Judgement, number: int) -> bool:
    given = judgement.verdicts.get(number)
    return given is not None and given.verdict is Verdict.MET


def _unmet_sentence(judgement: Judgement, unmet: list[int]) -> str:
    open_ones = [str(number) for number in unmet if number not in judgement.verdicts]
    judged = [str(number) for number in unmet if number in judgement.verdicts]
    parts = [
        f"{', '.join(judged)} not met" if judged else "",
        f"{', '.join(open_ones)} still open" if open_ones else "",
    ]
    return "Accept needs every criterion met: " + ", ".join(part for part in parts if part) + "."


def _decided_sentence(delivery: DeliveryRow) -> str:
    what = delivery.state.lower().replace("_", " ")
    when = f" at {delivery.decided_at:%H:%M:%S UTC}" if delivery.decided_at else ""
    return (
        f"This delivery is already {what}{f' by {delivery.decided_by}' if delivery.decided_by else ''}{when}."
    )


def _with(change: Change, body: Mapping[str, object] | None = None, **columns: object) -> Change:
    return Change(
        change.verb,
        change.target,
        reason=change.reason,
        ends=change.ends,
        grant=change.grant,
        columns={**change.columns, **columns},
        body={**change.body, **(body or {})},
    )
