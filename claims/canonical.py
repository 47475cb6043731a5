"""Canonical JSON (RFC 8785) and the digests of claim.v1 section 1.

Promises: the same value has the same digest in every process and language. Integers from
2^53 on, NaN and infinities have no canonical form and are refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import rfc8785

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class NotCanonical(ValueError):
    """The value has no RFC 8785 form."""


def canonical(value: object) -> bytes:
    """The RFC 8785 bytes of a JSON value.

    Raises ``NotCanonical`` for what JSON cannot carry exactly.
    """
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as error:
        raise NotCanonical(str(error)) from error


def digest(value: object) -> str:
    """``sha256:`` and 64 lower-case hex digits of the canonical JSON of ``value``."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


def is_digest(text: str) -> bool:
    """Whether ``text`` is written exactly as a digest is."""
    return DIGEST.fullmatch(text) is not None


def input_digest(specification: object, predecessors: Mapping[str, str]) -> str:
    """The digest of an input together with the pinned result digests of its predecessors.

    ``predecessors`` maps a predecessor's node id to its result digest; it is empty for a task
    that depends on nothing.
    """
    return digest({"input": specification, "predecessors": dict(predecessors)})


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of evidence in a manifest; its bytes are known by ``sha256`` (bare hex)."""

    name: str
    kind: str
    sha256: str
    size: int
    media_type: str
    criteria: tuple[int, ...]
    meta: Mapping[str, object]

    def as_json(self) -> dict[str, object]:
        """The item under its names of the manifest."""
        return {
            "name": self.name,
            "kind": self.kind,
            "sha256": self.sha256,
            "size": self.size,
            "mediaType": self.media_type,
            "criteria": list(self.criteria),
            "meta": dict(self.meta),
        }


def effect_id(task_id: UUID, node_id: str, slot: str) -> str:
    """The id of an effect: hex SHA-256 of four UTF-8 parts, each preceded by its length.

    A length is four big-endian bytes. Neither attempt nor payload enters it, so every attempt
    at the same slot of the same task means the same effect.
    """
    whole = hashlib.sha256()
    for part in ("fencepost.effect.v1", str(task_id), node_id, slot):
        written = part.encode()
        whole.update(len(written).to_bytes(4, "big") + written)
    return whole.hexdigest()


def result_digest(result: object, evidence: Sequence[Item]) -> str:
    """The digest of a result and its evidence manifest, in the manifest's order."""
    return digest({"evidence": [item.as_json() for item in evidence], "result": result})


@dataclass(frozen=True, slots=True)
class Subject:
    """What a decision is about: exactly these seven values."""

    delivery_id: UUID
    round: int
    input_digest: str
    result_digest: str
    attempt_id: UUID
    claim_generation: int
    scheduler_epoch: int


def subject_digest(subject: Subject) -> str:
    """The digest that a decision must repeat, so that it decides what was seen."""
    return digest(
        {
            "deliveryId": str(subject.delivery_id),
            "round": subject.round,
            "inputDigest": subject.input_digest,
            "resultDigest": subject.result_digest,
            "attemptId": str(subject.attempt_id),
            "claimGeneration": subject.claim_generation,
            "schedulerEpoch": subject.scheduler_epoch,
        }
    )
