"""The outer process of a command: it outlives a killed inner one, just long enough to end what that left.

The inner process is the supervisor. If the outer one is killed, the inner one is told by the kernel and
stops everything in order. If the inner one is killed, its programs are told by the kernel, fall to the
outer one, which is a subreaper too, and those that do not end in time are killed.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from config.up.supervisor import PR_SET_CHILD_SUBREAPER, SHIM, children_of, end_children, how_it_ended

GRACE_SECONDS = 12.0


def guard(argv: Sequence[str]) -> int:
    """Run the inner command; pass signals on; leave no process behind. Returns its exit status."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake, wake_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
    inner: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: _pass_on(inner))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    shim = [sys.executable, "-I", "-S", str(SHIM), "--parent", str(os.getpid())]
    process = subprocess.Popen([*shim, "--signal", str(int(signal.SIGTERM)), "--", *argv])
    inner.append(process.pid)
    while process.poll() is None:
        select.select([wake], [], [], 5.0)
        _drain(wake)
    inner.clear()
    if process.returncode < 0:
        print(f"The supervisor {how_it_ended(process.returncode)}; ending its programs.", file=sys.stderr)
        _let_end(wake)
    end_children(os.getpid())
    return process.returncode if process.returncode >= 0 else 1


def _let_end(wake: int) -> None:
    """Give programs that were told by the kernel a while to end by themselves."""
    deadline = time.monotonic() + GRACE_SECONDS
    while children_of(os.getpid()) and time.monotonic() < deadline:
        select.select([wake], [], [], 0.2)
        _drain(wake)
        _reap()


def _reap() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def _drain(wake: int) -> None:
    try:
        while os.read(wake, 4096):
            pass
    except BlockingIOError:
        return


def _pass_on(inner: list[int]) -> None:
    for pid in inner:
        os.kill(pid, signal.SIGTERM)
