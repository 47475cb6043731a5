"""``python -m tests.support.mutants``: take checks out, and see which test misses each.

With names: each of these before the test that is known to miss it. ``--all``: every one before
its whole tier; prints which test killed it and the share of those that were killed, and ends
with 1 below 95 %. ``--record`` keeps what it saw in ``killed_by.toml``; ``--table`` prints the
table of docs/explanation/proofs.md. Needs the environment of a test run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from tests.support.mutants import MUTANTS, Mutant, known
from tests.support.mutants.running import HANGS, Tree, a_tree

SHARE = 0.95


def main(arguments: list[str]) -> int:
    """What the command line asks for; the exit code."""
    reader = argparse.ArgumentParser(prog="python -m tests.support.mutants", description=__doc__)
    reader.add_argument("names", nargs="*", metavar="name", help="mutants, by name")
    reader.add_argument("--all", action="store_true", help="every mutant before its whole tier")
    reader.add_argument("--record", action="store_true", help="keep which test killed each")
    reader.add_argument("--table", action="store_true", help="print the table of the proofs page")
    asked = reader.parse_args(arguments)
    if asked.table:
        _say(*known.table(MUTANTS))
        return 0
    wanted = [mutant for mutant in MUTANTS if not asked.names or mutant.name in asked.names]
    unheard = set(asked.names) - {mutant.name for mutant in wanted}
    if unheard or not (asked.names or asked.all):
        reader.error(
            f"no mutant is called {', '.join(sorted(unheard))}" if unheard else "name mutants, or --all"
        )
    killed: dict[str, str | None] = {}
    with a_tree() as tree:
        for _ in _run(tree, wanted, killed, is_whole=asked.all or asked.record):
            if asked.record:
                known.keep(MUTANTS, killed)
    return _tell(wanted, killed)


def _run(
    tree: Tree, wanted: list[Mutant], killed: dict[str, str | None], *, is_whole: bool
) -> Iterator[None]:
    """Write down in ``killed`` which test killed each; None for one that survived.

    A test that is red with nothing taken out kills nothing: what it seemed to kill runs again without it.
    """
    narrow = {} if is_whole else known.killers()
    left = wanted
    while left:
        for mutant in left:
            by = tree.run_without(
                mutant, [narrow[mutant.name]] if mutant.name in narrow else mutant.tier
            ).killer
            killed[mutant.name] = by
            _say(f"{'SURVIVED' if by is None else 'killed':8}  {mutant.name}: {by or mutant.says}")
            yield
        red = tree.red_as_it_is(sorted({by for by in killed.values() if by and by != HANGS}))
        _say(*(f"red with nothing taken out, so it kills nothing: {test}" for test in sorted(red)))
        left = [mutant for mutant in left if killed[mutant.name] in red]


def _tell(wanted: list[Mutant], killed: dict[str, str | None]) -> int:
    """Say the share of those that can be killed; 0 where it is large enough."""
    counted = [mutant for mutant in wanted if not mutant.equivalent]
    survivors = [mutant.name for mutant in counted if killed[mutant.name] is None]
    share = 1 - len(survivors) / len(counted) if counted else 1.0
    _say(f"{len(counted) - len(survivors)} of {len(counted)} killed ({share:.1%}).")
    _say(*(f"survived: {name}" for name in survivors))
    return 0 if share >= SHARE else 1


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
