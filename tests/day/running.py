"""The demo as `scripts/up --demo` runs it, seen from outside: its processes, its pages, its API."""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.platform.test_up import Up

ROOT = Path(__file__).resolve().parents[2]
ANSWER_SECONDS = 60.0
_SECRET = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_COMPLAINT = re.compile(r'Traceback|"level": "(error|critical)"| (ERROR|FATAL|PANIC): ')

Seen = TypeVar("Seen")


class Day(Up):
    """A started demo; one that does not become ready is ended before the error is told."""

    def __init__(self, data: Path) -> None:
        try:
            super().__init__(data, "--demo")
        except BaseException:
            self.end()
            raise

    def api(self, name: str) -> httpx.Client:
        """The API with the token of an agent, or of the preparer."""
        headers = {"Authorization": f"Bearer {self.ready['tokens'][name]}"}
        return httpx.Client(base_url=self.ready["apiUrl"], headers=headers, timeout=ANSWER_SECONDS)

    def pages(self, role: str) -> httpx.Client:
        """The pages, signed in as the person of this role."""
        person = self.ready["users"][role]
        client = httpx.Client(base_url=self.ready["url"], timeout=ANSWER_SECONDS, follow_redirects=True)
        secret = _SECRET.search(client.get("/signin").text)
        assert secret is not None
        words = {"username": person["name"], "password": person["password"], "next": ""}
        answer = client.post("/signin", data={**words, "csrfmiddlewaretoken": secret[1]})
        assert answer.is_success, answer.text
        assert "fencepost-session" in client.cookies, "the demo's sign-in was not taken"
        return client

    def environment(self) -> dict[str, str]:
        """The environment of the started programs, read from the running `web`."""
        pairs = Path("/proc", str(self.pid("web")), "environ").read_bytes().split(b"\0")
        return dict(pair.decode().split("=", 1) for pair in pairs if b"=" in pair)

    def audit(self, acknowledged: dict[str, Any]) -> dict[str, Any]:
        """What the database says of everything that was acknowledged; see ``audit``."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.day.audit"],
            cwd=ROOT,
            env=self.environment(),
            input=json.dumps(acknowledged),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def complaints(self) -> list[str]:
        """Lines of the logs that tell of an error."""
        return [
            f"{log.name}: {line[:300]}"
            for log in sorted((self.data / "log").glob("*.log"))
            for line in log.read_text(errors="replace").splitlines()
            if _COMPLAINT.search(line)
        ]


def tasks_of(api: httpx.Client, **query: Any) -> list[dict[str, Any]]:
    """The newest tasks of the caller's pools, at most 200."""
    answer = api.get("/tasks", params={"limit": 200, **query})
    assert answer.is_success, answer.text
    found: list[dict[str, Any]] = answer.json()["tasks"]
    return found


def one(api: httpx.Client, path: str) -> dict[str, Any]:
    """One object of the API."""
    answer = api.get(path)
    assert answer.is_success, answer.text
    body: dict[str, Any] = answer.json()
    return body


def wait_for(look: Callable[[], Seen | None], seconds: float, what: str) -> Seen:
    """What ``look`` finds, as soon as it finds something; other processes tell us in no other way."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        select.select([], [], [], 0.25)
