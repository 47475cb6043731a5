"""A result and its evidence on their way from an attempt to the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q

from claims import canonical, decide, evidence, kernel, selectors
from claims.callers import Caller
from claims.canonical import Item
from claims.fences import Fence
from claims.inputs import parse_input
from claims.models import Attempt, EvidenceFile
from claims.models import StagedResult as StagedRow
from claims.outcomes import Refused, Why
from claims.vocabulary import Source


@dataclass(frozen=True, slots=True)
class StagedResult:
    """A result and its evidence as they are handed in inline."""

    result: object
    evidence: Sequence[Item]

    @property
    def digest(self) -> str:
        """Its result digest, computed here."""
        return canonical.result_digest(self.result, self.evidence)


@dataclass(frozen=True, slots=True)
class Account:
    """What the agent says of its delivery: shown as its word, never as a fact.

    ``claims`` maps a criterion's number to one line; ``needs`` says in at most 140 characters
    what is asked of the reviewer.
    """

    summary: str = ""
    needs: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that can be read of a hand-in before its transaction, because it never changes."""

    handover: decide.Handover
    staged: StagedResult | None
    facts: Mapping[str, object]


def prepare(
    caller: Caller, fence: Fence, input_digest: str, result_digest: str | None, staged: StagedResult | None
) -> Prepared | Refused:
    """Read the immutable side of a hand-in: input, manifest, and the facts in the evidence's bytes.

    Only a worker of this server can have run a command here; nobody's word makes it a fact.
    """
    if staged is not None and result_digest not in (None, staged.digest):
        return Refused(Why.MALFORMED, f"The result digest is {staged.digest}, not {result_digest}.")
    absent = absent_files(fence, staged) if staged else ()
    digest = staged.digest if staged else kernel.staged(fence.attempt_id, result_digest)
    items = staged.evidence if staged else selectors.manifest(fence.attempt_id, digest)
    body = selectors.specification_of(fence.task_id)
    if body is None:
        return Refused(Why.NOT_FOUND)
    specification = parse_input(body)
    named = staged.digest if staged else result_digest
    missing = decide.missing_evidence(specification, items)
    handover = decide.Handover(input_digest, named, digest, missing, tuple(specification.effects), absent)
    is_whole = not absent
    facts = (
        evidence.establish(specification, items, ran_here=caller.source is Source.WORKER) if is_whole else {}
    )
    return Prepared(handover, staged, facts)


def absent_files(fence: Fence, staged: StagedResult) -> tuple[str, ...]:
    """The items of a manifest whose bytes this attempt neither uploaded nor adopted, or of another size."""
    adopted = Attempt.objects.filter(id=fence.attempt_id).values("adopted_from")
    theirs = EvidenceFile.objects.filter(Q(attempt_id=fence.attempt_id) | Q(attempt_id__in=adopted))
    have = dict(theirs.values_list("sha256", "size"))
    return tuple(item.name for item in staged.evidence if have.get(item.sha256) != item.size)


def keep_staged(fence: Fence, staged: StagedResult, at: datetime, validated: str | None) -> None:
    """Store a staged result once, in the caller's transaction and under its task's lock.

    ``validated`` is what the fence was compared with; None keeps it apart as late.
    """
    of_attempt = StagedRow.objects.filter(attempt_id=fence.attempt_id)
    if of_attempt.filter(result_digest=staged.digest).exists():
        return
    StagedRow.objects.create(
        attempt_id=fence.attempt_id,
        position=of_attempt.count(),
        task_id=fence.task_id,
        result_digest=staged.digest,
        result=staged.result,
        evidence=[item.as_json() for item in staged.evidence],
        late=validated is None,
        validated=validated,
        staged_at=at,
    )
    _keep_adopted(fence, staged, validated)


def _keep_adopted(fence: Fence, staged: StagedResult, validated: str | None) -> None:
    """Make bytes of an adopted attempt this attempt's own once its manifest names them.

    Theirs may be late evidence, which is forgotten after some days; a delivery's is not.
    """
    adopted = Attempt.objects.filter(id=fence.attempt_id).values("adopted_from")
    named = [item.sha256 for item in staged.evidence]
    theirs = EvidenceFile.objects.filter(attempt_id__in=adopted, sha256__in=named)
    EvidenceFile.objects.bulk_create(
        (
            EvidenceFile(
                attempt_id=fence.attempt_id,
                task_id=fence.task_id,
                sha256=sha256,
                size=size,
                media_type=media_type,
                late=validated is None,
                validated=validated,
            )
            for sha256, size, media_type in theirs.values_list("sha256", "size", "media_type")
        ),
        ignore_conflicts=True,
    )
