"""The bodies of the verbs about outside effects (claim.v1 section 5)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from claims.api.bodies import FenceBody
from claims.api.fields import Body, Count, Digest, EffectId, Id, Name, Note, Reason, Title, word_of
from claims.decide import Look
from claims.transitions import Answer
from claims.vocabulary import Said

ETag = Annotated[str, Field(max_length=40, pattern=r"^[!#-~]*$")]
ResourceETag = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
LookUp = Annotated[str, Field(max_length=20, pattern=r"^[a-z-]*$")]
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:~+=-]{1,255}$")]
Tool = Annotated[str, Field(pattern=r"^[a-z0-9_.:-]{1,120}$")]


class AcceptToolBody(Body):
    """``argsDigest`` names the arguments; the arguments themselves stay with the tool server."""

    fence: FenceBody
    tool: Tool
    argsDigest: Digest


class PrepareBody(Body):
    """``effectId`` may be left out; where it is sent, it must be the one that the server computes."""

    fence: FenceBody
    slot: Name
    payload: Any
    effectId: EffectId | None = None


class ExecuteBody(Body):
    fence: FenceBody


class ConfirmBody(Body):
    """``receipt`` is what the outside system answered; ``resourceEtag`` the resource's ETag after the call."""

    fence: FenceBody
    permitId: Id
    receipt: dict[str, Any] = Field(default_factory=dict)
    resourceEtag: ResourceETag = ""


class UnknownBody(Body):
    fence: FenceBody
    permitId: Id
    note: Note = ""


class HandBackBody(Body):
    """``executeKey`` is the Idempotency-Key of the execute whose answer never came."""

    fence: FenceBody
    executeKey: Key


class AbandonBody(Body):
    fence: FenceBody
    reason: Reason


class ReconcileBody(Body):
    """What the slot's declared look-up saw; ``etag`` is the effect's, read before the look-up began."""

    fence: FenceBody
    said: word_of(Said)  # type: ignore[valid-type]
    lookUp: LookUp = ""
    etag: ETag = ""
    receipt: dict[str, Any] | None = None
    note: Note = ""

    def look(self) -> Look:
        """The observation as the verb takes it."""
        return Look(self.said, self.lookUp, self.etag, self.receipt, self.note)


class AcknowledgeBody(Body):
    """Whether an earlier revision's effect counts for the newest one, or is to be done again."""

    effectId: EffectId
    counts: bool
    reason: Reason

    def answer(self) -> Answer:
        """The answer as the verbs take it."""
        return Answer(self.effectId, self.counts, self.reason)


class ReviseBody(Body):
    """The next revision of a task. ``acknowledge`` answers for effects of the revisions before it."""

    expectedStateVersion: Count | None = None
    input: dict[str, Any]
    title: Title | None = None
    acknowledge: Annotated[list[AcknowledgeBody], Field(max_length=1_000)] = Field(default_factory=list)


class CancelBody(Body):
    reason: Reason
