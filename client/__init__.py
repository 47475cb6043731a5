"""The agent's side of Fencepost: claim work, renew beside it, hand in evidence.

Promises: nothing of the server is imported; every write carries the fence it was granted under;
the local clock may only make the work stop sooner, never go on for longer.
"""

from .calls import Client
from .effects import Call, Effects, Permit
from .evidence import Evidence, Item
from .grants import Grant
from .problems import Lost, PermitLost, Problem, Stopped, Unreachable
from .reviews import Comment, Review, Verdict
from .working import Working

__all__ = [
    "Call",
    "Client",
    "Comment",
    "Effects",
    "Evidence",
    "Grant",
    "Item",
    "Lost",
    "Permit",
    "PermitLost",
    "Problem",
    "Review",
    "Stopped",
    "Unreachable",
    "Verdict",
    "Working",
]
