"""Each task template, done by the careful agent in a worktree of the demo repository."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from claims.inputs import parse_input
from tests.demo.conftest import DEMO, Demo, Ran, git, template

NAMES = sorted(path.stem for path in (DEMO / "tasks").glob("*.yaml"))
CHANGES = [name for name in NAMES if not name.startswith("sandbox-")]
WITH_BROWSER = ["dark-contrast", "empty-state", "not-found"]
INPUT_KEYS = ("task", "scope", "access", "acceptance", "evidence", "effects")


def run_tests(workspace: Path) -> subprocess.CompletedProcess[str]:
    """The repository's own tests, as the worker runs them."""
    return subprocess.run(
        [sys.executable, "-B", "tests/run.py"], cwd=workspace, capture_output=True, text=True
    )


def check_change(demo: Demo, ran: Ran, name: str) -> None:
    """The diff applies to a fresh worktree, its tests pass there, and it stays in its scope."""
    fresh = demo.worktree()
    patch = demo.folder / "change.diff"
    patch.write_text(ran.diff(), encoding="utf-8")
    git(fresh, "apply", str(patch))
    tested = run_tests(fresh)
    assert tested.returncode == 0, tested.stdout
    suite = ElementTree.parse(fresh / "build" / "junit.xml").getroot()
    assert int(suite.attrib["tests"]) >= len(suite.findall("testcase")) > 0
    excluded = [each.removesuffix("**") for each in template(name)["scope"]["excluded"]]
    assert not [path for path in ran.changed() if path.startswith(tuple(excluded))]


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_an_input_that_the_contract_takes(name: str) -> None:
    body = template(name)
    parsed = parse_input({key: body[key] for key in INPUT_KEYS if key in body})
    assert parsed.acceptance
    assert body["pool"] in ("billing", "sandbox")


def test_ten_tasks_change_the_repository_and_seven_of_them_need_no_browser() -> None:
    without = [name for name in CHANGES if "browser" not in template(name)["access"]]
    assert len(CHANGES) == 10
    assert len(without) == 7
    assert sorted(set(CHANGES) - set(without)) == WITH_BROWSER


@pytest.mark.parametrize("name", sorted(set(CHANGES) - set(WITH_BROWSER)))
def test_the_careful_agent_does_every_criterion(demo: Demo, name: str) -> None:
    ran = demo.run("careful", template(name))
    assert ran.exit_code == 0, ran.output
    check_change(demo, ran, name)
    assert set(ran.body["claims"]) == {
        str(number) for number, _ in enumerate(template(name)["acceptance"], 1)
    }
    assert 0 < len(ran.body["needs"]) <= 140
    required = {
        each["name"] for each in template(name)["evidence"] if each["kind"] == "command" and "run" not in each
    }
    assert required <= {each["name"] for each in ran.body["evidence"]}


@pytest.mark.browser
@pytest.mark.parametrize("name", WITH_BROWSER)
def test_each_screenshot_is_as_wide_as_it_says(demo: Demo, name: str) -> None:
    ran = demo.run("careful", template(name), chromium=True)
    assert ran.exit_code == 0, ran.output
    check_change(demo, ran, name)
    wanted = [each for each in template(name)["evidence"] if each["kind"] == "screenshot"]
    assert wanted
    for requirement in wanted:
        for width in requirement["widths"]:
            item = ran.item(f"{requirement['name']}-{width}")
            png = (ran.out / item["path"]).read_bytes()
            assert int.from_bytes(png[16:20], "big") == width == item["meta"]["width"]
            assert item["meta"]["page"] == requirement["page"]
            assert item["criteria"]
    if name == "empty-state":
        check_keyboard_walk(ran)


def check_keyboard_walk(ran: Ran) -> None:
    """The Tab key, really pressed, goes from the navigation straight to the link of the empty state."""
    stops = [line.split(None, 1)[1] for line in ran.text("focus-order").splitlines()[1:]]
    assert stops[-2:] == [
        "a “Settings” to /settings?customer=new",
        "a “Compare plans” to /plans?customer=new",
    ]
    assert ran.item("focus-order")["meta"]["exitCode"] == 0


def test_a_command_s_output_is_what_the_command_says(demo: Demo) -> None:
    ran = demo.run("careful", template("csv-header"))
    item = ran.item("fetch")
    script = shlex.split(item["meta"]["command"])[1:]
    again = [sys.executable, "-B", str(DEMO / "workers" / script[0]), *script[1:]]
    assert subprocess.run(again, cwd=ran.workspace, capture_output=True, text=True).stdout == ran.text(
        "fetch"
    )


def test_the_sandbox_tasks_need_no_repository(demo: Demo) -> None:
    folder = demo.folder / "empty"
    folder.mkdir()
    readings = demo.run("careful", template("sandbox-readings"), workspace=folder).body["result"]
    harbours = demo.run("careful", template("sandbox-harbours"), workspace=folder).body["result"]
    digest = demo.run("careful", template("sandbox-digest"), workspace=folder).body["result"]
    assert readings == {"sum": 10.6, "number": 6, "highest": 3.05}
    assert harbours["harbours"][:3] == ["Aarhus", "bergen", "esbjerg"]
    assert digest["sha256"] == hashlib.sha256(b"High water waits for no one.").hexdigest()
    assert list(folder.iterdir()) == []
