"""One command with limits, and the keeper that leaves nothing of it behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from agents.commands import KEEPER, Cut, Ended, Limits, run

SHELL = ["/bin/sh", "-c"]


def ran(tmp_path: Path, text: str, is_stopped: bool = False, **limits: float) -> Ended:
    bounds = {"time_seconds": 10, "memory_mb": 0, "output_bytes": 10_000, **limits}
    path = {"PATH": os.environ["PATH"]}
    return run([*SHELL, text], tmp_path, path, Limits(**bounds), tmp_path / "out", lambda: is_stopped)


def test_output_and_errors_are_kept_in_the_order_they_came(tmp_path: Path) -> None:
    ended = ran(tmp_path, "printf '\\033[31mone\\033[0m\\n'; echo two >&2; echo three; exit 7")
    assert (tmp_path / "out").read_bytes() == b"\x1b[31mone\x1b[0m\ntwo\nthree\n"
    assert (ended.exit_code, ended.cut, ended.output_is_cut) == (7, None, False)
    assert ended.duration_ms >= 0


def test_a_signal_is_told_as_a_shell_tells_it(tmp_path: Path) -> None:
    assert ran(tmp_path, "kill -SEGV $$").exit_code == 128 + signal.SIGSEGV


def test_output_beyond_the_limit_is_dropped_and_said_to_be_cut(tmp_path: Path) -> None:
    ended = ran(tmp_path, "head -c 50000 /dev/zero", output_bytes=1_000)
    assert ended.output_is_cut
    assert (tmp_path / "out").stat().st_size == 1_000


def test_a_command_past_its_time_is_ended(tmp_path: Path) -> None:
    assert ran(tmp_path, "sleep 60", time_seconds=0.3).cut is Cut.TIME


def test_a_command_that_closes_its_output_is_still_bounded(tmp_path: Path) -> None:
    assert ran(tmp_path, "exec >/dev/null 2>&1; sleep 60", time_seconds=0.3).cut is Cut.TIME


def test_a_command_whose_claim_is_lost_is_ended(tmp_path: Path) -> None:
    assert ran(tmp_path, "sleep 60", is_stopped=True).cut is Cut.STOPPED


def test_a_command_that_ignores_being_asked_is_ended_all_the_same(tmp_path: Path) -> None:
    assert ran(tmp_path, "trap '' TERM; while :; do sleep 1; done", time_seconds=0.3).cut is Cut.TIME


def test_what_a_command_leaves_in_the_background_is_ended_with_it(tmp_path: Path) -> None:
    ended = ran(tmp_path, "setsid sleep 60 & echo $!")
    assert ended.exit_code == 0
    pid = (tmp_path / "out").read_text().strip()
    assert not Path(f"/proc/{pid}").exists()


def test_a_program_that_is_not_there_is_an_exit_code_and_a_sentence(tmp_path: Path) -> None:
    limits = Limits(10, 0, 10_000)
    ended = run(["/no/such/program"], tmp_path, {}, limits, tmp_path / "out", lambda: False)
    assert ended.exit_code == 127
    assert "No such file" in (tmp_path / "out").read_text()


def test_the_command_dies_with_the_worker_that_started_it(tmp_path: Path) -> None:
    starts = (
        "import os, subprocess, sys\n"
        f"argv = [sys.executable, '-I', {str(KEEPER)!r}, str(os.getpid()), '1000000', '--', 'sh', '-c', 'echo $$; exec sleep 60']\n"
        "subprocess.Popen(argv, start_new_session=True).wait()\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", starts], stdout=subprocess.PIPE)
    assert worker.stdout is not None
    pidfd = os.pidfd_open(int(worker.stdout.readline()))
    worker.kill()
    worker.wait()
    with select.epoll() as poll:
        poll.register(pidfd, select.EPOLLIN)
        assert poll.poll(10), "the command outlived the worker"
    os.close(pidfd)
    worker.stdout.close()
