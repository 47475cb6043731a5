"""Every change of a task: one function for each verb, each one transaction.

Each answers a value of ``outcomes`` or ``Refused``; none may be called inside a transaction.
"""

from claims.transitions.adopting import adopt
from claims.transitions.approving import approve, refuse, revoke
from claims.transitions.creating import adjust, create
from claims.transitions.deciding import accept, reject, request_changes
from claims.transitions.delivering import commit, commit_at_once, deliver
from claims.transitions.effects import abandon, execute, expire_permit, prepare
from claims.transitions.granting import claim, claim_at_once, claim_next
from claims.transitions.handing_on import hand_on
from claims.transitions.holding import fail, progress, release, renew, renew_many
from claims.transitions.observing import confirm, hand_back, unknown
from claims.transitions.opening import settle
from claims.transitions.operating import (
    disable_agent,
    extend_once,
    lapse,
    nudge,
    reassign,
    release_quiet,
    requeue,
)
from claims.transitions.pools import gate, raise_epoch
from claims.transitions.reconciling import reconcile, reconcile_as_operator, write_off
from claims.transitions.results import Account, StagedResult
from claims.transitions.revising import Answer, acknowledge, cancel, revise
from claims.transitions.seeing import observe
from claims.transitions.staging import add_file, stage
from claims.transitions.tools import accept_tool

__all__ = [
    "Account",
    "Answer",
    "StagedResult",
    "abandon",
    "accept",
    "accept_tool",
    "acknowledge",
    "add_file",
    "adjust",
    "adopt",
    "approve",
    "cancel",
    "claim",
    "claim_at_once",
    "claim_next",
    "commit",
    "commit_at_once",
    "confirm",
    "create",
    "deliver",
    "disable_agent",
    "execute",
    "expire_permit",
    "extend_once",
    "fail",
    "gate",
    "hand_back",
    "hand_on",
    "lapse",
    "nudge",
    "observe",
    "prepare",
    "progress",
    "raise_epoch",
    "reassign",
    "reconcile",
    "reconcile_as_operator",
    "refuse",
    "reject",
    "release",
    "release_quiet",
    "renew",
    "renew_many",
    "request_changes",
    "requeue",
    "revise",
    "revoke",
    "settle",
    "stage",
    "unknown",
    "write_off",
]
