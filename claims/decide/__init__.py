"""The decisions of claim.v1 as pure functions: (task as read, command) -> Change or Refused.

Promises: no database, no clock, no Django. These functions are the specification; unit tests,
the random-schedule model and the transitions call the same ones.
"""

from claims.decide.adjusting import adjust
from claims.decide.adopting import Adoption, adopt
from claims.decide.approving import ApprovalRow, Seen, Standing, approve, is_approved, revoke, turn_down
from claims.decide.changes import Change, EffectChange, NewExpiry, NewGrant, Validated
from claims.decide.deciding import Judgement, VerdictGiven, accept, marks, reject, request_changes
from claims.decide.delivering import (
    Handover,
    commit,
    deliver,
    missing_evidence,
    not_uploaded,
    subject_of,
)
from claims.decide.effects import (
    Asked,
    NewEffect,
    abandon,
    deadline_of,
    execute,
    expire_permit,
    prepare,
    resource_etag,
)
from claims.decide.fence import authority, claimed, lost_fields
from claims.decide.granting import blocked_by, claim, not_claimable, not_eligible
from claims.decide.graph import (
    acknowledge,
    cancel,
    may_open,
    may_prepare,
    open_up,
    outdate,
    revise,
    superseded,
)
from claims.decide.handing_on import hand_on
from claims.decide.holding import fail, release, renew
from claims.decide.ledger import (
    etag,
    has_settled,
    is_live,
    is_live_at,
    matching,
    settles_at,
    state_now,
    unresolved,
)
from claims.decide.observing import (
    NewObservation,
    PermitRow,
    Recorded,
    Spoken,
    Statement,
    no_such_permit,
    tell,
)
from claims.decide.operating import (
    Sighting,
    disable_agent,
    extend_once,
    lapse,
    nudge,
    reassign,
    release_quiet,
    requeue,
)
from claims.decide.pools import PoolAsRead, gate, raise_epoch
from claims.decide.reconciling import Look, reconcile, reconcile_as_operator, write_off
from claims.decide.seeing import observe

__all__ = [
    "Adoption",
    "ApprovalRow",
    "Asked",
    "Change",
    "EffectChange",
    "Handover",
    "Judgement",
    "Look",
    "NewEffect",
    "NewExpiry",
    "NewGrant",
    "NewObservation",
    "PermitRow",
    "PoolAsRead",
    "Recorded",
    "Seen",
    "Sighting",
    "Spoken",
    "Standing",
    "Statement",
    "Validated",
    "VerdictGiven",
    "abandon",
    "accept",
    "acknowledge",
    "adjust",
    "adopt",
    "approve",
    "authority",
    "blocked_by",
    "cancel",
    "claim",
    "claimed",
    "commit",
    "deadline_of",
    "deliver",
    "disable_agent",
    "etag",
    "execute",
    "expire_permit",
    "extend_once",
    "fail",
    "gate",
    "hand_on",
    "has_settled",
    "is_approved",
    "is_live",
    "is_live_at",
    "lapse",
    "lost_fields",
    "marks",
    "matching",
    "may_open",
    "may_prepare",
    "missing_evidence",
    "no_such_permit",
    "not_claimable",
    "not_eligible",
    "not_uploaded",
    "nudge",
    "observe",
    "open_up",
    "outdate",
    "prepare",
    "raise_epoch",
    "reassign",
    "reconcile",
    "reconcile_as_operator",
    "reject",
    "release",
    "release_quiet",
    "renew",
    "request_changes",
    "requeue",
    "resource_etag",
    "revise",
    "revoke",
    "settles_at",
    "state_now",
    "subject_of",
    "superseded",
    "tell",
    "turn_down",
    "unresolved",
    "write_off",
]
