"""What a demo agent delivers beside its changes: screenshots and commands it really ran, and delivery.json."""

from __future__ import annotations

import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from devtools import Browser
from grant import Criterion, Grant
from photograph import serving, take
from wording import shortened

HERE = Path(__file__).resolve().parent
LONGEST_NEEDS = 140

# What a proof may ask for: the name of the evidence, and the script of this folder that makes it.
PROOFS = {
    "focus-order": (re.compile(r"keyboard walk of (\S+)"), ["keyboard.py"]),
    "fetch": (re.compile(r"fetch of (\S+(?: from \S+)?)"), ["fetch.py"]),
    "contrast": (re.compile(r"contrast in (\w+ mode on --[\w-]+ of (?:--[\w-]+(?:, )?)+)"), ["colours.py"]),
}


class Evidence:
    """The folder for what is to be delivered, and the items in it."""

    def __init__(self, out: Path, workspace: Path, chromium: str | None) -> None:
        self.out = out
        self.workspace = workspace
        self.chromium = chromium
        self.items: list[dict[str, Any]] = []

    def screenshots(self, grant: Grant, page_at: Callable[[str, int, list[int]], str]) -> None:
        """Photographs every page and width that the task asks for. `page_at` may choose another address."""
        wanted = grant.screenshots()
        if not wanted or not self.chromium:
            return
        with serving(self.workspace) as address, Browser(self.chromium) as browser:
            for each in wanted:
                for width in each["widths"]:
                    page, name = page_at(each["page"], width, each["widths"]), f"{each['name']}-{width}"
                    take(browser, address + page, width, self.out / "shots" / f"{name}.png")
                    numbers = each.get("criteria") or proved_by(grant, each["name"])
                    meta = {"page": page, "width": width}
                    self.add(f"shots/{name}.png", name, "screenshot", numbers, meta)

    def proofs(self, grant: Grant) -> None:
        """Runs the commands that the criteria's proofs speak of, each once, and keeps their output."""
        for name, (pattern, script) in PROOFS.items():
            wanted: dict[str, list[int]] = {}
            for criterion in grant.criteria:
                if match := pattern.search(criterion.proof):
                    wanted.setdefault(match[1].rstrip(".,; "), []).append(criterion.number)
            for count, (argument, numbers) in enumerate(wanted.items(), start=1):
                if name == "focus-order" and not self.chromium:
                    continue
                arguments = (
                    colour_arguments(self.workspace, argument)
                    if name == "contrast"
                    else argument.split(" from ")
                )
                self.command(name if count == 1 else f"{name}-{count}", [*script, *arguments], numbers)

    def command(self, name: str, command: list[str], numbers: list[int]) -> None:
        """Runs one script of this folder in the workspace; output, exit code and duration are what they were."""
        began, started = time.monotonic(), datetime.datetime.now(datetime.UTC)
        ran = subprocess.run(
            [sys.executable, "-B", str(HERE / command[0]), *command[1:]],
            cwd=self.workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=60,
        )
        path = self.out / "cmd" / f"{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(ran.stdout)
        meta = {
            "command": shlex.join(["python3", *command]),
            "cwd": ".",
            "exitCode": ran.returncode,
            "durationMs": round(1000 * (time.monotonic() - began)),
            "startedAt": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        self.add(f"cmd/{name}.log", name, "command", numbers, meta)

    def add(self, path: str, name: str, kind: str, criteria: list[int], meta: dict[str, Any]) -> None:
        self.items.append({"path": path, "name": name, "kind": kind, "criteria": criteria, "meta": meta})

    def deliver(self, summary: str, needs: str, claims: dict[int, str], result: dict[str, Any]) -> None:
        """Writes delivery.json, the last thing of a run that worked."""
        body = {
            "summary": summary,
            "needs": shortened(needs, LONGEST_NEEDS),
            "claims": {str(number): line for number, line in sorted(claims.items())},
            "result": result,
            "evidence": self.items,
        }
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "delivery.json").write_text(
            json.dumps(body, ensure_ascii=False, indent=2), encoding="utf-8"
        )


def proved_by(grant: Grant, name: str) -> list[int]:
    """The criteria whose proof names a piece of evidence."""

    def named(criterion: Criterion) -> bool:
        return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", criterion.proof) is not None

    return [criterion.number for criterion in grant.criteria if named(criterion)]


def colour_arguments(workspace: Path, wish: str) -> list[str]:
    """The arguments of colours.py for "dark mode on --surface of --muted, --accent"."""
    mode, *names = re.findall(r"^\w+|--[\w-]+", wish)
    sheets = (
        path
        for path in sorted(workspace.rglob("*.css"))
        if f"{names[0]}:" in path.read_text(encoding="utf-8")
    )
    return [str(next(sheets).relative_to(workspace)), mode, *names]


def tests_pass(workspace: Path) -> tuple[bool, str]:
    """Runs the repository's own tests before anything is handed in; True where there are none to run."""
    if not (workspace / "tests" / "run.py").exists():
        return True, ""
    command = [sys.executable, "-B", "tests/run.py"]
    ran = subprocess.run(command, cwd=workspace, capture_output=True, text=True, check=False, timeout=120)
    return ran.returncode == 0, ran.stdout + ran.stderr


def chromium_of_environment() -> str | None:
    """The browser of this run, or None."""
    return os.environ.get("FENCEPOST_CHROMIUM") or None
