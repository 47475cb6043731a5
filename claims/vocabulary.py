"""Every list of words of claim.v1, written once.

Promises: code, tables, API and pages take their words from here, so two lists cannot drift
apart. It does not say which words may follow which: that is ``lifecycle.EDGES``.
"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where a task is (claim.v1 section 2)."""

    BLOCKED = "BLOCKED"
    OPEN = "OPEN"
    CLAIMED = "CLAIMED"
    DELIVERED = "DELIVERED"
    HELD = "HELD"
    DONE = "DONE"
    CANCELLED = "CANCELLED"
    SUPERSEDED = "SUPERSEDED"


FINAL = frozenset({State.DONE, State.CANCELLED, State.SUPERSEDED})
"""States that are never left; a CANCELLED row may still become SUPERSEDED."""


class Verb(StrEnum):
    """What may be asked of the server, as history, refusals and logs name it."""

    CREATE = "create"
    ADJUST = "adjust"
    CLAIM = "claim"
    CLAIM_NEXT = "claim-next"
    RENEW = "renew"
    PROGRESS = "progress"
    ADD_FILE = "add-file"
    STAGE = "stage"
    RELEASE = "release"
    FAIL = "fail"
    DELIVER = "deliver"
    COMMIT = "commit"
    ACCEPT = "accept"
    REQUEST_CHANGES = "request-changes"
    REJECT = "reject"
    RELEASE_QUIET = "release-quiet"
    REASSIGN = "reassign"
    EXTEND_ONCE = "extend-once"
    NUDGE = "nudge"
    REQUEUE = "requeue"
    LAPSE = "lapse"
    DISABLE_AGENT = "disable-agent"
    CANCEL = "cancel"
    REVISE = "revise"
    ACKNOWLEDGE = "acknowledge"
    OPEN = "open"
    OUTDATE = "outdate"
    ADOPT = "adopt"
    RAISE_EPOCH = "raise-epoch"
    GATE = "gate"
    ACCEPT_TOOL = "accept-tool"
    PREPARE = "prepare"
    EXECUTE = "execute"
    CONFIRM = "confirm"
    UNKNOWN = "unknown"
    HAND_BACK = "hand-back"
    ABANDON = "abandon"
    OBSERVE = "observe"
    RECONCILE = "reconcile"
    EXPIRE_PERMIT = "expire-permit"
    APPROVE = "approve"
    REFUSE = "refuse"
    REVOKE = "revoke"


FENCED_VERBS = (
    Verb.CLAIM,
    Verb.CLAIM_NEXT,
    Verb.RELEASE,
    Verb.FAIL,
    Verb.DELIVER,
    Verb.COMMIT,
    Verb.ACCEPT,
    Verb.PREPARE,
    Verb.EXECUTE,
    Verb.CONFIRM,
    Verb.UNKNOWN,
    Verb.HAND_BACK,
    Verb.ABANDON,
)
"""Acceptance points that write history, whoever acts; an agent's reconcile is one, too."""


class AttemptOutcome(StrEnum):
    """How an attempt ended; while it lives it has none."""

    DELIVERED = "DELIVERED"
    COMMITTED = "COMMITTED"
    RELEASED = "RELEASED"
    FAILED = "FAILED"
    LAPSED = "LAPSED"
    FENCED = "FENCED"
    CANCELLED = "CANCELLED"
    SUPERSEDED = "SUPERSEDED"


class ReviewPolicy(StrEnum):
    """REVIEW: a person accepts. NONE: the runner commits, where the pool allows it."""

    REVIEW = "REVIEW"
    NONE = "NONE"


class ReclaimPolicy(StrEnum):
    """MANUAL: an expired claim goes quiet and a person decides. AUTO: it may be taken."""

    MANUAL = "MANUAL"
    AUTO = "AUTO"


class SelfReview(StrEnum):
    """REFUSED: maker is never checker. MARKED: a pool of one may, marked on the record."""

    REFUSED = "REFUSED"
    MARKED = "MARKED"


class Gate(StrEnum):
    """Whether a pool hands out new claims."""

    OPEN = "OPEN"
    DRAINING = "DRAINING"


class Right(StrEnum):
    """What a person may do in a pool; ``rights.IMPLIED`` says which right carries which."""

    VIEWER = "VIEWER"
    PREPARER = "PREPARER"
    REVIEWER = "REVIEWER"
    OPERATOR = "OPERATOR"
    ADMIN = "ADMIN"


class DeliveryState(StrEnum):
    """Where a delivery is. CLOSED: ended undecided, because its claim lost authority."""

    PENDING = "PENDING"
    ACCEPTED = "ACCEPTED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    REJECTED = "REJECTED"
    CLOSED = "CLOSED"


class DecisionKind(StrEnum):
    """The one final decision of a delivery."""

    ACCEPTED = "ACCEPTED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    REJECTED = "REJECTED"


class Verdict(StrEnum):
    """What a reviewer says of one criterion."""

    MET = "MET"
    NOT_MET = "NOT_MET"
    CANNOT_TELL = "CANNOT_TELL"


class EvidenceKind(StrEnum):
    """Kinds of evidence an input may ask for and a manifest may carry."""

    DIFF = "diff"
    BRANCH = "branch"
    COMMAND = "command"
    TEST_REPORT = "test-report"
    SCREENSHOT = "screenshot"
    FILE = "file"
    LOG = "log"
    LINK = "link"


class EffectMode(StrEnum):
    """How a doubt about an effect can end: by the write itself, a look-up, a reservation, or a person."""

    CONDITIONAL = "CONDITIONAL"
    QUERYABLE = "QUERYABLE"
    RESERVATION = "RESERVATION"
    NON_REPLAYABLE = "NON_REPLAYABLE"


class EffectState(StrEnum):
    """Where an outside effect is (claim.v1 section 5)."""

    PREPARED = "PREPARED"
    EXECUTING = "EXECUTING"
    UNKNOWN = "UNKNOWN"
    COMMITTED = "COMMITTED"
    ABANDONED = "ABANDONED"
    WRITTEN_OFF = "WRITTEN_OFF"


SETTLED = frozenset({EffectState.COMMITTED, EffectState.ABANDONED, EffectState.WRITTEN_OFF})
"""States of an effect that are never left."""


class Said(StrEnum):
    """What an observation of an effect says."""

    HAPPENED = "HAPPENED"
    DID_NOT_HAPPEN = "DID_NOT_HAPPEN"
    CANNOT_TELL = "CANNOT_TELL"


class Via(StrEnum):
    """How an observation was made."""

    CONFIRM = "CONFIRM"
    UNKNOWN = "UNKNOWN"
    HAND_BACK = "HAND_BACK"
    LOOK_UP = "LOOK_UP"
    OPERATOR = "OPERATOR"


class ApprovalState(StrEnum):
    """Where a person's answer about an effect is. Only GRANTED can be consumed, and once."""

    GRANTED = "GRANTED"
    REFUSED = "REFUSED"
    REVOKED = "REVOKED"
    CONSUMED = "CONSUMED"
    VOID = "VOID"


class ActorKind(StrEnum):
    """Who acted."""

    AGENT = "AGENT"
    PERSON = "PERSON"
    SYSTEM = "SYSTEM"


class Source(StrEnum):
    """Through which door a call came."""

    API = "API"
    WEB = "WEB"
    WORKER = "WORKER"
    COMMAND = "COMMAND"
    SWEEP = "SWEEP"


class Scope(StrEnum):
    """What a token may be used for. No scope of any token can decide."""

    READ = "read"
    CLAIM = "claim"
    DELIVER = "deliver"
    PREPARE = "prepare"
    TOOL = "tool"


class TokenKind(StrEnum):
    """Whose token it is. ATTEMPT: an agent's, good for one attempt and short-lived."""

    AGENT = "AGENT"
    PERSON = "PERSON"
    ATTEMPT = "ATTEMPT"
