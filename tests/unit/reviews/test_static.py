"""What the browser loads: only our own and recorded files, nothing inline, and little of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))
STYLES = sorted((ROOT / "static" / "css").glob("*.css"))
SCRIPT_BYTES = 70 * 1024


def test_vendored_files_are_as_recorded_and_no_others_are_there() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/vendor", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_anything_inline_or_from_elsewhere(path: Path) -> None:
    text = re.sub(r"\{#.*?#\}", "", path.read_text())
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|hx-on|hx-vals=.js:", text)
    assert not re.search(r"(?:src|href|action)=[\"'](?:https?:)?//", text)
    assert not re.search(r"\|safe\b|mark_safe|autoescape off", text)
    assert not re.search(r"hx-trigger=[\"'][^\"']*\[", text)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_hx_get_has_an_address_without_script_and_every_hx_post_is_a_form(path: Path) -> None:
    for tag in re.findall(r"<[^>]*\bhx-get=[^>]*>", path.read_text()):
        assert "href=" in tag or tag.startswith("<form"), tag
    for tag in re.findall(r"<[^>]*\bhx-post=[^>]*>", path.read_text()):
        assert tag.startswith("<form") or "formaction=" in tag or "form=" in tag, tag


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_each_script_is_one_idea_of_at_most_eighty_lines_and_never_evaluates_text(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 80
    assert text.startswith("// ")
    assert not re.search(r"\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write", text)


def loaded_by(*templates: str) -> set[Path]:
    """The scripts that some templates load, with those that these import."""
    texts = [(ROOT / "templates" / name).read_text() for name in templates]
    found = {ROOT / "static" / name for text in texts for name in re.findall(r'static "([^"]+\.js)"', text)}
    waiting = list(found)
    while waiting:
        script = waiting.pop()
        for name in re.findall(r'from "(\./[^"]+|\.\./[^"]+)"', script.read_text()):
            imported = (script.parent / name).resolve()
            waiting += [imported] if imported not in found else []
            found.add(imported)
    return found


@pytest.mark.parametrize(
    "page", ["board", "inbox", "task", "operations", "effect", "task_new", "task_import"]
)
def test_all_scripts_of_a_page_together_are_small(page: str) -> None:
    files = loaded_by("base.html", "_scripts.html", f"{page}.html")
    assert sum(path.stat().st_size for path in files) <= SCRIPT_BYTES


@pytest.mark.parametrize(
    "path", [path for path in STYLES if path.name != "tokens.css"], ids=lambda path: path.name
)
def test_only_the_tokens_name_a_colour(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(|\boklch\(", text)


def test_answers_that_refuse_are_aimed_at_the_conflict_panel() -> None:
    body = (ROOT / "templates" / "base.html").read_text()
    for status in (409, 412, 422):
        assert f'hx-status:{status}:inherited="target:#conflict swap:innerHTML"' in body
