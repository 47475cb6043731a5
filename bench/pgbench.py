"""The floor, run by pgbench over a Unix socket with prepared statements, eight clients on two threads."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from django.db import connection

from bench.figures import Slice

FLOOR = Path(__file__).with_name("floor")
CLIENTS = 8
THREADS = 2
PAIR = "f4_pair"
CLAIM = "f2_claim_1stmt"
_ready_per_second = {PAIR: 4_000, CLAIM: 8_000}


def run(script: str, seconds: float) -> Slice:
    """One slice of the floor on tables of its own, made anew. Void when a claim is not one (task, generation)."""
    whole_seconds = max(1, round(seconds))
    while True:
        ready = _ready_per_second[script] * whole_seconds
        _psql("-f", "schema.sql")
        _psql("-v", f"n={ready}", "-v", f"ready={ready}", "-f", "seed.sql")
        argv = [
            _program("pgbench"),
            "--no-vacuum",
            "--protocol=prepared",
            f"--client={CLIENTS}",
            f"--jobs={THREADS}",
        ]
        argv += [f"--time={whole_seconds}", f"--file={FLOOR / (script + '.sql')}"]
        done = subprocess.run(argv, capture_output=True, text=True)
        claims, distinct = _claims()
        if done.returncode == 0 and claims < 0.95 * ready:
            break
        if "expected one row" not in done.stderr and claims < 0.95 * ready:
            raise RuntimeError(f"pgbench failed: {done.stderr[-400:]}")
        _ready_per_second[script] *= 2  # some queue ran out of tasks: nothing was measured
    found = re.search(r"tps = ([0-9.]+)", done.stdout)
    made = re.search(r"number of transactions actually processed: (\d+)", done.stdout)
    if found is None or made is None:
        raise RuntimeError(f"pgbench said nothing of its rate: {done.stdout[-400:]}")
    is_correct = claims == distinct == int(made.group(1))
    flaws = (
        ()
        if is_correct
        else (f"the floor made {made.group(1)} calls, {claims} claims of {distinct} generations",)
    )
    return Slice(float(found.group(1)), flaws)


def _claims() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT (task_id, generation)) FROM floor.attempt")
        row: tuple[int, int] = cursor.fetchone()
    return row


def _psql(*words: str) -> None:
    argv = [_program("psql"), "--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", *words]
    subprocess.run(argv, check=True, capture_output=True, cwd=FLOOR)


def _program(name: str) -> str:
    return str(Path(os.environ["BENCH_POSTGRES_BIN"]) / name)
