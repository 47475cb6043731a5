"""The JSON API measured: the lean `api` process under granian, with wrk on the same cores."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import product
from bench.figures import Slice
from config.up.servers import free_port
from config.up.table import answers

WORKERS = 2
BLOCKING_THREADS = 4
WRK_THREADS = 8
CONNECTIONS = 16
READY_SECONDS = 60.0
SCRIPT = Path(__file__).with_name("wrk") / "claims.lua"
VAR = Path(os.environ.get("FENCEPOST_VAR", "."))


@contextmanager
def running(name: str, argv: Sequence[str], port: int | None = None) -> Iterator[None]:
    """A process of the product, from ready to ended; its log is beside the others."""
    with (VAR / "log" / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(argv, stdout=log, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + READY_SECONDS
        while port is not None and not answers(port, "/readyz"):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{name} does not start; see its log")
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def api() -> Iterator[int]:
    """The lean API on a free port."""
    port = free_port()
    argv = [sys.executable, "-m", "granian", "--interface", "wsgi", "--workers", str(WORKERS), "--no-ws"]
    argv += ["--blocking-threads", str(BLOCKING_THREADS), "--port", str(port), "config.wsgi_api:application"]
    with running("api", argv, port):
        yield port


def write_plan(place: product.Place) -> Path:
    """What the load generator needs to know, in its own language."""
    pools = ", ".join(f'{{ name = "{pool.name}", epoch = {pool.scheduler_epoch} }}' for pool in place.many)
    tokens = ", ".join(f'"{token}"' for token in place.tokens)
    path = VAR / "plan.lua"
    path.touch(mode=0o600)
    path.write_text(f"return {{ pools = {{ {pools} }}, tokens = {{ {tokens} }} }}\n")
    return path


def run(place: product.Place, port: int, seconds: float, *, pair: bool, room: float) -> Slice:
    """One slice of claims of one, or of pairs of claim and commit. `room`: tasks a second there are."""
    product.fill(place.pools(), int(room * seconds))
    load(place, port, 0.5, pair=pair)
    before = product.books()
    told = load(place, port, seconds, pair=pair)
    rate = told["commits" if pair else "claims"] / told["seconds"]
    note = f"p50 {told['p50']:.1f} ms, p99 {told['p99']:.1f} ms a call"
    # Calls that were on their way when the generator stopped: its own, and those of the warm-up.
    judged = product.judged(rate, before, told["claims"], told["commits"], 2 * CONNECTIONS, note)
    wrong = [f"{told[name]} {words}" for name, words in WRONG.items() if told[name]]
    return Slice(rate, (*judged.flaws, *wrong), note)


WRONG = {
    "faults": "answers of 5xx",
    "others": "answers of 3xx or 4xx",
    "empty": "calls found no task, although there were some",
    "socket": "connections failed",
}


def load(place: product.Place, port: int, seconds: float, *, pair: bool) -> dict[str, Any]:
    """Run wrk once; what it was told."""
    whole_seconds = max(1, round(seconds))
    argv = ["wrk", f"-t{WRK_THREADS}", f"-c{CONNECTIONS}", f"-d{whole_seconds}s", "-s", str(SCRIPT)]
    argv += [
        f"http://127.0.0.1:{port}",
        "--",
        str(write_plan(place)),
        "pair" if pair else "claim",
        secrets.token_hex(8),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), "")
    if not line:
        raise RuntimeError(f"wrk said nothing: {done.stdout[-300:]} {done.stderr[-300:]}")
    told: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
    return told
