"""What the documentation points at is there: files, commands, settings, refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from claims.outcomes import Why
from config.readers import VARIABLES

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"manage\.py ([a-z_]+)")
SCRIPT = re.compile(r"\bscripts/([a-z-]+)")
VARIABLE = re.compile(r"^(?:export )?(FENCEPOST_[A-Z_]+)=", re.MULTILINE)
REFUSAL = re.compile(r"^\| ([A-Z]+_[A-Z_]+|FENCED) \|", re.MULTILINE)


def written(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_link_to_a_file_leads_to_one(name: str) -> None:
    # One that begins with a slash is an address of the server.
    links = [
        link.partition("#")[0] for link in LINK.findall(written(name)) if "://" not in link and link[0] != "/"
    ]

    lost = [link for link in links if link and not (ROOT / name).parent.joinpath(link).exists()]

    assert lost == []


@pytest.mark.parametrize("name", NAMES)
def test_every_command_that_is_named_can_be_run(name: str) -> None:
    text = written(name)

    assert set(COMMAND.findall(text)) <= set(get_commands())
    assert [script for script in SCRIPT.findall(text) if not (ROOT / "scripts" / script).exists()] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_that_is_set_is_one(name: str) -> None:
    assert set(VARIABLE.findall(written(name))) <= {variable.name for variable in VARIABLES}


def test_every_refusal_explained_to_reviewers_is_one() -> None:
    explained = REFUSAL.findall(written("docs/how-to/decide-a-delivery.md"))

    assert explained
    assert set(explained) <= {why.value for why in Why}


def test_every_page_is_in_the_index() -> None:
    index = written("docs/README.md") + written("docs/adr/README.md")
    pages = [page.name for page in (ROOT / "docs").rglob("*.md") if page.name != "README.md"]

    assert [name for name in pages if f"{name})" not in index] == []
