"""What is asked of the model in docs/model, and what Spin must answer.

Each run is the model with some of its `#ifdef` flags set. The honest one must keep every invariant in every
reachable state; each mutant has one check taken out and must break the invariant that is named; each ending
must be found; and the limits show on which assumption the promise about the sink rests.
"""

from __future__ import annotations

from dataclasses import dataclass

SINK = "SINK"
"""The flag that holds the second property file, sink.pml, beside the invariants."""
SMALL = "GRANTS=2"
"""Two attempts are enough to break anything; the honest run has three."""

PROPERTIES = {
    1: "invariant 1",
    2: "invariant 2",
    3: "invariant 3",
    4: "invariant 4",
    5: "invariant 5",
    9: "invariant 9",
    20: "no write without authority",
    30: "no commit before its effects",
    40: "no second call",
    41: "COMMITTED is true",
}
"""By the number that an assertion of the model begins with."""

REACHED = "reached"
"""What a run answers whose ending was found."""


@dataclass(frozen=True)
class Run:
    """One question to the model.

    ``breaks``: the property that must fail; None when all must hold. ``is_whole``: no statement of the model
    may be without a run that comes by it.
    """

    name: str
    says: str
    flags: tuple[str, ...]
    breaks: str | None
    is_whole: bool = False


def _mutant(flag: str, says: str, number: int) -> Run:
    return Run(flag, says, (SINK, SMALL, flag), PROPERTIES[number])


def _ending(flag: str, says: str) -> Run:
    return Run(flag, says, (SINK, SMALL, flag), REACHED)


def _limit(name: str, says: str, number: int | None = None) -> Run:
    return Run(name, says, (SMALL, *name.split(" + ")), PROPERTIES[number] if number else None)


HONEST = Run("the contract", "every check is in place", (SINK,), None, is_whole=True)

MUTANTS: tuple[Run, ...] = (
    _mutant("NO_BUMP_ON_TAKEOVER", "a claim of an expired claim keeps the generation", 1),
    _mutant("NO_BUMP_ON_RELEASE", "a runner's release keeps the generation", 3),
    _mutant("NO_BUMP_ON_OPERATOR_RELEASE", "an operator's release keeps the generation", 3),
    _mutant("NO_BUMP_ON_LAPSE", "the sweep keeps the generation", 3),
    _mutant("COMMIT_CHECKS_NO_EPOCH", "a commit compares no epoch", 4),
    _mutant("COMMIT_CHECKS_NO_GENERATION", "a commit looks at the state, not at the holder", 1),
    _mutant("COMMIT_CHECKS_NO_CANCEL", "a commit does not ask whether the task was cancelled", 5),
    _mutant("COMMIT_BEFORE_EFFECTS", "a commit does not ask whether effects are resolved", 30),
    _mutant("CANCEL_NEVER_TOO_LATE", "a cancel is accepted after the commit", 5),
    _mutant("REQUEUE_REOPENS_DONE", "a committed task can be opened again", 2),
    _mutant("RENEW_REVIVES_LOST", "a renewal compares no generation", 20),
    _mutant("EPOCH_READ_BEFORE_LOCK", "the epoch is read in the statement that waits for the lock", 4),
    _mutant("RAISE_TAKES_NO_LOCK", "a raise does not wait for the transactions in flight", 4),
    _mutant("PERMIT_REPLAYED", "a repeated execute is answered with a permit", 9),
    _mutant("LOSS_KEEPS_EXECUTING", "a loss of authority leaves the effect EXECUTING", 9),
    _mutant("APPROVAL_OUTLIVES_CLAIM", "an approval is not bound to the attempt it was given for", 9),
    _mutant("CONFIRM_WITHOUT_PERMIT", "a confirm does not ask for the live permit", 41),
    _mutant("RECONCILE_BEFORE_DEADLINE", "DID_NOT_HAPPEN is recorded while the permit is live", 9),
    _mutant("RECONCILE_BEFORE_SETTLE", "DID_NOT_HAPPEN waits for the deadline alone", 40),
    _mutant("LOOK_UP_WITHOUT_ETAG", "a look-up that began before the settle time counts after it", 40),
)

ENDINGS: tuple[Run, ...] = (
    _ending("ENDS_BY_ITS_FIRST_RUNNER", "the first attempt is committed"),
    _ending("ENDS_BY_ANOTHER_RUNNER", "one runner loses the task, the other one's attempt is committed"),
    _ending("ENDS_IN_A_RAISED_EPOCH", "the epoch rises over an attempt, the next one is committed"),
    _ending("ENDS_WITH_THE_CALL_OF_A_LOST_RUNNER", "a lost runner's call is found, not made again"),
    _ending("ENDS_WITH_A_SECOND_PERMIT", "a call did not happen, the second one did"),
    _ending("ENDS_WITH_AN_APPROVED_CALL", "a NON_REPLAYABLE call was approved and made"),
    _ending("ENDS_CANCELLED_AND_SETTLED", "the task was cancelled, its call was found"),
)

LIMITS: tuple[Run, ...] = (
    _limit("RECONCILE_BEFORE_SETTLE", "no settle time: the ledger's own invariants hold"),
    _limit("SINK + RECONCILE_BEFORE_SETTLE", "no settle time: the sink sees a second call", 40),
    _limit("SINK + OPERATOR_LOOKED_EARLY", "a person looked before it, and said so after it", 40),
    _limit("LATE_SENDER", "a sender paused beyond it: the ledger's own invariants hold"),
    _limit("SINK + LATE_SENDER", "a sender paused beyond it: the sink sees a second call", 40),
    _limit("SINK + LATE_SENDER + SINK_REFUSES_BY_DEADLINE", "the sink refuses after the deadline"),
    _limit("SINK + LATE_SENDER + SINK_REFUSES_BY_EFFECT_ID", "the sink refuses an effectId it has seen"),
    _limit("SINK + LATE_SENDER + SINK_REFUSES_BY_GENERATION", "the sink refuses a lower generation only", 40),
)

RUNS: tuple[Run, ...] = (HONEST, *MUTANTS, *ENDINGS, *LIMITS)
