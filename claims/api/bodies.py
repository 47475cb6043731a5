"""The bodies of the verbs: one strict model each, under the camelCase names of claim.v1 section 8."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from claims.api.fields import (
    Body,
    Count,
    CriterionNumber,
    Digest,
    DisplayName,
    Id,
    MediaType,
    Moment,
    Name,
    Needs,
    Note,
    Person,
    Reason,
    Seconds,
    Sha256,
    Summary,
    TaskName,
    Title,
    word_of,
)
from claims.canonical import Item
from claims.cost import LONGEST_NAME, LONGEST_TEXT, MOST_LABELS, MOST_SECONDS
from claims.fences import Fence
from claims.inputs import NewTask
from claims.vocabulary import EvidenceKind, ReclaimPolicy, ReviewPolicy

Priority = Annotated[int, Field(ge=0, le=9)]
CostName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
CostText = Annotated[str, Field(max_length=LONGEST_TEXT)]
Attempts = Annotated[int, Field(ge=1, le=100)]


class FenceBody(Body):
    """What a runner presents with every write."""

    taskId: Id
    attemptId: Id
    schedulerEpoch: Count
    claimGeneration: Count
    cancelGeneration: Count

    def fence(self) -> Fence:
        """The fence as the verbs take it."""
        return Fence(
            self.taskId, self.attemptId, self.schedulerEpoch, self.claimGeneration, self.cancelGeneration
        )


class ClaimBody(Body):
    expectedStateVersion: Count
    schedulerEpoch: Count
    ttlSeconds: Seconds | None = None


class ClaimNextBody(Body):
    schedulerEpoch: Count
    max: Annotated[int, Field(ge=1, le=100)] = 1
    ttlSeconds: Seconds | None = None
    waitSeconds: Annotated[int, Field(ge=0, le=25)] = 0


class RenewBody(Body):
    fence: FenceBody
    extendSeconds: Seconds


class RenewalsBody(Body):
    renewals: Annotated[list[RenewBody], Field(min_length=1, max_length=500)]


class MoneyBody(Body):
    """An amount as a decimal in text, so that no digit is lost."""

    amount: Annotated[str, Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,9})?$")]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


class CostBody(Body):
    """What the attempt has cost so far: totals, which never fall. What is left out stays as it was."""

    seconds: Annotated[float, Field(ge=0, le=MOST_SECONDS)] | None = None
    tokens: Count | None = None
    money: MoneyBody | None = None
    labels: Annotated[dict[CostName, CostText | int | float], Field(max_length=MOST_LABELS)] | None = None

    def told(self) -> dict[str, Any]:
        """The parts that were sent, as the verbs take them."""
        return self.model_dump(exclude_none=True)


class Costed(Body):
    """A verb that may say what the attempt has cost. Kept also when the fence turns out to be lost."""

    cost: CostBody | None = None

    def told_cost(self) -> dict[str, Any] | None:
        """The cost as the verbs take it; None where none came along."""
        return self.cost.told() if self.cost else None


class ProgressBody(Costed):
    fence: FenceBody
    note: Note


class ReleaseBody(Costed):
    fence: FenceBody
    reason: Reason


class FailBody(Costed):
    fence: FenceBody
    reason: Reason
    retryable: bool


class ItemBody(Body):
    """One piece of evidence in the manifest; its bytes are uploaded apart, known by ``sha256``."""

    name: DisplayName
    kind: word_of(EvidenceKind)  # type: ignore[valid-type]
    sha256: Sha256
    size: Count
    mediaType: MediaType
    criteria: Annotated[list[CriterionNumber], Field(max_length=200)] = Field(default_factory=list)
    meta: dict[str, Any] = Field(default_factory=dict)

    def item(self) -> Item:
        """The item as the manifest keeps it."""
        return Item(
            self.name, str(self.kind), self.sha256, self.size, self.mediaType, tuple(self.criteria), self.meta
        )


Evidence = Annotated[list[ItemBody], Field(max_length=500)]


class StageBody(Body):
    fence: FenceBody
    result: Any = Field(default_factory=dict)
    evidence: Evidence = Field(default_factory=list)
    resultDigest: Digest | None = None


class CommitBody(Costed):
    """``result`` and ``evidence`` may come along; they are then staged in the same transaction."""

    fence: FenceBody
    inputDigest: Digest
    resultDigest: Digest | None = None
    result: Any = None
    evidence: Evidence | None = None

    @property
    def is_inline(self) -> bool:
        """Whether the result comes along."""
        return "result" in self.model_fields_set or self.evidence is not None


class DeliverBody(CommitBody):
    """``claims`` maps a criterion's number to one line of the agent's own account."""

    summary: Summary = ""
    needs: Needs = ""
    claims: Annotated[
        dict[Annotated[str, Field(pattern=r"^[1-9][0-9]{0,2}$")], Note], Field(max_length=200)
    ] = Field(default_factory=dict)


class TaskFields(Body):
    title: Title
    input: dict[str, Any]
    priority: Priority = 2
    notBefore: Moment | None = None
    maxAttempts: Attempts | None = None
    reviewPolicy: word_of(ReviewPolicy) = ReviewPolicy.REVIEW  # type: ignore[valid-type]
    reviewer: Person | None = None
    reviewerGroup: Person | None = None
    reclaimPolicy: word_of(ReclaimPolicy) | None = None  # type: ignore[valid-type]
    ttlSeconds: Seconds | None = None
    nodeId: Name | None = None
    dependsOn: Annotated[list[TaskName], Field(max_length=1_000)] = Field(default_factory=list)

    def new_task(self) -> NewTask:
        """The task as ``create`` takes it."""
        return NewTask(
            title=self.title,
            input=self.input,
            node_id=self.nodeId or "",
            priority=self.priority,
            not_before=self.notBefore,
            max_attempts=self.maxAttempts,
            review_policy=self.reviewPolicy,
            reviewer=self.reviewer,
            reviewer_group=self.reviewerGroup,
            reclaim_policy=self.reclaimPolicy,
            ttl_seconds=self.ttlSeconds,
            depends_on=tuple(self.dependsOn),
        )


class OneTask(TaskFields):
    pool: Name


class ManyTasks(Body):
    pool: Name
    tasks: Annotated[list[TaskFields], Field(min_length=1, max_length=1_000)]


def _form(body: Any) -> str:
    return "many" if isinstance(body, dict) and "tasks" in body else "one"


CreateBody = Annotated[
    Annotated[OneTask, Tag("one")] | Annotated[ManyTasks, Tag("many")], Discriminator(_form)
]


class AdjustBody(Body):
    """Scheduling attributes to change; what is left out stays. ``null`` clears what may be empty."""

    expectedStateVersion: Count | None = None
    title: Title = ""
    priority: Priority = 2
    notBefore: Moment | None = None
    maxAttempts: Attempts = 1
    reclaimPolicy: word_of(ReclaimPolicy) = ReclaimPolicy.MANUAL  # type: ignore[valid-type]
    reviewer: Person | None = None
    reviewerGroup: Person | None = None

    def attributes(self) -> dict[str, Any]:
        """The attributes that were sent, under the names ``adjust`` takes."""
        return {
            _ATTRIBUTES[name]: getattr(self, name) for name in self.model_fields_set if name in _ATTRIBUTES
        }


_ATTRIBUTES = {
    "title": "title",
    "priority": "priority",
    "notBefore": "not_before",
    "maxAttempts": "max_attempts",
    "reclaimPolicy": "reclaim_policy",
    "reviewer": "reviewer",
    "reviewerGroup": "reviewer_group",
}
