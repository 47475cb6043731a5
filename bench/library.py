"""The library measured: processes that call `claims.transitions` themselves, without HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from bench import product
from bench.figures import Slice

PROCESSES = 8


def run(
    place: product.Place, seconds: float, *, single: bool, threads: int, commits: bool, room: float
) -> Slice:
    """One slice: eight processes of `threads` claimers each, on one pool or eight. `room`: tasks a second there are."""
    pools = place.pools(single=single)
    product.fill(pools, int(room * seconds))
    orders = {
        "pools": [(pool.name, pool.scheduler_epoch) for pool in pools],
        "seconds": seconds,
        "threads": threads,
        "commits": commits,
    }
    processes = []
    for agent in place.agents[:PROCESSES]:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.claimer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        _tell(process, json.dumps({**orders, "agent": {"id": agent.id, "name": agent.name}}))
        processes.append(process)
    for process in processes:
        if _hear(process) != "ready":
            raise RuntimeError("a claimer did not get ready")
    before = product.books()
    for process in processes:
        _tell(process, "go")
    told = [json.loads(_hear(process)) for process in processes]
    for process in processes:
        process.wait()
    return _judge(told, before, commits)


def _judge(told: list[dict[str, Any]], before: product.Books, commits: bool) -> Slice:
    grants = [tuple(grant) for part in told for grant in part["grants"]]
    nothing = sum(part["nothing"] for part in told)
    rate = sum(len(part["grants"]) / part["seconds"] for part in told)
    times = sorted(seconds for part in told for seconds in part["times"])
    note = f"p50 {times[len(times) // 2] * 1e3:.1f} ms, p99 {times[len(times) * 99 // 100] * 1e3:.1f} ms"
    judged = product.judged(rate, before, len(grants), sum(part["commits"] for part in told), 0, note)
    flaws = list(judged.flaws)
    if len(set(grants)) != len(grants):
        flaws.append(f"{len(grants)} claims of {len(set(grants))} distinct (task, generation)")
    if nothing:
        flaws.append(f"{nothing} calls found no task, although there were some")
    return Slice(rate, tuple(flaws), note)


def _tell(process: subprocess.Popen[str], line: str) -> None:
    if process.stdin is None:
        raise AssertionError("a claimer is started with a pipe")
    process.stdin.write(line + "\n")
    process.stdin.flush()


def _hear(process: subprocess.Popen[str]) -> str:
    if process.stdout is None:
        raise AssertionError("a claimer is started with a pipe")
    line = process.stdout.readline().strip()
    if not line:
        raise RuntimeError("a claimer ended without an answer; its complaint is above")
    return line
