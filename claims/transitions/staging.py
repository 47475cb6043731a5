"""Evidence and results on their way in. From a lost fence they are kept apart, marked late."""

from __future__ import annotations

from datetime import datetime

from claims import decide, kernel
from claims.callers import Caller
from claims.fences import Fence
from claims.models import Attempt, Blob, EvidenceFile
from claims.outcomes import FileKept, Refused, Staged, Why
from claims.transitions.results import StagedResult, absent_files, keep_staged
from claims.vocabulary import Verb


@kernel.verb(Verb.ADD_FILE)
def add_file(caller: Caller, fence: Fence, sha256: str, size: int, media_type: str) -> FileKept | Refused:
    """No edge. Bytes that are already in the evidence storage become this attempt's evidence.

    ``sha256`` is bare hex and ``size`` is in bytes, both computed from the bytes by the caller.
    """
    standing = _standing(caller, fence)
    if isinstance(standing, Refused):
        return standing

    _, validated = standing
    Blob.objects.bulk_create([Blob(sha256=sha256, size=size)], ignore_conflicts=True)
    _, is_new = EvidenceFile.objects.get_or_create(
        attempt_id=fence.attempt_id,
        sha256=sha256,
        defaults={
            "task_id": fence.task_id,
            "size": size,
            "media_type": media_type,
            "late": validated is None,
            "validated": validated,
        },
    )
    return FileKept(sha256, size, is_new)


@kernel.verb(Verb.STAGE)
def stage(
    caller: Caller, fence: Fence, staged: StagedResult, result_digest: str | None = None
) -> Staged | Refused:
    """No edge. A result waits to be handed in; its digest is recomputed and compared.

    Refused with MALFORMED when the digest is another one, or evidence names bytes that this
    attempt has not uploaded.
    """
    if result_digest is not None and result_digest != staged.digest:
        return Refused(Why.MALFORMED, f"The result digest is {staged.digest}, not {result_digest}.")
    standing = _standing(caller, fence)
    if isinstance(standing, Refused):
        return standing
    absent = absent_files(fence, staged)
    if absent:
        return decide.not_uploaded(absent)

    now, validated = standing
    keep_staged(fence, staged, now, validated)
    return Staged(staged.digest, validated is None)


def _standing(caller: Caller, fence: Fence) -> tuple[datetime, str | None] | Refused:
    """The clock, and what the fence was compared with, None where it lost its authority.

    NOT_FOUND for another's attempt.

    Late evidence is that of a fence which was granted once. One that never was is refused.
    """
    seen = kernel.hold(caller, fence)
    granted = _granted(caller, fence)
    if seen is None or granted is None:
        return Refused(Why.NOT_FOUND)
    standing = decide.claimed(seen, fence, caller.actor.id)
    if not isinstance(standing, Refused):
        return seen.now, str(standing)
    if standing.why is Why.ALREADY_DELIVERED or fence != granted:
        return standing
    return seen.now, None


def _granted(caller: Caller, fence: Fence) -> Fence | None:
    """The fence that the caller's attempt was granted; None where it has no such attempt."""
    numbers = (
        Attempt.objects.filter(id=fence.attempt_id, task_id=fence.task_id, agent_id=caller.actor.id)
        .values_list("scheduler_epoch", "claim_generation", "cancel_generation")
        .first()
    )
    return Fence(fence.task_id, fence.attempt_id, *numbers) if numbers else None
