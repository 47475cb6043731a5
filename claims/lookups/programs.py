"""One program, run from an argument list in a process group of its own, within limits.

Promises: it returns within the time limit and a second; by then its group was sent SIGKILL, also what
the program left in the background. Of its output at most the limit is kept, the rest is read and
dropped. It sees none of the server's own environment. A program that starts a session of its own
escapes the group, and one whose server is killed meanwhile runs on: what is run here only reads.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LOOK_SECONDS = 0.05
DRAIN_SECONDS = 0.5
CHUNK_BYTES = 64 * 1024


class NotRun(RuntimeError):
    """The program could not be started, or its end could not be seen; the message says why."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. ``exit_code`` is None when it was ended for taking too long."""

    exit_code: int | None
    output: bytes
    output_is_cut: bool
    errors: bytes


@dataclass(slots=True)
class _Kept:
    """The first bytes of a stream."""

    limit: int
    held: bytearray = field(default_factory=bytearray)
    is_cut: bool = False

    def add(self, chunk: bytes) -> None:
        left = self.limit - len(self.held)
        self.is_cut = self.is_cut or len(chunk) > left
        self.held += chunk[:left]


def run(
    argv: Sequence[str], environment: Mapping[str, str], timeout_seconds: float, output_bytes: int, folder: Path = Path("/")
) -> Ended:  # fmt: skip
    """Run a program without a shell and wait for its end. Raises ``NotRun``."""
    base = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
    try:
        process = subprocess.Popen(
            list(argv), cwd=folder, env={**base, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise NotRun(error.strerror or "it could not be started") from error
    output, errors = _Kept(output_bytes), _Kept(output_bytes)
    try:
        code = _follow(process, output, errors, time.monotonic() + timeout_seconds)
    except ChildProcessError as error:
        raise NotRun("its end was taken by another part of this process") from error
    finally:
        _end(process)
    return Ended(code, bytes(output.held), output.is_cut, bytes(errors.held))


def _follow(process: subprocess.Popen[bytes], output: _Kept, errors: _Kept, deadline: float) -> int | None:
    """Copy both streams until the program has ended; its exit status, or None when it took too long."""
    with selectors.DefaultSelector() as selector:
        for pipe, kept in ((process.stdout, output), (process.stderr, errors)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, kept)
        while (code := _exit_code(process)) is None:
            if time.monotonic() > deadline:
                return None
            _copy(selector)
        _kill_group(process)
        # What is in the pipes is still to be read; one that escaped the group may hold them open.
        until = time.monotonic() + DRAIN_SECONDS
        while selector.get_map() and time.monotonic() < until:
            _copy(selector)
    return code


def _copy(selector: selectors.BaseSelector) -> None:
    for key, _ in selector.select(LOOK_SECONDS):
        chunk = os.read(key.fd, CHUNK_BYTES)
        if chunk:
            key.data.add(chunk)
        else:
            selector.unregister(key.fileobj)


def _exit_code(process: subprocess.Popen[bytes]) -> int | None:
    """The exit status, a signal as its negative number; None while the program runs.

    The program is left unreaped, so that its number goes to no other before its group is ended.
    ``Popen.wait`` would answer 0 for a status that it could not read, and 0 is HAPPENED.
    """
    ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    _kill_group(process)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
