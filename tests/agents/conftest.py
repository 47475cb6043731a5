"""A world whose agents are run by workers: a real git repository, real processes, real commits."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import LazySettings

from agents import dispatching, running
from agents.models import AgentProfile
from claims.models import Agent, Delivery, StagedResult, Task
from tests.support.world import World, a_world

SCRIPT = """
import json, os, pathlib, sys
grant = json.load(open(os.environ["FENCEPOST_GRANT"]))
out = pathlib.Path(os.environ["FENCEPOST_OUT"])
def deliver(**body):
    (out / "delivery.json").write_text(json.dumps({"summary": "done", "needs": "look", "claims": {"1": "yes"}, **body}))
"""

EDIT = 'p = pathlib.Path("page.html"); p.write_text(p.read_text() + "<p>No invoices yet.</p>\\n")\n'


def git(folder: Path, *words: str) -> str:
    """Run git in a folder; its output."""
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@dataclass
class Workers:
    """One profile whose command is a Python text, and the repository it works in."""

    world: World
    repository: Path
    folder: Path
    profile: AgentProfile

    @property
    def agent(self) -> Agent:
        return self.world.agents[0]

    def does(self, text: str) -> None:
        """Let the agent's command be this Python text."""
        script = self.folder / "agent.py"
        script.write_text(SCRIPT + text)

    def task(self, **changes: Any) -> UUID:
        """A task for the repository; changes are of its input."""
        body = {
            "task": "Say that there are no invoices",
            "scope": {"files": ["*.html"], "excluded": ["secret/**"]},
            "acceptance": [{"text": "The page says so", "proof": "diff"}],
            "evidence": [{"kind": "diff"}],
            **changes,
        }
        return self.world.task(input=body, title="Empty state", ttl_seconds=30)

    def sent(self) -> list[UUID]:
        """What a dispatch would send to workers now."""
        AgentProfile.objects.update(looked_at=None)
        return dispatching.dispatch()

    def run(self) -> str:
        """Dispatch, and run the one attempt there is; how it ended."""
        (attempt_id,) = self.sent()
        return running.run(attempt_id)

    def delivery(self, task_id: UUID) -> Delivery:
        """The newest delivery of a task."""
        return Delivery.objects.filter(task_id=task_id).order_by("-round")[0]

    def item(self, task_id: UUID, name: str) -> dict[str, Any]:
        """One item of the newest delivery's manifest."""
        delivery = self.delivery(task_id)
        staged = StagedResult.objects.get(
            attempt_id=delivery.attempt_id, result_digest=delivery.result_digest
        )
        found: dict[str, Any] = next(each for each in staged.evidence if each["name"] == name)
        return found

    def state(self, task_id: UUID) -> str:
        return str(Task.objects.get(id=task_id).state)


@pytest.fixture
def workers(transactional_db: None, settings: LazySettings, tmp_path: Path) -> Workers:
    """A pool with one agent that workers of this server run."""
    settings.FENCEPOST_VAR = tmp_path / "var"
    settings.FENCEPOST_REPOSITORIES = tmp_path / "repositories"
    settings.STORAGES = {
        **settings.STORAGES,
        "evidence": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "evidence")},
        },
    }
    repository = settings.FENCEPOST_REPOSITORIES / "pages"
    repository.mkdir(parents=True)
    settings.FENCEPOST_VAR.mkdir()
    (repository / "page.html").write_text("<h1>Billing</h1>\n")
    (repository / ".gitignore").write_text("build/\n")
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "-m", "A page")

    world = a_world()
    script = tmp_path / "agent.py"
    profile = AgentProfile.objects.create(
        agent=world.agents[0],
        pool=world.pool,
        command=[sys.executable, "-B", str(script)],
        repository="pages",
        time_limit_seconds=20,
        memory_mb=512,
        output_bytes=65_536,
        environment={"GREETING": "hello"},
    )
    return Workers(world, repository, tmp_path, profile)
