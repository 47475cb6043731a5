"""`scripts/model [name ...]`: runs the model, its mutants, its endings and its limits, and prints a table.

Status 1 when the contract does not hold in the model, a mutant survives, an ending is not found, or a limit
is not where it is said to be; 2 when there is no Spin or no C compiler.
"""

from __future__ import annotations

import sys
import time

from config.up.launch import say
from config.up.spin import INSTALL, found_spin
from tests.model.checking import NotChecked, checked
from tests.model.runs import ENDINGS, HONEST, LIMITS, MUTANTS, RUNS, Run

PARTS = (
    ("Must hold", (HONEST,)),
    ("One check taken out: must break", MUTANTS),
    ("Good endings: must be reached", ENDINGS),
    ("Where the promise about the sink ends", LIMITS),
)


def main(names: list[str]) -> int:
    """Run those that are named, or all; the exit status."""
    tools = found_spin()
    if tools is None:
        say(f"The model needs Spin and a C compiler on PATH: sudo {INSTALL}")
        return 2
    unknown = set(names) - {run.name for run in RUNS}
    if unknown:
        say(f"No run has the name {', '.join(sorted(unknown))}.")
        return 2
    failed: list[str] = []
    for title, runs in PARTS:
        chosen = [run for run in runs if not names or run.name in names]
        if chosen:
            say(f"\n{title}")
        failed += [run.name for run in chosen if not shown(run, *tools)]
    say(f"\nNot as it must be: {', '.join(failed)}." if failed else "\nAll as it must be.")
    return 1 if failed else 0


def shown(run: Run, spin: str, compiler: str) -> bool:
    """Run one and print its line; whether it answered as it must."""
    began = time.monotonic()
    try:
        answer = checked(run, spin, compiler)
    except NotChecked as failure:
        say(f"  FAIL {run.name}: {failure}")
        return False
    expected = answer.is_expected(run)
    outcome = answer.broken or "all hold"
    say(
        f"  {'ok  ' if expected else 'FAIL'} {run.name:<48} {outcome:<29} "
        f"{answer.states:>9} states {time.monotonic() - began:6.1f} s  {run.says}"
    )
    for statement in answer.dead if run.is_whole else ():
        say(f"       never reached: {statement}")
    return expected


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
