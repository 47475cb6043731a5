"""One command with limits on time, memory and output, in a session of its own.

Promises: it returns only when nothing of the command is left; it never waits longer than the
time limit and a few seconds of grace; output beyond the limit is dropped and said to be cut. It
sees none of the server's own environment. It is no wall against a hostile program: that is the
machine's or the container's to be.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO

KEEPER = Path(__file__).with_name("keeper.py")
LOOK_SECONDS = 0.2
MEMORY_LOOK_SECONDS = 1.0
CHUNK_BYTES = 64 * 1024
DRAIN_SECONDS = 1.0
LARGEST_FILE_BYTES = 1024 * 1024 * 1024


class Cut(StrEnum):
    """Why a command was ended before its end."""

    TIME = "it took longer than its time limit"
    MEMORY = "it took more memory than its limit"
    STOPPED = "the claim was lost"


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of wall time, MB of resident memory (0: none), bytes of output."""

    time_seconds: float
    memory_mb: int
    output_bytes: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. ``output_is_cut``: more came than was kept. ``cut``: it was ended."""

    exit_code: int
    started_at: datetime
    duration_ms: int
    output_is_cut: bool
    cut: Cut | None = None


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limits: Limits,
    output: Path,
    is_stopped: Callable[[], bool],
) -> Ended:
    """Run a command in ``folder``; stdout and stderr go to ``output`` as they come, interleaved.

    ``is_stopped`` is asked several times a second; when it says so the command is ended.
    """
    started_at, began = datetime.now(UTC), time.monotonic()
    argv = [
        sys.executable,
        "-I",
        "-S",
        str(KEEPER),
        str(os.getpid()),
        str(LARGEST_FILE_BYTES),
        "--",
        *command,
    ]
    process = subprocess.Popen(
        argv, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, close_fds=True,
    )  # fmt: skip
    try:
        with output.open("wb") as kept:
            watch = _Watch(process, kept, limits, began, is_stopped)
            cut = watch.until_ended()
    finally:
        _end(process)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Ended(code, started_at, round(1000 * (time.monotonic() - began)), watch.is_cut, cut)


class _Watch:
    """Copies output within its bound and looks at the limits."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        kept: IO[bytes],
        limits: Limits,
        began: float,
        is_stopped: Callable[[], bool],
    ) -> None:
        self.process, self.kept, self.limits, self.began, self.is_stopped = (
            process,
            kept,
            limits,
            began,
            is_stopped,
        )
        self.left, self.is_cut, self.looked_at = limits.output_bytes, False, began

    def until_ended(self) -> Cut | None:
        """Copy until the command has ended and its pipe is drained; end it when it is over a limit."""
        pipe = self.process.stdout
        if pipe is None:
            raise AssertionError("the command was started with a pipe")
        os.set_blocking(pipe.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            until: float | None = None
            while until is None or time.monotonic() < until:
                if selector.select(LOOK_SECONDS) and not self._copy(pipe):
                    break
                if self.process.poll() is not None:
                    until = until or time.monotonic() + DRAIN_SECONDS
                elif (cut := self._over()) is not None:
                    return cut
        return self._wait()

    def _wait(self) -> Cut | None:
        """The pipe is closed; the command may work on without it, within its limits."""
        while self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LOOK_SECONDS)
            if self.process.poll() is None and (cut := self._over()) is not None:
                return cut
        return None

    def _copy(self, pipe: IO[bytes]) -> bool:
        """Take what is there; false at the end of the pipe."""
        chunk = os.read(pipe.fileno(), CHUNK_BYTES)
        if len(chunk) > self.left:
            self.is_cut = True
        self.kept.write(chunk[: self.left])
        self.left -= min(len(chunk), self.left)
        return bool(chunk)

    def _over(self) -> Cut | None:
        if self.process.poll() is not None:
            return None
        if self.is_stopped():
            return Cut.STOPPED
        if time.monotonic() - self.began > self.limits.time_seconds:
            return Cut.TIME
        return Cut.MEMORY if self._takes_too_much() else None

    def _takes_too_much(self) -> bool:
        """Memory is looked at once a second: reading it is work too."""
        now = time.monotonic()
        if not self.limits.memory_mb or now - self.looked_at < MEMORY_LOOK_SECONDS:
            return False
        self.looked_at = now
        return resident_mb(self.process.pid) > self.limits.memory_mb


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the keeper to end all below it; when it does not, end its session."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()


def resident_mb(session: int) -> float:
    """Resident memory of a session's processes in MB, shared pages shared out (PSS where it can be read)."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[3]) != session:
                continue
            total += _pss_kb(folder) or int(fields[21]) * (os.sysconf("SC_PAGE_SIZE") // 1024)
        except (OSError, ValueError, IndexError):
            continue
    return total / 1024


def _pss_kb(folder: Path) -> int:
    try:
        for line in (folder / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        return 0
    return 0
