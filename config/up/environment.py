"""The virtual environment: made when there is none, filled from pinned requirements with hashes.

An install happens only when the requirement file, the interpreter or the place changed, so that a
second start needs no network. Two commands at once wait for one another.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from config.up.supervisor import Failed

ROOT = Path(__file__).resolve().parents[2]


def ensure(requirements: str, say: Callable[[str], None]) -> Path:
    """The interpreter of a virtual environment that holds `requirements`/*.txt. Raises Failed."""
    venv, file = ROOT / ".venv", ROOT / "requirements" / f"{requirements}.txt"
    try:
        venv.mkdir(exist_ok=True)
        lock = os.open(venv / ".lock", os.O_WRONLY | os.O_CREAT, 0o644)
    except OSError as error:
        raise Failed(f"The virtual environment {venv} cannot be written: {error.strerror}.") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _filled(venv, file, say)
    finally:
        os.close(lock)


def _filled(venv: Path, file: Path, say: Callable[[str], None]) -> Path:
    python = venv / "bin" / "python"
    if not _belongs_here(venv, python):
        say("Making a virtual environment.")
        _make(venv)
    stamp = venv / f".installed-{file.stem}"
    wanted = _digest(file)
    if _is_current(stamp, wanted) or _is_part_of_another(venv, file):
        return python
    say(f"Installing the pinned requirements of {file.relative_to(ROOT)}; this takes a minute or two.")
    for other in venv.glob(".installed-*"):
        other.unlink()  # what follows may change what they stand for
    argv = [str(python), "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
    argv += ["--disable-pip-version-check", "--no-input", "-r", str(file)]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"Installing {file.relative_to(ROOT)} failed: {_reason(done.stderr)}")
    stamp.write_text(wanted)
    return python


def _is_current(stamp: Path, wanted: str) -> bool:
    return stamp.exists() and stamp.read_text() == wanted


def _is_part_of_another(venv: Path, file: Path) -> bool:
    """Whether an installed requirement file holds every pin of this one, as that of the tests does."""
    for other in sorted(file.parent.glob("*.txt")):
        installed = _is_current(venv / f".installed-{other.stem}", _digest(other))
        if installed and _pins(file) <= _pins(other):
            return True
    return False


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _pins(file: Path) -> set[str]:
    return {line for line in file.read_text().splitlines() if line[:1].isalnum()}


def _belongs_here(venv: Path, python: Path) -> bool:
    """Whether this environment was made in this place and its interpreter runs and is new enough."""
    probe = "import sys, pip; print(sys.prefix, sys.version_info[:2] >= (3, 11))"
    try:
        done = subprocess.run([str(python), "-I", "-c", probe], capture_output=True, text=True)
    except OSError:
        return False
    script = venv / "bin" / "pip"
    made_here = script.exists() and str(venv) in script.read_text(errors="replace")[:400]
    return done.returncode == 0 and done.stdout.split() == [str(venv), "True"] and made_here


def _make(venv: Path) -> None:
    """Make it anew. What a link leads to belongs to somebody else, and would be emptied."""
    if venv.is_symlink():
        raise Failed(
            f"{venv} is a link to an environment of another folder. Remove the link, and start again."
        )
    done = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(venv)], capture_output=True, text=True
    )
    if done.returncode == 0:
        return
    if "ensurepip" in done.stdout + done.stderr:
        raise Failed("This Python lacks venv; on Debian and Ubuntu, install the package python3-venv.")
    raise Failed(f"A virtual environment could not be made: {_reason(done.stdout + done.stderr)}")


def _reason(text: str) -> str:
    """The line of pip's complaint that says most, as a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no reason given"])[-1].rstrip(".") + "."
