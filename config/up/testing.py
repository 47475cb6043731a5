"""`python -m config.up.testing`: the entry behind `scripts/test`; runs checks and tests on servers of its own.

Each check is one line of `CHECKS`, each tier one line of `TIERS`. All of them run, whatever failed
before; the summary names the failures, and the exit status is 0 only when there is none. A tier that
found no test failed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from config.up import data as folder
from config.up import environment, guard
from config.up.chromium import found_chromium
from config.up.launch import say
from config.up.spin import INSTALL as SPIN_INSTALL
from config.up.spin import found_spin
from config.up.supervisor import Failed, Stopped, Supervisor

INNER = "--inner"
LONG = "--long"
MODEL = "model"
CODE = ("claims", "reviews", "agents", "client", "config")
CHROMIUM_INSTALL = "apt-get install --yes --no-install-recommends chromium"

CHECKS: tuple[tuple[str, Sequence[str]], ...] = (
    ("ruff check", ("-m", "ruff", "check", ".")),
    ("ruff format", ("-m", "ruff", "format", "--check", ".")),
    ("mypy --strict", ("-m", "mypy")),
    ("layers", ("-c", "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())")),
    ("system checks", ("manage.py", "check", "--fail-level", "WARNING")),
    ("migrations", ("manage.py", "makemigrations", "--check", "--dry-run")),
    ("templates", ("-m", "djlint", "templates", "--lint", "--quiet")),
    ("bandit", ("-m", "bandit", "--quiet", "--configfile", "pyproject.toml", "--recursive", *CODE)),
)

TIERS: tuple[tuple[str, str, Sequence[str]], ...] = (
    ("tests", "not race and not chaos and not browser", ("-n", "2")),
    ("race", "race and not chaos", ("-n", "2")),
    ("browser", "browser and not chaos", ("-n", "2", "--dist", "loadfile")),
    ("chaos", "chaos", ()),
)


def main(arguments: list[str]) -> int:
    """Make the environment, then run the inner process under guard."""
    if arguments[:1] == [INNER]:
        return inner(arguments[1:])
    data = test_folder()
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        python = environment.ensure("test", say)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The folder {data} cannot be made: {error.strerror}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return guard.guard([str(python), "-m", "config.up.testing", INNER, *arguments])


def inner(arguments: list[str]) -> int:
    """Start the servers, run what was asked for, end the servers."""
    data = test_folder()
    try:
        held = folder.lock(data)
        folder.settle(data, reset=False)
        postgres, valkey = folder.servers(data, for_tests=True)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    if found_chromium() is None:
        install("Chromium", "the browser tests", CHROMIUM_INSTALL)
    if found_spin() is None:
        install("Spin with a C compiler", "the checks of the model", SPIN_INSTALL)
    variables = folder.environment(data, postgres, valkey, "http://127.0.0.1:8000")
    supervisor = Supervisor(data, variables, say)
    try:
        supervisor.start(postgres.program(), valkey.program())
        return run(supervisor, arguments)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    except Stopped:
        return 130
    finally:
        supervisor.stop()
        os.close(held)


def run(supervisor: Supervisor, arguments: list[str]) -> int:
    """All checks and tiers; or, with pytest arguments, those tests alone. Returns the exit status."""
    chosen = [word for word in arguments if word != LONG]
    supervisor.environment["FENCEPOST_LONG"] = "1" if LONG in arguments else ""
    if chosen:
        return supervisor.status("pytest", [sys.executable, "-m", "pytest", *chosen], on_terminal=True)
    results = [one(supervisor, name, [sys.executable, *words]) for name, words in CHECKS]
    if found_spin() is None:
        results.append((MODEL, "waits for Spin", 0.0))
    for name, marks, words in TIERS:
        if found_chromium() is None:
            if name == "browser":
                results.append((name, "waits for a Chromium", 0.0))
                continue
            marks = f"({marks}) and not browser"
        without = () if found_spin() else ("--ignore=tests/model",)
        pytest = [sys.executable, "-m", "pytest", "-q", "-m", marks, *words, *without]
        results.append(one(supervisor, name, pytest))
    return summarise(results)


def one(supervisor: Supervisor, name: str, argv: list[str]) -> tuple[str, str, float]:
    """Run one check on the terminal: its name, how it went, how many seconds it took."""
    say(f"\n== {name}")
    began = time.monotonic()
    status = supervisor.status(name.replace(" ", "-"), argv, on_terminal=True)
    outcome = {0: "passed", 5: "found no test"}.get(status, f"failed ({status})")
    return name, outcome, time.monotonic() - began


def summarise(results: list[tuple[str, str, float]]) -> int:
    """Print one line each; the exit status is that of the worst.

    A tier that waits fails only in CI, and the model not even there: it is checked where Spin can be installed.
    """
    say("\n== Summary")
    for name, outcome, seconds in results:
        say(f"{name:<16} {outcome:<22} {seconds:7.1f} s")
    waiting = [name for name, outcome, _ in results if outcome.startswith("waits")]
    failed = [name for name, outcome, _ in results if outcome != "passed" and name not in waiting]
    if os.environ.get("CI"):
        failed += [name for name in waiting if name != MODEL]
    if failed:
        say(f"Failed: {', '.join(failed)}.")
        return 1
    say("Everything passed." if not waiting else f"Everything else passed; {', '.join(waiting)} did not run.")
    return 0


def install(what: str, waiting: str, command: str) -> None:
    """As root on Debian, run the command that brings it; else say the command, and what waits for it."""
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        say(f"There is no {what} here; {waiting} wait for one: sudo {command}")
        return
    say(f"Installing {what}, which {waiting} need.")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["apt-get", "update"], command.split()):
        done = subprocess.run(words, env=quiet, capture_output=True, text=True)
    if done.returncode != 0:
        say(f"{what} could not be installed; {waiting} wait for it: {command}")


def test_folder() -> Path:
    """Where the test run keeps its servers' data."""
    return environment.ROOT / "var" / "test"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
