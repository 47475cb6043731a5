"""The supervisor on small programs of its own, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DRIVER = """
import json, os, signal, sys
from pathlib import Path
from config.up.supervisor import Failed, Program, Stopped, Supervisor

folder, case = Path(sys.argv[1]), sys.argv[2]
said = []
supervisor = Supervisor(folder, os.environ, said.append)
python = sys.executable

def program(name, code, **more):
    return Program(name, [python, "-c", code], **more)

def note(name):
    return folder / name
"""

STUBBORN = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
Path(sys.argv[1]).touch()
signal.pause()
"""


def drive(folder: Path, case: str) -> dict[str, object]:
    """Run one case in a supervisor of its own; what it printed last is its report."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER + case, str(folder), "case"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return report


def is_alive(pid: object) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_a_crash_is_said_in_one_line_and_the_program_starts_again(tmp_path: Path) -> None:
    report = drive(
        tmp_path,
        """
up = program("thing", f"open({str(note('up'))!r}, 'w'); import signal; signal.pause()", is_ready=note("up").exists)
supervisor.start(up)
first = up.process.pid
note("up").unlink()
os.kill(first, signal.SIGKILL)
while not note("up").exists():
    supervisor.turn(0.05)
second = up.process.pid
supervisor.stop()
print(json.dumps({"first": first, "second": second, "said": said}))
""",
    )

    assert report["said"] == ["thing was ended by SIGKILL; starting it again in 0.2 s."]
    assert report["first"] != report["second"]
    assert not is_alive(report["second"])


def test_a_program_that_will_not_end_and_a_child_that_left_its_group_are_ended(tmp_path: Path) -> None:
    report = drive(
        tmp_path,
        f"""
stubborn = {STUBBORN!r}
leaver = (
    "import os, subprocess, sys;"
    "child = subprocess.Popen([sys.executable, '-c', sys.argv[2], sys.argv[1]], start_new_session=True);"
    "open(sys.argv[3], 'w').write(str(child.pid)); child.wait()"
)
words = [python, "-c", leaver, str(note("up")), stubborn, str(note("pid"))]
up = Program("thing", words, is_ready=note("up").exists, stop_seconds=0.2)
supervisor.start(up)
supervisor.stop()
print(json.dumps({{"pid": int(note("pid").read_text())}}))
""",
    )

    assert not is_alive(report["pid"])


def test_a_program_that_never_starts_is_one_sentence(tmp_path: Path) -> None:
    report = drive(
        tmp_path,
        """
try:
    pausing = "import signal; signal.pause()"
    supervisor.start(program("thing", pausing, is_ready=lambda: False, ready_seconds=0.5))
except Failed as failure:
    sentence = str(failure)
supervisor.stop()
print(json.dumps({"sentence": sentence}))
""",
    )

    assert report["sentence"] == f"thing does not start; its log is {tmp_path}/log/thing.log."


def test_back_off_grows_with_each_crash(tmp_path: Path) -> None:
    report = drive(
        tmp_path,
        """
supervisor.start(program("thing", "raise SystemExit(1)"))
while len(said) < 3:
    supervisor.turn(0.05)
supervisor.stop()
print(json.dumps({"said": said}))
""",
    )

    assert report["said"] == [
        f"thing ended with status 1; starting it again in {wait} s." for wait in ("0.2", "1", "2")
    ]


def test_a_step_that_fails_is_one_sentence_and_keeps_its_log(tmp_path: Path) -> None:
    report = drive(
        tmp_path,
        """
try:
    supervisor.step("migrate", [python, "-c", "raise SystemExit('no such table')"])
except Failed as failure:
    print(json.dumps({"sentence": str(failure)}))
""",
    )

    assert report["sentence"] == f"migrate failed; its log is {tmp_path}/log/migrate.log."
    assert "no such table" in (tmp_path / "log" / "migrate.log").read_text()


def test_too_old_a_python_is_one_sentence(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)

    done = subprocess.run(
        ["/bin/bash", str(ROOT / "scripts" / "python-for-fencepost")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert done.stderr == "Fencepost needs Python 3.11, 3.12 or 3.13, and found Python 3.9.2 on PATH.\n"
