"""Every change of a task: one function for each verb, each one transaction.

Each answers a value of ``outcomes`` or ``Refused``; none may be called inside a transaction.
"""

from claims.transitions.creating import adjust, create
from claims.transitions.deciding import accept, reject, request_changes
from claims.transitions.delivering import commit, deliver
from claims.transitions.granting import claim, claim_next
from claims.transitions.holding import fail, progress, release, renew
from claims.transitions.operating import (
    disable_agent,
    extend_once,
    lapse,
    nudge,
    reassign,
    release_quiet,
    requeue,
)
from claims.transitions.results import Account, StagedResult
from claims.transitions.staging import add_file, stage

__all__ = [
    "Account",
    "StagedResult",
    "accept",
    "add_file",
    "adjust",
    "claim",
    "claim_next",
    "commit",
    "create",
    "deliver",
    "disable_agent",
    "extend_once",
    "fail",
    "lapse",
    "nudge",
    "progress",
    "reassign",
    "reject",
    "release",
    "release_quiet",
    "renew",
    "request_changes",
    "requeue",
    "stage",
]
