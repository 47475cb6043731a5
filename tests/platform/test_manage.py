"""`scripts/manage`: the environment of a running `scripts/up`, or one sentence."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from config.up import manage
from config.up.supervisor import Failed

ROOT = Path(__file__).resolve().parents[2]


def keep(data: Path, environment: dict[str, str]) -> None:
    (data / "run").mkdir()
    manage.note(data).write_text(manage.written(environment))


def test_what_is_kept_are_fencepost_s_variables_alone() -> None:
    environment = {"FENCEPOST_URL": "u", "FENCEPOST_CALLED_FROM": "c", "HOME": "h", "PYTHONPATH": "p"}

    assert json.loads(manage.written(environment)) == {"FENCEPOST_URL": "u", "PYTHONPATH": "p"}


def test_a_folder_whose_servers_do_not_run_is_one_sentence_and_status_one(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(ROOT / "scripts" / "manage"), "--data", tmp_path.name, "found", "list"],
        capture_output=True,
        text=True,
        cwd=tmp_path.parent,
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"Nothing runs on the data folder {tmp_path}; start it with scripts/up.\n"


def test_a_note_that_a_killed_start_left_behind_is_not_believed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        keep(tmp_path, {"FENCEPOST_DATABASE_URL": f"postgresql://f:p@127.0.0.1:{port}/f"})
        assert manage.read(tmp_path)["FENCEPOST_DATABASE_URL"].endswith(f":{port}/f")

    with pytest.raises(Failed, match="Nothing runs on the data folder"):
        manage.read(tmp_path)


def test_a_command_gets_the_environment_and_stays_in_the_callers_folder(tmp_path: Path) -> None:
    keep(tmp_path, dict(os.environ))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FENCEPOST_")}
    say = "import os; print(os.getcwd()); print(os.environ['FENCEPOST_DATABASE_URL'])"
    done = subprocess.run(
        [str(ROOT / "scripts" / "manage"), "--data", str(tmp_path), "shell", "--no-imports", "-c", say],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean,
    )

    assert done.stdout.splitlines() == [str(tmp_path), os.environ["FENCEPOST_DATABASE_URL"]], done.stderr
