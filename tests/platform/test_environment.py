"""When the pinned requirements need no installing, and which environment is left alone."""

from pathlib import Path

import pytest

from config.up import environment
from config.up.supervisor import Failed

ROOT = Path(__file__).resolve().parents[2]


def stamp(venv: Path, file: Path) -> None:
    (venv / f".installed-{file.stem}").write_text(environment._digest(file))


def test_the_requirements_of_the_tests_hold_those_of_the_start(tmp_path: Path) -> None:
    base, tests = (ROOT / "requirements" / f"{name}.txt" for name in ("base", "test"))
    assert not environment._is_part_of_another(tmp_path, base)

    stamp(tmp_path, tests)

    assert environment._is_part_of_another(tmp_path, base)


def test_requirements_that_changed_since_are_not_taken_for_installed(tmp_path: Path) -> None:
    base, more = tmp_path / "base.txt", tmp_path / "more.txt"
    base.write_text("a==1 \\\n    --hash=sha256:00\n")
    more.write_text("a==1 \\\n    --hash=sha256:00\nb==2 \\\n    --hash=sha256:11\n")
    stamp(tmp_path, more)
    assert environment._is_part_of_another(tmp_path, base)

    base.write_text("a==2 \\\n    --hash=sha256:22\n")

    assert not environment._is_part_of_another(tmp_path, base)


def test_an_environment_behind_a_link_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "kept").touch()
    link = tmp_path / ".venv"
    link.symlink_to(tmp_path / "theirs")
    with pytest.raises(Failed, match="Remove the link"):
        environment._make(link)
    assert (tmp_path / "theirs" / "kept").exists()
