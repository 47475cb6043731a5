"""The decisions of claim.v1 as pure functions: (task as read, command) -> Change or Refused.

Promises: no database, no clock, no Django. These functions are the specification; unit tests,
the random-schedule model and the transitions call the same ones.
"""

from claims.decide.adjusting import adjust
from claims.decide.changes import Change, NewExpiry, NewGrant
from claims.decide.deciding import Judgement, VerdictGiven, accept, marks, reject, request_changes
from claims.decide.delivering import Handover, commit, deliver, missing_evidence, subject_of
from claims.decide.fence import authority, claimed, lost_fields
from claims.decide.granting import claim, not_claimable, not_eligible
from claims.decide.holding import fail, release, renew
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

__all__ = [
    "Change",
    "Handover",
    "Judgement",
    "NewExpiry",
    "NewGrant",
    "Sighting",
    "VerdictGiven",
    "accept",
    "adjust",
    "authority",
    "claim",
    "claimed",
    "commit",
    "deliver",
    "disable_agent",
    "extend_once",
    "fail",
    "lapse",
    "lost_fields",
    "marks",
    "missing_evidence",
    "not_claimable",
    "not_eligible",
    "nudge",
    "reassign",
    "reject",
    "release",
    "release_quiet",
    "renew",
    "request_changes",
    "requeue",
    "subject_of",
]
