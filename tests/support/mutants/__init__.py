"""Checks taken out of the code one at a time, and the test that turns red for each.

The list was made by walking claim.v1 sentence by sentence, before looking at what tests there
are; each mutant names the files of the tier that ought to miss its check. ``killed_by.toml``
keeps which test did. ``python -m tests.support.mutants`` says how to run them.
"""

from __future__ import annotations

from tests.support.mutants import (
    of_decisions,
    of_effects,
    of_fences,
    of_grants,
    of_graphs,
    of_kernel,
    of_short_ways,
    of_tables,
)
from tests.support.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *of_fences.MUTANTS,
    *of_grants.MUTANTS,
    *of_decisions.MUTANTS,
    *of_kernel.MUTANTS,
    *of_effects.MUTANTS,
    *of_graphs.MUTANTS,
    *of_tables.MUTANTS,
    *of_short_ways.MUTANTS,
)

_NAMES = sorted(mutant.name for mutant in MUTANTS if not mutant.equivalent)

SAMPLE: tuple[str, ...] = tuple(_NAMES[:: len(_NAMES) // 10][:10])
"""Ten of them by a fixed rule, as far apart as their names are: what a run of all tests runs."""

__all__ = ["MUTANTS", "SAMPLE", "Mutant"]
