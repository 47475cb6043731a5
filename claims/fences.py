"""The fence: what a runner presents with every write (claim.v1 section 1).

Promises: a fence names one grant of one task and nothing else; comparing it with the row is
the only question of authority. It does not say whether the state allows the write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Fence:
    """Five values, all compared at every acceptance point."""

    task_id: UUID
    attempt_id: UUID
    scheduler_epoch: int
    claim_generation: int
    cancel_generation: int

    def as_json(self) -> dict[str, str | int]:
        """The fence under its names of the JSON API."""
        return {
            "taskId": str(self.task_id),
            "attemptId": str(self.attempt_id),
            "schedulerEpoch": self.scheduler_epoch,
            "claimGeneration": self.claim_generation,
            "cancelGeneration": self.cancel_generation,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, object]) -> Fence:
        """The fence that ``as_json`` wrote.

        Raises ``KeyError`` or ``ValueError`` when a field is absent or not of its type.
        """
        return cls(
            task_id=UUID(str(body["taskId"])),
            attempt_id=UUID(str(body["attemptId"])),
            scheduler_epoch=int(str(body["schedulerEpoch"])),
            claim_generation=int(str(body["claimGeneration"])),
            cancel_generation=int(str(body["cancelGeneration"])),
        )
