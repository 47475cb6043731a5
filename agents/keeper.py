"""Runs one command and leaves nothing of it behind: a stand-alone script, started by ``commands``.

Usage: keeper.py PARENT_PID LARGEST_FILE_BYTES -- COMMAND...

Promises: when the worker that started it dies in whatever way, the command and all it started
die too. It is the leader of a session of its own and the reaper of everything below it, so that
a process which left the group is found as well (Linux; elsewhere the group alone is ended).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 2.0
CANNOT_RUN = 127


def main(arguments: list[str]) -> int:
    """Run the command under watch; its exit status, 128 + n for a signal."""
    parent, largest = int(arguments[0]), int(arguments[1])
    signal.signal(signal.SIGTERM, _end_all)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != parent:
        return CANNOT_RUN
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    try:
        child = subprocess.Popen(arguments[3:], stdin=subprocess.DEVNULL, restore_signals=True)
    except OSError as error:
        sys.stderr.write(f"{arguments[3]}: {error.strerror}\n")
        return CANNOT_RUN
    status = child.wait()
    _kill_children()
    return status if status >= 0 else 128 - status


def _end_all(_number: int, _frame: FrameType | None) -> None:
    """Ask everything below to end, wait a little, then end it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    until = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < until and _reap():
        time.sleep(0.05)
    _kill_children()
    os._exit(128 + signal.SIGTERM)


def _reap() -> bool:
    """Collect what has ended; whether anything is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _kill_children() -> None:
    """End every descendant; those of an ended process become ours, so a few rounds find all."""
    for _ in range(50):
        left = _children()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not _reap() and not left:
            return
        time.sleep(0.02)


def _children() -> list[int]:
    """Processes whose parent is this one, ended ones left out."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = status.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if after_name[1] == str(os.getpid()) and after_name[0] != "Z":
            found.append(int(status.parent.name))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
