"""Whether what is stored is what claim.v1 promises: read from the tables, and never written.

``check`` replays history against the invariants of section 7; ``coverage`` counts, for each
acceptance point, what was accepted and what of it was validated.
"""

from claims.checking.coverage import CANARY_POOL, POINTS, Coverage, coverage
from claims.checking.running import (
    COUNTED,
    INVARIANTS,
    Certificate,
    Violation,
    check,
    first_violation,
    name_of,
)

__all__ = [
    "CANARY_POOL",
    "COUNTED",
    "INVARIANTS",
    "POINTS",
    "Certificate",
    "Coverage",
    "Violation",
    "check",
    "coverage",
    "first_violation",
    "name_of",
]
