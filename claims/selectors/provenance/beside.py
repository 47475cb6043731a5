"""Attempts at one task that have evidence, to be laid side by side: rounds, late ones, those of an old epoch.

Promises: whatever an attempt handed over is told, also where its fence was lost; nothing is written;
every list is bounded, newest first. Whether something may be adopted is for the transition to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from claims.canonical import Item
from claims.models import Attempt, Blob, Decision, Delivery, EvidenceFile, Membership, StagedResult
from claims.selectors.contract import item_from_json
from claims.vocabulary import DeliveryState, Right

EVIDENCE_LIMIT = 8
"""Attempts that are laid side by side; of more, the newest."""
FILES_LIMIT = 500
NAMES_LIMIT = 5


@dataclass(frozen=True, slots=True)
class Rival:
    """One attempt with what it handed over.

    ``items`` are the manifest of its delivery, else of what it staged last; ``result_digest`` names
    that result and is empty where none was staged. ``is_late``: it was staged after the fence was
    lost. ``loose`` are files that no manifest of it names. ``gone`` are digests whose bytes are no
    longer this attempt's.
    """

    attempt: Attempt
    delivery: Delivery | None
    decision: Decision | None
    items: tuple[Item, ...]
    result_digest: str
    is_late: bool
    loose: tuple[EvidenceFile, ...]
    gone: frozenset[str]

    @property
    def generation(self) -> int:
        """Its fencing number, by which people tell attempts apart."""
        return self.attempt.claim_generation

    @property
    def is_pending(self) -> bool:
        """Whether its delivery waits for a decision."""
        return self.delivery is not None and self.delivery.state == DeliveryState.PENDING


def _with_evidence() -> QuerySet[Attempt]:
    of_attempt = {"attempt_id": OuterRef("pk")}
    return Attempt.objects.filter(
        Exists(StagedResult.objects.filter(**of_attempt))
        | Exists(Delivery.objects.filter(**of_attempt))
        | Exists(EvidenceFile.objects.filter(**of_attempt))
    )


def count_beside(task_id: UUID, attempt_id: UUID | None) -> int:
    """How many attempts beside this one have evidence of their own. One query.

    A round that was sent back is no rival of the next one, and who holds the claim is still at work.
    """
    sent_back = Delivery.objects.filter(attempt_id=OuterRef("pk"), state=DeliveryState.CHANGES_REQUESTED)
    rows = _with_evidence().filter(task_id=task_id, outcome__isnull=False).exclude(Exists(sent_back))
    return (rows.exclude(pk=attempt_id) if attempt_id else rows).count()


def rivals(task_id: UUID) -> tuple[list[Rival], int]:
    """The attempts with evidence, newest generation first, and how many more there are. Five queries."""
    rows = (
        _with_evidence()
        .filter(task_id=task_id)
        .select_related("agent", "owner")
        .order_by("-claim_generation")
    )
    found = list(rows[: EVIDENCE_LIMIT + 1])
    more = rows.count() - EVIDENCE_LIMIT if len(found) > EVIDENCE_LIMIT else 0
    attempts = found[:EVIDENCE_LIMIT]
    ids = [row.pk for row in attempts]
    delivered = Delivery.objects.filter(attempt_id__in=ids).select_related("decision", "decision__reviewer")
    deliveries = {row.attempt_id: row for row in delivered}
    staged: dict[UUID, list[StagedResult]] = defaultdict(list)
    for result in (
        StagedResult.objects.filter(attempt_id__in=ids).defer("result").order_by("attempt_id", "position")
    ):
        staged[result.attempt_id].append(result)
    files: dict[UUID, list[EvidenceFile]] = defaultdict(list)
    for file in EvidenceFile.objects.filter(attempt_id__in=ids).order_by("id")[
        : FILES_LIMIT * EVIDENCE_LIMIT
    ]:
        files[file.attempt_id].append(file)
    kept = _kept(staged)
    return [
        _rival(row, deliveries.get(row.pk), staged[row.pk], files[row.pk], kept) for row in attempts
    ], more


def _kept(staged: dict[UUID, list[StagedResult]]) -> frozenset[str]:
    """The digests, of all that the manifests name, whose bytes the storage is to have."""
    named = {
        str(item["sha256"]) for results in staged.values() for result in results for item in result.evidence
    }
    return frozenset(Blob.objects.filter(pk__in=named).values_list("pk", flat=True)) if named else frozenset()


def _rival(
    attempt: Attempt,
    delivery: Delivery | None,
    staged: Sequence[StagedResult],
    files: Sequence[EvidenceFile],
    kept: frozenset[str],
) -> Rival:
    shown = [row for row in staged if delivery and row.result_digest == delivery.result_digest] or staged[-1:]
    items = tuple(item_from_json(body) for row in shown for body in row.evidence)
    named = {item.sha256 for item in items}
    return Rival(
        attempt=attempt,
        delivery=delivery,
        decision=getattr(delivery, "decision", None) if delivery else None,
        items=items,
        result_digest=shown[0].result_digest if shown else "",
        is_late=any(row.late for row in shown) or (not shown and any(file.late for file in files)),
        loose=tuple(file for file in files if file.sha256 not in named),
        gone=frozenset(named - kept),
    )


def file_of(task_id: UUID, generation: int, sha256: str) -> EvidenceFile | Item | None:
    """Bytes that the attempt of this generation has, or names in a manifest; None where it has none such."""
    attempt = Attempt.objects.filter(task_id=task_id, claim_generation=generation).first()
    if attempt is None:
        return None
    for staged in StagedResult.objects.filter(attempt_id=attempt.pk).order_by("-position"):
        for body in staged.evidence:
            if body["sha256"] == sha256:
                return item_from_json(body)
    return EvidenceFile.objects.filter(attempt_id=attempt.pk, sha256=sha256).first()


def operators_of(pool_id: int) -> list[str]:
    """Names of people who may adopt evidence in a pool, at most five."""
    held = Membership.objects.filter(Q(right=Right.OPERATOR) | Q(right=Right.ADMIN), pool_id=pool_id)
    people = User.objects.filter(pk__in=held.values("person_id"), is_active=True).order_by("pk")
    return [person.get_full_name() or person.get_username() for person in people[:NAMES_LIMIT]]
