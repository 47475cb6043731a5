"""Which test killed each mutant when all of them were last run: ``killed_by.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.mutants.mutant import Mutant

KEPT = Path(__file__).with_name("killed_by.toml")
_HEAD = "# Written by `python -m tests.support.mutants --record`: the first test of each mutant's tier that failed.\n\n"


def killers() -> dict[str, str]:
    """The test that killed each, by the mutant's name."""
    return dict(tomllib.loads(KEPT.read_text(encoding="utf-8"))) if KEPT.exists() else {}


def keep(mutants: Sequence[Mutant], killed: Mapping[str, str | None]) -> None:
    """Write down what a run saw; what it did not run stays as it is."""
    now = killers() | {name: test for name, test in killed.items() if test}
    for name in [name for name, test in killed.items() if test is None]:
        now.pop(name, None)
    names = {mutant.name for mutant in mutants}
    lines = [
        f"{name} = '{test}'\n" if "'" not in test else f'{name} = """{test}"""\n'
        for name, test in sorted(now.items())
        if name in names
    ]
    KEPT.write_text(_HEAD + "".join(lines), encoding="utf-8")


def table(mutants: Sequence[Mutant]) -> list[str]:
    """The rows of the proofs page, heading included."""
    known = killers()
    rows = ["| mutant | what is wrong in it | where | killed by |", "|---|---|---|---|"]
    for mutant in sorted(mutants, key=lambda one: one.name):
        by = (
            f"equivalent: {mutant.equivalent}"
            if mutant.equivalent
            else f"`{known.get(mutant.name, 'nothing')}`"
        )
        rows.append(f"| `{mutant.name}` | {mutant.says} | `{mutant.path}` | {by} |")
    return rows
