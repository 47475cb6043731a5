"""Collected scripts: one name for each module, wherever it is asked for, and no comments on the way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.management.commands.collectstatic import Command


@pytest.fixture
def collected(settings: Any, tmp_path: Path) -> Path:
    """The folder that a server would serve."""
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": "config.static_files.NamedModules"}}
    command = Command()
    command.set_options(
        interactive=False, verbosity=0, link=False, clear=False, dry_run=False,
        ignore_patterns=[], use_default_ignore_patterns=True, post_process=True,
    )  # fmt: skip
    command.collect()
    return tmp_path


def test_a_module_is_imported_under_the_name_that_pages_load_it_by(collected: Path) -> None:
    named = re.compile(r"""(?:from|import)[ (]*["']\./([^"']+)["']""")
    scripts = [path for path in collected.glob("js/*.js") if re.search(r"\.[0-9a-f]{12}\.js$", path.name)]
    imports = {name for path in scripts for name in named.findall(path.read_text())}
    assert len(imports) > 5
    for name in imports:
        assert re.search(r"\.[0-9a-f]{12}\.js$", name), name
        assert (collected / "js" / name).is_file(), name


def test_browsers_are_sent_no_comments_and_nothing_that_applications_bring_along(collected: Path) -> None:
    assert {path.name for path in collected.iterdir() if path.is_dir()} == {"css", "img", "js", "vendor"}
    for path in collected.glob("js/*.js"):
        text = path.read_text()
        assert text
        assert not re.search(r"^\s*//", text, re.MULTILINE), path.name
