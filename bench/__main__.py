"""`python -m bench`: the entry behind `bench/run`; starts a cluster of its own, measures, ends it.

No Celery and no agents run. The data folder is made anew for each run. `scripts/up` and `scripts/test`
are not touched; do not run them at the same time, for they would be measured too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

from bench.cluster import MeasuredPostgres, start_folder
from config.up import data as folder
from config.up import environment, guard
from config.up.launch import say
from config.up.servers import Valkey, kept_secret
from config.up.supervisor import Failed, Stopped, Supervisor

INNER = "--inner"
ENGINE = ("wal", "library", "http", "pools", "live")
PEOPLE = ("desk", "pages")
"""Steps that run only when they are asked for: they tell milliseconds of this machine, not ratios to a floor."""
STEPS = ENGINE + PEOPLE
WRK_INSTALL = "apt-get install --yes --no-install-recommends wrk"
PATIENT = {"FENCEPOST_STATEMENT_TIMEOUT_MS": "600000", "FENCEPOST_IDLE_TRANSACTION_TIMEOUT_MS": "600000"}
NEEDS_WRK = {"http", "live"}


def parse(arguments: list[str]) -> argparse.Namespace:
    """What to measure and for how long. Ends the process with a sentence for what is no option."""
    parser = argparse.ArgumentParser("bench/run", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each slice (default 10)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of floor, product, floor (default 5)")
    parser.add_argument("--only", default=",".join(ENGINE), help=f"some of {','.join(STEPS)}")
    given = parser.parse_args(arguments)
    given.steps = given.only.split(",")
    unknown = [step for step in given.steps if step not in STEPS]
    if unknown:
        parser.error(f"{unknown[0]} is not one of {', '.join(STEPS)}")
    if given.seconds < 0.5 or given.rounds < 1:
        parser.error("a slice takes at least 0.5 s, and there is at least one round")
    return given


def main(arguments: list[str]) -> int:
    """Check what can be checked at once, make the environment, then run the inner process under guard."""
    if arguments[:1] == [INNER]:
        return inner(arguments[1:])
    given = parse(arguments)
    if NEEDS_WRK & set(given.steps) and shutil.which("wrk") is None:
        say(f"There is no wrk here, the program that makes the HTTP load. Install it: sudo {WRK_INSTALL}")
        return 1
    try:
        python = environment.ensure("test" if "desk" in given.steps else "base", say)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return guard.guard([str(python), "-m", "bench", INNER, *arguments])


def inner(arguments: list[str]) -> int:
    """Start the two servers, migrate, measure, end the servers."""
    data = environment.ROOT / "var" / "bench"
    try:
        held = start_folder(data)
        postgres = MeasuredPostgres(data / "postgres", kept_secret(data / "secrets" / "postgres"))
        postgres.initialise()
        postgres.make_database()
        postgres.open_for_measuring()
        valkey = Valkey(data / "valkey", kept_secret(data / "secrets" / "valkey"))
        valkey.write_configuration()
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    print_disk(postgres)
    variables = folder.environment(data, postgres, valkey, "http://127.0.0.1:8000")
    variables |= postgres.client_environment() | {"FENCEPOST_API_CALLS_IN_TEN_SECONDS": "10000000"}
    supervisor = Supervisor(data, variables, say)
    try:
        supervisor.start(postgres.program(), valkey.program())
        supervisor.step("migrate", [sys.executable, "manage.py", "migrate", "--verbosity", "0"], PATIENT)
        return supervisor.status(
            "measure", [sys.executable, "-m", "bench.measure", *arguments], on_terminal=True
        )
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    except Stopped:
        return 130
    finally:
        supervisor.stop()
        os.close(held)


def print_disk(postgres: MeasuredPostgres) -> None:
    """Print what one flush to this disk costs, before anything else uses it."""
    probe = postgres.folder.with_name("fsync-probe")
    argv = [str(postgres.bin / "pg_test_fsync"), "--secs-per-test=1", f"--filename={probe}"]
    done = subprocess.run(argv, capture_output=True, text=True)
    probe.unlink(missing_ok=True)
    one_write = done.stdout.split("Compare file sync methods using two")[0]
    rows = [line.strip() for line in one_write.splitlines() if "ops/sec" in line]
    say("pg_test_fsync, one 8 kB write:")
    for row in rows:
        say(f"  {row}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
