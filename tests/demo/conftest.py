"""The demo repository as a real git repository, and runs of the demo agents in worktrees of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

DEMO = Path(__file__).resolve().parent.parent.parent / "agents" / "demo"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def template(name: str) -> dict[str, Any]:
    """A task template as plain values."""
    body: dict[str, Any] = YAML(typ="safe").load(
        (DEMO / "tasks" / f"{name}.yaml").read_text(encoding="utf-8")
    )
    return body


def git(folder: Path, *words: str) -> str:
    """Runs git in a folder; its output."""
    who = ["-c", "user.name=Demo", "-c", "user.email=demo@example.org"]
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def browser() -> str:
    """The Chromium of this machine; these tests need one."""
    found = os.environ.get("FENCEPOST_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    assert found, "the tests of the demo agents need a Chromium (scripts/test installs one)"
    return found


@dataclass
class Ran:
    """What a run left behind."""

    exit_code: int
    output: str
    out: Path
    workspace: Path
    body: dict[str, Any] = field(default_factory=dict)

    def diff(self) -> str:
        """The change against the base, new files included."""
        git(self.workspace, "add", "--intent-to-add", "--all")
        return git(self.workspace, "diff", "HEAD")

    def changed(self) -> list[str]:
        """The paths that the change touches."""
        git(self.workspace, "add", "--intent-to-add", "--all")
        return git(self.workspace, "diff", "HEAD", "--name-only", "--no-renames").split()

    def item(self, name: str) -> dict[str, Any]:
        """One item of the evidence by its name."""
        found: dict[str, Any] = next(each for each in self.body["evidence"] if each["name"] == name)
        return found

    def text(self, name: str) -> str:
        """The bytes of an item, as text."""
        return (self.out / self.item(name)["path"]).read_text(encoding="utf-8")


class Demo:
    """The repository, and agents that run in worktrees of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = folder / "repository"
        skip = shutil.ignore_patterns("build", "__pycache__")
        shutil.copytree(DEMO / "repository", self.repository, ignore=skip)
        git(self.repository, "init", "-q", "-b", "main")
        self.commit("The billing pages")
        self.runs = 0

    def commit(self, message: str) -> None:
        """Commits whatever changed in the repository."""
        git(self.repository, "add", "--all")
        git(self.repository, "commit", "-q", "-m", message)

    def worktree(self) -> Path:
        """A new worktree at the head of main."""
        self.runs += 1
        target = self.folder / f"worktree-{self.runs}"
        git(self.repository, "worktree", "add", "-q", "--detach", str(target), "main")
        return target

    def run(
        self,
        agent: str,
        asked: dict[str, Any],
        *,
        workspace: Path | None = None,
        review: dict[str, Any] | None = None,
        chromium: bool = False,
    ) -> Ran:
        """One run of an agent by the command contract, with a grant as the API would answer it."""
        workspace = workspace or self.worktree()
        self.runs += 1
        out = self.folder / f"out-{self.runs}"
        out.mkdir()
        keys = ("task", "scope", "access", "acceptance", "evidence", "effects")
        grant = {
            "fence": {},
            "title": asked["title"],
            "input": {key: asked[key] for key in keys if key in asked},
            "round": review["round"] + 1 if review else 1,
            "lastReview": review,
        }
        (self.folder / f"grant-{self.runs}.json").write_text(json.dumps(grant), encoding="utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "FENCEPOST_GRANT": str(self.folder / f"grant-{self.runs}.json"),
            "FENCEPOST_OUT": str(out),
            **({"FENCEPOST_CHROMIUM": browser()} if chromium else {}),
        }
        command = [sys.executable, "-B", str(DEMO / "workers" / f"{agent}.py")]
        ran = subprocess.run(
            command, cwd=workspace, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        delivery = out / "delivery.json"
        body = json.loads(delivery.read_text(encoding="utf-8")) if delivery.exists() else {}
        return Ran(ran.returncode, ran.stdout + ran.stderr, out, workspace, body)


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    """A fresh demo repository in a folder of its own."""
    return Demo(tmp_path)
