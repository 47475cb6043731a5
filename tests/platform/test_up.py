"""`scripts/up` as a person runs it: real servers, real processes, real kills."""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytestmark = pytest.mark.chaos

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 240.0
SECOND_START_SECONDS = 15.0


class Up:
    """One running `scripts/up`, what it said, and what runs below it. ``variables`` are settings of its own."""

    variables: ClassVar[dict[str, str]] = {}

    def __init__(self, data: Path, *options: str) -> None:
        self.data, self.ready_file = data, data.parent / f"{data.name}-ready.json"
        argv = [str(ROOT / "scripts" / "up"), "--data", str(data), "--ready-file", str(self.ready_file)]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("FENCEPOST_")}
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*argv, "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**clean, **self.variables},
        )
        self.said: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.wait_for("Logs are in", START_SECONDS)
        self.start_seconds = time.monotonic() - began
        self.ready: dict[str, Any] = json.loads(self.ready_file.read_text())

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def wait_for(self, words: str, seconds: float = 60.0) -> str:
        """The next line that holds `words`."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"never said {words!r}: {self.said}") from None
            self.said.append(line)
            if words in line:
                return line

    def pid(self, name: str) -> int:
        """The process id of one program."""
        return int((self.data / "run" / f"{name}.pid").read_text())

    def answers(self) -> bool:
        """Whether the address does its work."""
        try:
            with urllib.request.urlopen(f"{self.ready['url']}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def below(self) -> set[int]:
        """Every process below this one, by /proc."""
        parents = dict(_parents())
        found = {self.process.pid}
        while grown := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= grown
        return found

    def inner(self) -> int:
        """The supervisor, below the process that was started."""
        return next(pid for pid, parent in _parents() if parent == self.process.pid)

    def end(self) -> None:
        """Ask for an end, and wait for it."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(60)


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state != "Z":
                yield int(entry.name), int(parent)


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait on a condition of other processes, which no lock or pipe of ours can tell."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition never came true"
        select.select([], [], [], 0.05)


def alive(pids: set[int]) -> set[int]:
    return pids & {pid for pid, _ in _parents()}


def refusal(*options: str) -> str:
    """What `scripts/up` says when it refuses: one line, no traceback."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("FENCEPOST_")}
    done = subprocess.run(
        [str(ROOT / "scripts" / "up"), *options], capture_output=True, text=True, env=clean, timeout=60
    )
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up") / "data"


@pytest.fixture(scope="module")
def first_start(data: Path) -> Iterator[Up]:
    up = Up(data)
    yield up
    up.end()


def test_a_first_start_answers_and_tells_how_to_sign_in(first_start: Up) -> None:
    admin = first_start.ready["users"]["admin"]

    assert first_start.answers()
    assert first_start.ready["apiUrl"] == first_start.ready["url"] + "/api/v1"
    assert first_start.ready_file.stat().st_mode & 0o777 == 0o600
    assert any(f"{admin['name']} / {admin['password']}" in line for line in first_start.said)


def test_a_data_folder_in_use_is_one_sentence(first_start: Up) -> None:
    line = refusal("--data", str(first_start.data), "--port", "0")

    assert (
        line == f"The data folder {first_start.data} is in use by another Fencepost; choose one with --data."
    )


def test_a_taken_port_is_one_sentence(first_start: Up, tmp_path: Path) -> None:
    port = first_start.ready["url"].rpartition(":")[2]

    line = refusal("--data", str(tmp_path / "other"), "--port", port)

    assert line == f"Port {port} is taken; choose another with --port."


@pytest.mark.parametrize("name", ["web", "postgres", "valkey", "worker"])
def test_a_killed_program_is_reported_and_comes_back(first_start: Up, name: str) -> None:
    before = first_start.pid(name)

    os.kill(before, signal.SIGKILL)

    assert "SIGKILL" in first_start.wait_for(f"{name} was ended by")
    until(lambda: first_start.pid(name) != before and first_start.answers())


def test_sigterm_leaves_no_process_and_no_ready_file(first_start: Up) -> None:
    everyone = first_start.below()
    assert len(everyone) > 8

    first_start.end()

    assert first_start.process.returncode == 0
    assert alive(everyone) == set()
    assert not first_start.ready_file.exists()


def test_a_second_start_is_quick_and_finds_the_data_again(first_start: Up, data: Path) -> None:
    first_start.end()
    second = Up(data)
    try:
        assert second.start_seconds < SECOND_START_SECONDS
        assert second.ready["users"] == {}
    finally:
        everyone = second.below()
        os.kill(second.inner(), signal.SIGKILL)
        second.process.wait(60)

    assert second.process.returncode == 1
    assert alive(everyone) == set()


def test_killing_the_outer_process_leaves_nothing_and_reset_begins_anew(first_start: Up, data: Path) -> None:
    first_start.end()
    again = Up(data, "--reset", "--no-agents")
    assert "admin" in again.ready["users"]
    assert "worker" not in {path.stem for path in (data / "run").glob("*.pid")}
    everyone = again.below()

    again.process.kill()

    until(lambda: alive(everyone - {again.process.pid}) == set())
    again.process.wait(10)


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")

    line = refusal("--data", str(tmp_path), "--port", "0", "--reset")

    assert (
        line == f"The folder {tmp_path} is not empty and is no data folder of Fencepost; nothing was touched."
    )
    assert (tmp_path / "letter.txt").read_text() == "dear"


def test_a_data_folder_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    line = refusal("--data", str(tmp_path / "file"), "--port", "0")

    assert line == f"The data folder {tmp_path / 'file'} is not a folder."


def test_a_ready_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    line = refusal(
        "--data", str(tmp_path / "d"), "--port", "0", "--ready-file", str(tmp_path / "no" / "file")
    )

    assert line == f"The ready file {tmp_path / 'no' / 'file'} cannot be written."
