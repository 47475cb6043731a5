"""One check taken out of the code, and the tests that ought to miss it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]

DECIDE, KERNEL, VERBS = "claims/decide", "claims/kernel", "claims/transitions"
TABLES, SHORT = "claims/migrations/0001_contract.py", "claims/migrations/0003_hot_verbs.py"
ROWS = "claims/migrations/0004_rows_are_whole.py"

UNIT = "tests/unit/claims"


def tier(*names: str) -> tuple[str, ...]:
    """Files of the unit tier by their names without ``test_`` and ``.py``."""
    paths = (name.rpartition("/") for name in names)
    return tuple(f"{UNIT}/{folder}{'/' if folder else ''}test_{name}.py" for folder, _, name in paths)


FENCES = tier("decide/fence", "decide/stale_input", "transitions/fences")
GRANTS = tier("decide/granting", "transitions/claim_next", "transitions/edges")
LEASES = tier("decide/renewing", "decide/backing_off", "transitions/holding")
HANDING_IN = tier("decide/delivering", "transitions/handing_in")
DECISIONS = tier("decide/deciding", "decide/accepting_effects", "transitions/decisions")
OPERATING = tier("decide/operating", "transitions/edges", "sweeps")
ADOPTING = tier("decide/adopting", "transitions/adopting")
POOLS = tier("decide/pools", "transitions/pools")
EDGES = tier("outcomes", "transitions/edges")
WRITING = tier("kernel/moved", "transitions/edges", "kernel/history", "kernel/refusals")
RUNNING = tier(
    "kernel/keys",
    "kernel/keys_in_use",
    "transitions/refused_whole",
    "kernel/unanswered_commits",
    "kernel/unreplicated_commits",
    "kernel/lost_commits",
    "kernel/moved",
    "kernel/statements",
    "kernel/refusals",
)
STATEMENTS = tier("kernel/statements")
EFFECTS = tier("decide/effects", "transitions/effects")
APPROVALS = tier("decide/effects", "transitions/effect_approvals")
OBSERVING = tier(
    "decide/effect_doubts",
    "decide/effect_fences",
    "transitions/effect_observations",
    "transitions/effect_keys",
)
RECONCILING = tier("decide/effect_doubts", "decide/effect_fences", "transitions/effect_reconciling")
GRAPHS = tier(
    "decide/acknowledging",
    "transitions/commits_in_graphs",
    "transitions/graphs",
    "transitions/revising",
    "transitions/creating",
)
GUARDS = tier("models/guards")
GUARDS_OF_EFFECTS = tier("models/guards_of_effects")
PASSING_RACES = ("tests/race/test_passing.py",)
RAISING_RACES = tuple(
    f"tests/race/test_raising.py::{name}"
    for name in (
        "test_a_raise_waits_for_a_verb_that_is_under_way_whatever_that_waits_for",
        "test_a_gate_closes_after_the_grant_that_is_under_way",
    )
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One check, as it stands in the code and as it is when it is taken out.

    ``tier`` holds the files, or single tests of a slow file, that ought to miss it. ``equivalent`` says why nothing can,
    where the database or another check keeps the same promise.
    """

    name: str
    says: str
    path: str
    old: str
    new: str
    tier: tuple[str, ...]
    equivalent: str = ""

    @property
    def is_of_tables(self) -> bool:
        """Whether the tables have to be made anew to see it."""
        return "/migrations/" in self.path

    def taken_out(self, text: str) -> str:
        """A file's text without the check. Raises ``LookupError`` when the check is not in it once."""
        if text.count(self.old) != 1:
            raise LookupError(f"{self.name}: {self.path} has {text.count(self.old)} times: {self.old}")
        return text.replace(self.old, self.new)

    def text(self) -> str:
        """The file of the working tree without the check."""
        return self.taken_out((ROOT / self.path).read_text(encoding="utf-8"))
