"""Who writes tasks in these tests, on which repository."""

from __future__ import annotations

import subprocess
from html import unescape
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from agents.models import AgentProfile
from reviews.writing import scope
from tests.unit.reviews.world import World

FILES = ("app/billing.py", "app/dates.py", "app/vendor/lib.py", "static/app.css", "tests/test_dates.py")
GOOD = """\
title: Dates
# kept as it is
task: Write the month as a word.
pool: billing
acceptance:
  - text: 5 March 2026
    proof: the tests
evidence:
  - kind: command
    name: tests
    run: python3 tests/run.py
    criteria: [1]
"""


@pytest.fixture
def mira(world: World, client: Client) -> Client:
    """The browser of Mira, who prepares tasks of billing."""
    client.force_login(world.mira)
    return client


@pytest.fixture
def repository(world: World, tmp_path: Path, settings: Any) -> World:
    """Workers of billing work on a repository with a few files."""
    settings.FENCEPOST_REPOSITORIES = tmp_path
    plant(tmp_path / "shop", FILES)
    employ(world, "shop")
    scope._trees.clear()
    return world


def plant(folder: Path, files: tuple[str, ...]) -> None:
    """A repository with one commit of some files on main."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Files"]):
        subprocess.run(["git", *identity, *words], cwd=folder, check=True)


def employ(world: World, repository: str) -> None:
    """agent-7 is run by workers of this server in billing."""
    AgentProfile.objects.create(
        agent=world.agents["agent-7"], pool=world.billing, command=["true"], repository=repository
    )


def form_of(source: str, draft: UUID | None = None, **fields: str) -> dict[str, str]:
    """What a page posts in which the YAML was typed."""
    return {
        "draft": str(draft or uuid4()),
        "version": "0",
        "seat": "",
        "base": source,
        "source": source,
        **fields,
    }


def text_of(answer: Any) -> str:
    """The page as its reader has it."""
    return unescape(answer.content.decode()).replace("\xa0", " ")
