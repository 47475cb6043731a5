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
LOG_BYTES = 20 * 1024 * 1024


class Stopped(Exception):
    """Somebody asked for an end while a start or a step was awaited."""


class Failed(Exception):
    """One sentence: what did not start, and where its log is."""


@dataclass
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
    ready_seconds: float = 60.0
    demote: Sequence[str] = ()
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

    def start(self, program: Program) -> None:
        """Start one program and wait until it is ready. Raises Failed or Stopped."""
        self.programs.append(program)
        self._spawn(program)
        deadline = time.monotonic() + program.ready_seconds
        while not program.is_ready():
            if time.monotonic() > deadline:
                raise Failed(f"{program.name} did not become ready; its log is {self.log(program.name)}.")
            if program.failures > 3:
                raise Failed(f"{program.name} does not start; its log is {self.log(program.name)}.")
            self.turn(0.05)
        program.failures = 0

    def step(self, name: str, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        """Run one command to its end while the programs are kept up. Raises Failed or Stopped."""
        step = Program(name, argv, env or {})
        self._spawn(step)
        assert step.process is not None
        while step.process.returncode is None:
            self.turn(0.2, step)
        if step.process.returncode != 0:
            raise Failed(f"{name} failed; its log is {self.log(name)}.")

    def run(self) -> None:
        """Keep the programs up until somebody asks for an end."""
        try:
            while True:
                self.turn(1.0)
        except Stopped:
            return

    def turn(self, seconds: float, *others: Program) -> None:
        """One turn: wait at most `seconds` for a signal, reap, restart what is due."""
        select.select([self._wake], [], [], seconds)
        self._drain()
        if self.ending:
            raise Stopped
        self._reap([*self.programs, *others])
        for program in self.programs:
            if program.retry_at is not None and time.monotonic() >= program.retry_at:
                self._spawn(program)

    def stop(self) -> None:
        """End every program, last started first, by its group; then every orphan."""
        for program in reversed(self.programs):
            self._end(program)
        self._end_orphans()

    def log(self, name: str) -> Path:
        """The file one program writes to."""
        return self.folder / "log" / f"{name}.log"

    def _spawn(self, program: Program) -> None:
        program.retry_at = None
        program.before()
        log = self.log(program.name)
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(".1.log"))
        shim = [sys.executable, "-I", "-S", str(SHIM), "--parent", str(os.getpid())]
        shim += ["--signal", str(int(program.orphan_signal)), *program.demote, "--"]
        with log.open("ab") as file:
            program.process = subprocess.Popen(
                [*shim, *program.argv],
                env={**self.environment, **program.env, "FENCEPOST_PROCESS": program.name},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        program.started_at = time.monotonic()
        (self.folder / "run" / f"{program.name}.pid").write_text(f"{program.process.pid}\n")

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
        if time.monotonic() - program.started_at > STEADY_SECONDS:
            program.failures = 0
        wait = BACKOFF_SECONDS[min(program.failures, len(BACKOFF_SECONDS) - 1)]
        program.failures += 1
        program.retry_at = time.monotonic() + wait
        self.say(f"{program.name} {how_it_ended(process.returncode)}; starting it again in {wait:g} s.")

    def _end(self, program: Program) -> None:
        process = program.process
        if process is None or process.returncode is not None:
            return
        _kill(process.pid, program.stop_signal)
        deadline = time.monotonic() + program.stop_seconds
        while process.returncode is None and time.monotonic() < deadline:
            select.select([self._wake], [], [], 0.1)
            self._drain()
            self._collect(process)
        _kill_group(process.pid, signal.SIGKILL)
        while process.returncode is None:
            select.select([self._wake], [], [], 0.1)
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

    def _end_orphans(self) -> None:
        """Kill what is still below this process: programs' descendants that left their groups."""
        end_children(os.getpid())


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
