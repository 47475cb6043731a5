"""One run of Spin's verifier: exhaustive, within 2 GiB, in a temporary folder; and what it answered.

Promises: a search that was cut off is never taken for one that found nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.model.runs import PROPERTIES, REACHED, Run

MODEL = Path(__file__).resolve().parents[2] / "docs" / "model"
MEMORY_MIB = 2048
DEPTH_STEPS = 100_000
LIMIT_SECONDS = 600

VIOLATED = re.compile(r"assertion violated\s+(.*) \(at depth \d+\)")
NUMBERED = re.compile(r"\((\d+)&&")
STORED = re.compile(r"^\s*(\S+) states, stored", re.MULTILINE)
UNREACHED = re.compile(r"^unreached in (.+)$|^\s+(?:\S*/)?(\S+:\d+), state \d+, \"(.*)\"$", re.MULTILINE)
CUT_OFF = ("max search depth too small", "out of memory", "Search not completed", "reached -DMEMLIM")


class NotChecked(Exception):
    """Spin, the compiler or the verifier did not do its work; the text says which, and what it wrote."""


@dataclass(frozen=True)
class Answer:
    """``broken``: the property that failed, None when all hold. ``dead``: statements never reached."""

    broken: str | None
    states: int
    dead: tuple[str, ...]

    def is_expected(self, run: Run) -> bool:
        """Whether this is what the run must answer."""
        return self.broken == run.breaks and not (run.is_whole and self.dead)


def checked(run: Run, spin: str, compiler: str) -> Answer:
    """Generate the verifier for these flags, compile it, let it search. Raises ``NotChecked``."""
    with tempfile.TemporaryDirectory(prefix="fencepost-model-") as name:
        folder = Path(name)
        for file in MODEL.glob("*.pml"):
            shutil.copy(file, folder)
        flags = [f"-D{flag}" for flag in run.flags]
        _done(folder, [spin, f"-P{compiler} -E -x c", *flags, "-a", "claim.pml"])
        # What must be found is found early: there the compiler takes longer than the search.
        options = ["-O0" if run.breaks else "-O2", "-DSAFETY", f"-DMEMLIM={MEMORY_MIB}"]
        _done(folder, [compiler, *options, "-o", "pan", "pan.c"])
        return answer(_done(folder, ["./pan", f"-m{DEPTH_STEPS}"]))


def answer(output: str) -> Answer:
    """What the verifier's output says. Raises ``NotChecked`` when it was cut off or found another error."""
    stored = STORED.search(output)
    if stored is None:
        raise NotChecked(f"The verifier gave no number of states:\n{output}")
    states, violated = int(float(stored[1])), VIOLATED.search(output)
    if violated:
        return Answer(_property(violated[1]), states, ())
    if any(words in output for words in CUT_OFF) or "errors: 0" not in output:
        raise NotChecked(f"The search did not end, or ended in another error:\n{output}")
    return Answer(None, states, tuple(_dead(output)))


def _property(assertion: str) -> str:
    number = NUMBERED.match(assertion)
    return PROPERTIES[int(number[1])] if number else REACHED


def _dead(output: str) -> list[str]:
    """The statements that no run reaches; the ends of the endless processes are meant to be."""
    found, process = [], ""
    for name, line, statement in UNREACHED.findall(output):
        process = name or process
        if line and statement != "-end-":
            found.append(f"{process}, {line}: {statement}")
    return found


def _done(folder: Path, words: list[str]) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if done.returncode != 0 and words[0] != "./pan":
        raise NotChecked(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout
