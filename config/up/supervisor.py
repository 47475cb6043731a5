"""A small supervisor: starts programs in order, restarts them with back-off, stops them as groups.

What it promises: a crashed program is reported in one line and started again; a stop ends each
program's whole process group in reverse order, and then every orphan that fell to this process,
which is their subreaper. What it does not: nothing is read from pipes; programs write to log files.
One thread, no asyncio: a wake-up pipe carries SIGCHLD and the signals that ask for an end.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SHIM = Path(__file__).with_name("shim.py")
PR_SET_CHILD_SUBREAPER = 36
BACKOFF_SECONDS = (0.2, 1.0, 2.0, 5.0, 10.0, 30.0)
STEADY_SECONDS = 30.0
MOST_FAILURES_AT_START = 4
LOG_BYTES = 20 * 1024 * 1024


class Stopped(Exception):
    """Somebody asked for an end while a start or a step was awaited."""


class Failed(Exception):
    """One sentence: what did not start, and where its log is."""


@dataclass(eq=False)
class Program:
    """One line of the process table. Times are in seconds."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[], bool] = lambda: True
    before: Callable[[], None] = lambda: None
    stop_signal: int = signal.SIGTERM
    orphan_signal: int = signal.SIGTERM
    stop_seconds: float = 10.0
    ready_seconds: float = 180.0
    demote: Sequence[str] = ()
    is_server: bool = False
    may_end: bool = False  # whether status 0 is its end, and no crash
    # what runs now
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    failures: int = 0
    retry_at: float | None = None


class Supervisor:
    """Runs the programs given to `start`, until `stop`."""

    def __init__(self, folder: Path, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.folder, self.environment, self.say = folder, dict(environment), say
        self.programs: list[Program] = []
        self.ending = False
        self._wake, wake_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._ask_end)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def _ask_end(self, *_: object) -> None:
        self.ending = True

    def start(self, *programs: Program) -> None:
        """Start programs side by side and wait until all are ready. Raises Failed or Stopped."""
        for program in programs:
            self.programs.append(program)
            self._spawn(program)
        for program in programs:
            self._await(program)

    def _await(self, program: Program) -> None:
        deadline = program.started_at + program.ready_seconds
        while not program.is_ready():
            if time.monotonic() > deadline or program.failures > MOST_FAILURES_AT_START:
                raise Failed(f"{program.name} does not start; its log is {self.log(program.name)}.")
            self.turn(0.05)

    def step(self, name: str, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        """Run one command to its end while the programs are kept up. Raises Failed or Stopped."""
        if self.status(name, argv, env) != 0:
            raise Failed(f"{name} failed; its log is {self.log(name)}.")

    def status(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        on_terminal: bool = False,
    ) -> int:
        """The exit status of one command, run while the programs are kept up. Raises Stopped."""
        step = Program(name, argv, env or {})
        process = self._spawn(step, on_terminal=on_terminal)
        try:
            while process.returncode is None:
                self.turn(0.2, step)
        except Stopped:
            self._end(step)
            raise
        return process.returncode

    def run(self) -> None:
        """Keep the programs up until somebody asks for an end."""
        try:
            while True:
                self.turn(1.0)
        except Stopped:
            return

    def turn(self, seconds: float, *others: Program) -> None:
        """One turn: wait at most `seconds` for a signal, reap, restart what is due."""
        due = [program.retry_at for program in self.programs if program.retry_at is not None]
        until_due = max(0.0, min(due, default=float("inf")) - time.monotonic())
        select.select([self._wake], [], [], min(seconds, until_due))
        self._drain()
        if self.ending:
            raise Stopped
        self._reap([*self.programs, *others])
        for program in self.programs:
            if program.retry_at is not None and time.monotonic() >= program.retry_at:
                self._spawn(program)

    def stop(self) -> None:
        """End the programs by their groups, servers after all others; then every orphan."""
        for layer in (False, True):
            programs = [program for program in reversed(self.programs) if program.is_server is layer]
            for program in programs:
                if program.process is not None and program.process.returncode is None:
                    _kill(program.process.pid, program.stop_signal)
            for program in programs:
                self._end(program)
        end_children(os.getpid())

    def log(self, name: str) -> Path:
        """The file one program writes to."""
        return self.folder / "log" / f"{name}.log"

    def _spawn(self, program: Program, *, on_terminal: bool = False) -> subprocess.Popen[bytes]:
        program.retry_at = None
        program.before()
        shim = [sys.executable, "-I", "-S", str(SHIM), "--parent", str(os.getpid())]
        shim += ["--signal", str(int(program.orphan_signal)), *program.demote, "--"]
        out = None if on_terminal else self._open_log(program.name)
        program.process = subprocess.Popen(
            [*shim, *program.argv],
            env={**self.environment, **program.env, "FENCEPOST_PROCESS": program.name},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=None if out is None else subprocess.STDOUT,
            start_new_session=True,
        )
        if out is not None:
            os.close(out)
        program.started_at = time.monotonic()
        pid_file = self.folder / "run" / f"{program.name}.pid"
        pid_file.parent.mkdir(parents=True, exist_ok=True)
        fresh = pid_file.with_suffix(".new")
        fresh.write_text(f"{program.process.pid}\n")
        fresh.replace(pid_file)
        return program.process

    def _open_log(self, name: str) -> int:
        log = self.log(name)
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(".1.log"))
        return os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _drain(self) -> None:
        try:
            while os.read(self._wake, 4096):
                pass
        except BlockingIOError:
            return

    def _reap(self, programs: Sequence[Program]) -> None:
        """Collect every child that ended, adopted orphans included."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for program in programs:
                if program.process is not None and program.process.pid == pid:
                    program.process.returncode = os.waitstatus_to_exitcode(status)
                    if program in self.programs:
                        self._crashed(program, program.process)

    def _crashed(self, program: Program, process: subprocess.Popen[bytes]) -> None:
        """Report a crash, end what the program left of its group, and set when it starts again."""
        _kill_group(process.pid, signal.SIGKILL)
        if program.may_end and process.returncode == 0:
            return
        if time.monotonic() - program.started_at > STEADY_SECONDS:
            program.failures = 0
        wait = BACKOFF_SECONDS[min(program.failures, len(BACKOFF_SECONDS) - 1)]
        program.failures += 1
        program.retry_at = time.monotonic() + wait
        self.say(f"{program.name} {how_it_ended(process.returncode)}; starting it again in {wait:g} s.")

    def _end(self, program: Program) -> None:
        """Ask one program to end, wait, then end its whole group for good."""
        process = program.process
        if process is None:
            return
        if process.returncode is None:
            _kill(process.pid, program.stop_signal)
        self._wait(process, program.stop_seconds)
        _kill_group(process.pid, signal.SIGKILL)
        self._wait(process, program.stop_seconds)

    def _wait(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while process.returncode is None and time.monotonic() < deadline:
            select.select([self._wake], [], [], 0.05)
            self._drain()
            self._collect(process)

    def _collect(self, process: subprocess.Popen[bytes]) -> None:
        try:
            pid, status = os.waitpid(process.pid, os.WNOHANG)
        except ChildProcessError:
            process.returncode = -signal.SIGKILL
            return
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)


def end_children(parent: int) -> None:
    """SIGKILL every child of `parent` (this process) until none is left; a subreaper gets them all."""
    while children := children_of(parent):
        for pid in children:
            _kill(pid, signal.SIGKILL)
        for pid in children:
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                continue


def children_of(parent: int) -> list[int]:
    """Process ids whose parent is `parent`, from /proc."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = Path("/proc", entry, "stat").read_text()
        except (OSError, UnicodeDecodeError):
            continue
        if int(stat.rpartition(")")[2].split()[1]) == parent:
            found.append(int(entry))
    return found


def how_it_ended(code: int | None) -> str:
    """Words for an exit status."""
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with status {code}"


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _kill_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return
