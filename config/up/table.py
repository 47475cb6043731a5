"""The process table of `scripts/up`: what runs beside the two servers, and how each is known to be ready."""

from __future__ import annotations

import http.client
import os
import signal
from collections.abc import Callable
from pathlib import Path

from config.up.environment import ROOT
from config.up.supervisor import Program

ATTEMPTS_AT_ONCE = 3
WEB_PROCESSES = max(1, min(4, os.cpu_count() or 1))


def programs(python: Path, data: Path, port: int, *, agents: bool, demo: bool) -> list[Program]:
    """Every line of the table, in the order of their start."""
    run = data / "run"
    table = [_web(python, port), _celery(python, run, "upkeep", 1)]
    if agents:
        table.append(_celery(python, run, "attempts", ATTEMPTS_AT_ONCE, name="worker"))
    table += [_beat(python, run), _manage(python, "relay", "relay")]
    if demo and agents:
        sleeper = _manage(python, "sleeper", "demo_sleeper")
        sleeper.may_end = True
        table.append(sleeper)
    return table


def _web(python: Path, port: int) -> Program:
    """Everything on one port: pages, API, sockets."""
    argv = [str(python), "-m", "config.web", "--port", str(port), "--processes", str(WEB_PROCESSES)]
    return Program("web", argv, is_ready=lambda: answers(port, "/readyz"), stop_seconds=8)


def _celery(python: Path, run: Path, queue: str, processes: int, name: str = "") -> Program:
    """A Celery worker of one queue, so that long attempts never keep upkeep waiting."""
    name = name or queue
    argv = [str(python), "-m", "celery", "-A", "config.celery:app", "worker", "--queues", queue]
    argv += ["--concurrency", str(processes), "--hostname", f"{name}@localhost"]
    argv += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    note = run / f"{name}.ready"
    return Program(
        name,
        argv,
        env={"FENCEPOST_READY_NOTE": str(note)},
        is_ready=note.exists,
        before=_forget(note),
        # SIGQUIT: what runs gets a few seconds, then goes back to the queue.
        stop_signal=signal.SIGQUIT,
        orphan_signal=signal.SIGQUIT,
        stop_seconds=10,
    )


def _beat(python: Path, run: Path) -> Program:
    """Sends what the clock asks for. Its schedule is in memory; nothing of it needs to last."""
    argv = [str(python), "-m", "celery", "-A", "config.celery:app", "beat", "--pidfile="]
    argv += ["--scheduler", "celery.beat:Scheduler"]
    note = run / "beat.ready"
    env = {"FENCEPOST_READY_NOTE": str(note)}
    return Program("beat", argv, env=env, is_ready=note.exists, before=_forget(note), stop_seconds=5)


def _manage(python: Path, name: str, command: str) -> Program:
    return Program(name, [str(python), str(ROOT / "manage.py"), command], stop_seconds=5)


def _forget(note: Path) -> Callable[[], None]:
    return lambda: note.unlink(missing_ok=True)


def answers(port: int, path: str) -> bool:
    """Whether 127.0.0.1:`port` answers `path` with 200 within two seconds."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        link.request("GET", path)
        return link.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        link.close()
